"""One task, killed by SIGKILL at each point of its store, and gone on with in a new process."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

STEPS: Final = 4
LIVES: Final = 6
"""After so many processes a task that is not at its end cannot be resumed."""
_FAILED: Final = 70
_PATIENCE_S: Final = 20


@dataclass(slots=True)
class Life:
    """One process: it counts its points and dies at one of them.

    Shape: `dies_at` 0 means that it does not; `mode` is "before" or "after".
    """

    folder: Path
    is_keyed: bool
    dies_at: int = 0
    mode: str = ""
    points: int = 0

    @contextmanager
    def point(self) -> Iterator[None]:
        """What is done inside is one point: a write of the store, or an effect."""
        self.points += 1
        number = self.points
        self._meet(number, "before")
        yield
        self._meet(number, "after")

    def _meet(self, number: int, mode: str) -> None:
        if (number, mode) == (self.dies_at, self.mode):
            os.kill(os.getpid(), signal.SIGKILL)

    def effect(self, step: int) -> None:
        """Step `step` has its effect outside; with a key, only if it had not."""
        with self.point():
            if self.is_keyed and step in self.happened():
                return
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"{step}\n")

    def happened(self) -> Counter[int]:
        """How often each step has had its effect."""
        if not self._log.exists():
            return Counter()
        return Counter(int(line) for line in self._log.read_text("utf-8").split())

    def ask(self) -> None:
        """A person was asked."""
        (self.folder / "asked").touch()

    def note(self) -> None:
        """How many points there were."""
        (self.folder / "points").write_text(json.dumps(self.points))

    @property
    def _log(self) -> Path:
        return self.folder / "effects"


class Store(Protocol):
    """A durable store under test."""

    name: str

    def live(self, life: Life) -> bool:
        """Begin the task, or go on with it; whether it is at its end with all results."""


@dataclass(slots=True)
class Tally:
    """What all runs of one store came to."""

    name: str
    tool: str
    points: int = 0
    runs: int = 0
    repeated: int = 0
    most_repeats: int = 0
    asked: int = 0
    unresumed: int = 0
    lost: int = 0
    labels: list[str] = field(default_factory=list)


def tally(store: Callable[[], Store], name: str, *, is_keyed: bool, folder: Path) -> Tally:
    """Every point before and after, each as a run of its own."""
    found = Tally(name, "keyed" if is_keyed else "unkeyed")
    first = folder / "undisturbed"
    _run(store, first, is_keyed, 0, "")
    found.points = json.loads((first / "points").read_text())
    for number in range(1, found.points + 1):
        for mode in ("before", "after"):
            where = folder / f"{number}-{mode}"
            has_ended = _run(store, where, is_keyed, number, mode)
            happened = Life(where, is_keyed).happened()
            found.runs += 1
            found.asked += (where / "asked").exists()
            found.unresumed += not has_ended
            found.lost += has_ended and set(happened) != set(range(STEPS))
            repeats = sum(count - 1 for count in happened.values())
            found.most_repeats = max(found.most_repeats, repeats)
            if repeats:
                found.repeated += 1
                found.labels.append(f"{number} {mode}")
    return found


def _run(store: Callable[[], Store], folder: Path, is_keyed: bool, dies_at: int, mode: str) -> bool:
    folder.mkdir(parents=True)
    life = Life(folder, is_keyed, dies_at, mode)
    for _ in range(LIVES):
        status = _process(store, life)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return True
        life = Life(folder, is_keyed)
    return False


def _process(store: Callable[[], Store], life: Life) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = _FAILED
        try:
            signal.alarm(_PATIENCE_S)
            quiet = os.open(life.folder / "output", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            code = 0 if store().live(life) else 1
            life.note()
        except BaseException:  # noqa: BLE001  (the process's boundary)
            # Nothing may run past it in a fork.
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return status
