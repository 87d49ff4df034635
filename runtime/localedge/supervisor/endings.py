"""The isolates that are gone: how each ended, and where it was."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from localedge.isolate.steps import Step

CRASHED: Final = "crashed"
DRAINED: Final = "drained"
MOST_LOST: Final = 20
MOST_DONE: Final = 5
"""Of those whose work was done: a reload, and `fresh`, end many, which nobody asks about."""


@dataclass(slots=True)
class Ending:
    """An isolate that is gone.

    Shape: `cause` is "crashed" when nobody here ended it; `status` its exit status, negative for a
    signal, None before it is known; `rays` the requests that it had, by the numbers of their
    events; `was_watched` when its calls were recorded; `trail` has its last ones in any case.
    """

    pid: int
    generation: int
    at_ms: float
    cause: str
    rays: Mapping[int, str]
    served: int
    age_s: float
    was_watched: bool
    trail: tuple[Step, ...] = ()
    status: int | None = None


class Endings:
    """The last of them, in order; those that ended in order do not crowd out the others."""

    def __init__(self) -> None:
        self._lost: deque[Ending] = deque(maxlen=MOST_LOST)
        self._done: deque[Ending] = deque(maxlen=MOST_DONE)
        self._exits: deque[tuple[int, int]] = deque(maxlen=MOST_LOST)

    def __iter__(self) -> Iterator[Ending]:
        return iter(sorted((*self._lost, *self._done), key=lambda ending: ending.at_ms))

    def add(self, ending: Ending) -> None:
        """`ending` is the newest."""
        # Its channel and its exit are told on two ways: either may be the first.
        known = (status for pid, status in self._exits if pid == ending.pid)
        ending.status = next(known, ending.status)
        (self._done if ending.cause == DRAINED else self._lost).append(ending)

    def exited(self, pid: int, status: int) -> None:
        """The process `pid` has ended with that status."""
        self._exits.append((pid, status))
        for ending in (*self._lost, *self._done):
            if ending.pid == pid:
                ending.status = status
