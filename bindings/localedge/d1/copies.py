"""The kept copies of one database: their names, which one a moment means, which ones have to go.

Every copy is one file whose name says all that is known of it, so that nothing can disagree with
the folder: `<bookmark>.<taken_ms>.<cause>.sqlite`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

Cause: TypeAlias = Literal["minute", "asked", "before", "undo", "restored"]
"""Why it was kept: a minute was over; somebody asked for the bookmark; a command was about to
write; a restore was about to replace it; a restore brought it back."""

_LONGEST_MS: Final = 30 * 86_400_000
"""How far back the platform goes.

Source: developers.cloudflare.com/d1/reference/time-travel, read 2026-12-01.
"""
_CAUSES: Final = "|".join(get_args(Cause))
_BOOKMARK: Final = r"[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}"
_NAME: Final = re.compile(rf"({_BOOKMARK})\.([0-9]{{1,15}})\.({_CAUSES})\.sqlite")


@dataclass(frozen=True, slots=True)
class Copy:
    """A consistent copy of a database.

    Units: `taken_ms` in milliseconds since the epoch, on the workers' clock.
    """

    bookmark: str
    taken_ms: int
    cause: Cause
    path: Path

    @property
    def place(self) -> tuple[int, int]:
        """The counter that the bookmark stands for, and which copy of it this is."""
        high, low, copy, _ = self.bookmark.split("-")
        return (int(high, 16) << 32) + int(low, 16), int(copy, 16)

    @property
    def size_bytes(self) -> int:
        """How long its file is."""
        return self.path.stat().st_size


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be kept of one database: `size_bytes` in all, and so many `copies`."""

    size_bytes: int
    copies: int


def budget_of(size_mb: int, copies: int) -> Budget:
    """The budget in the units of the configuration; a MB is 1,000,000 bytes."""
    return Budget(size_mb * 1_000_000, copies)


def is_bookmark(text: str) -> bool:
    """Whether `text` has a bookmark's form."""
    return re.fullmatch(_BOOKMARK, text) is not None


def copy_name(bookmark: str, taken_ms: int, cause: Cause) -> str:
    """The name of a copy's file."""
    return f"{bookmark}.{taken_ms}.{cause}.sqlite"


def kept_in(folder: Path) -> list[Copy]:
    """The copies in `folder`, the oldest first; what is no copy is passed over."""
    found = [_copy(path) for path in folder.glob("*.sqlite")]
    return sorted((c for c in found if c is not None), key=lambda copy: copy.bookmark)


def _copy(path: Path) -> Copy | None:
    named = _NAME.fullmatch(path.name)
    if named is None:
        return None
    bookmark, taken_ms, cause = named.groups()
    known: Cause = next(one for one in get_args(Cause) if one == cause)
    return Copy(bookmark, int(taken_ms), known, path)


def at(copies: Sequence[Copy], moment_ms: int) -> Copy | None:
    """The newest of `copies` that was taken at `moment_ms` or before, None when there is none."""
    return next((copy for copy in reversed(copies) if copy.taken_ms <= moment_ms), None)


def surplus(copies: Sequence[Copy], budget: Budget, now_ms: int) -> list[Copy]:
    """Which of `copies`, the oldest first, have to go for the rest to fit into `budget`.

    What is older than 30 days goes first, then what lies close together seen from now: of the last
    minutes each stays, of last week some. Ways back from a restore go after all others, the oldest
    first. The newest copy and the newest way back always stay, whatever the budget: nothing else
    has what they have.
    """
    left = list(copies)
    sizes = {copy: copy.size_bytes for copy in left}
    total = sum(sizes.values())
    kept = {next((copy for copy in reversed(left) if copy.cause == "undo"), None), *left[-1:]}
    going: list[Copy] = []
    while len(left) > budget.copies or total > budget.size_bytes:
        free = [place for place, copy in enumerate(left) if copy not in kept]
        if not free:
            break
        gone = left.pop(_least(left, free, now_ms))
        total -= sizes[gone]
        going.append(gone)
    return going


def _least(copies: Sequence[Copy], free: Sequence[int], now_ms: int) -> int:
    """The place of the copy that is missed least, of those at the places `free`."""
    ordinary = [place for place in free if copies[place].cause != "undo"]
    if not ordinary:
        return free[0]
    if copies[ordinary[0]].taken_ms < now_ms - _LONGEST_MS:
        return ordinary[0]
    # The oldest one says how far back one can go.
    return min(ordinary[1:] or ordinary, key=lambda place: _hole(copies, place, now_ms))


def _hole(copies: Sequence[Copy], place: int, now_ms: int) -> float:
    """How long nothing would be kept without that copy, as a part of its age."""
    taken = copies[place].taken_ms
    before = copies[place - 1].taken_ms if place else taken
    after = copies[place + 1].taken_ms if place + 1 < len(copies) else now_ms
    return abs(after - before) / max(1, now_ms - taken)
