"""What an isolate leaves of its last calls (see `trail`), as the parent reads it.

The file has four rings: when each of the last calls began, the number of its event, when those that
have ended had begun, and a text for each: binding, operation and what it was about.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localedge.isolate.secrets import Mask

FOLDER: Final = "trails"
CALLS: Final = 64
TEXT_BYTES: Final = 160
_ENDED: Final = 256
BEGINS: Final = slice(0, 8 * CALLS)
EVENTS: Final = slice(BEGINS.stop, BEGINS.stop + 8 * CALLS)
ENDS: Final = slice(EVENTS.stop, EVENTS.stop + 8 * _ENDED)
TEXTS: Final = ENDS.stop
FILE_BYTES: Final = TEXTS + CALLS * TEXT_BYTES


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a process that is gone.

    Shape: `event` is the number of the event that it belonged to, 0 for none; `what` its statement
    or its first argument, cut; without `has_ended` it was under way.
    """

    event: int
    binding: str
    operation: str
    what: str
    has_ended: bool


def path_of(state: Path, pid: int) -> Path:
    """The file of the isolate `pid`."""
    return state / FOLDER / str(pid)


def taken(state: Path, pid: int, mask: Mask) -> tuple[Step, ...]:
    """The last calls of the isolate `pid`, which is gone, in order; its file is gone too."""
    file = path_of(state, pid)
    try:
        data = file.read_bytes()
        file.unlink()
    except FileNotFoundError:
        return ()
    if len(data) != FILE_BYTES:
        return ()
    whole = memoryview(data)
    begins = whole[BEGINS].cast("d")
    events = whole[EVENTS].cast("Q")
    ended = frozenset(whole[ENDS].cast("d"))
    order = sorted((at, place) for place, at in enumerate(begins) if at)
    return tuple(
        _step(events[place], bytes(whole[_text(place)]), at in ended, mask) for at, place in order
    )


def _text(place: int) -> slice:
    return slice(TEXTS + place * TEXT_BYTES, TEXTS + (place + 1) * TEXT_BYTES)


def _step(event: int, text: bytes, has_ended: bool, mask: Mask) -> Step:
    # Behind the line's end is what stood there before.
    line, end, _ = text.partition(b"\n")
    told = line.decode("utf-8", "ignore")
    binding, operation, what = (*told.split("\0", 2), "", "")[:3]
    return Step(event, binding, operation, mask(what) if end else mask.beginning(what), has_ended)
