"""Time travel of one database: copies of it that are kept, and the way back to each.

A restore takes the database's write lock, keeps a copy of what it finds, and replaces the content
in the same transaction: what was committed before is in that copy, and what comes later waits for
the end. Isolates that have the database open see one commit.

Source: developers.cloudflare.com/d1/reference/time-travel, read 2026-12-01.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from localedge.d1.bookmarks import bookmark_text
from localedge.d1.copies import Budget, Cause, Copy, copy_name, kept_in, surplus
from localedge.d1.opening import cannot_open, opening_error
from localedge.d1.replacing import Progress, Replacement, counter_of, write_copy
from localedge.d1.sqlite import Driver, DriverError, Durability, open_here
from localedge.d1.unchanged import Marker, is_same, marker_of
from localedge.errors import Exit, OperatorError

Place: TypeAlias = tuple[int, int]
"""A counter of bookmarks, and which of the copies since it."""

_PATIENCE_S: Final = 60.0
_PAUSE_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did: `now` is the state that it brought, `before` the way back."""

    now: Copy
    before: Copy


# Differs: the platform goes back to any moment of 30 days; here to kept copies, one a minute.
class TimeTravel:
    """The kept copies of the database in `file`.

    Shape: `now` tells the time in seconds since the epoch; copies beyond `budget` are removed.
    Errors of all that it does: OperatorError.
    """

    def __init__(
        self,
        file: Path,
        budget: Budget,
        *,
        now: Callable[[], float] = time.time,
        durability: Durability = "process",
    ) -> None:
        self.file = file
        self.folder = file.with_name(f"{file.name}-copies")
        self.budget = budget
        self._now = now
        self._durability = durability
        self._marker_file = self.folder / "marker"

    def copies(self) -> list[Copy]:
        """All that are kept, the oldest first."""
        return kept_in(self.folder)

    def has_changed(self) -> bool:
        """Whether the database may have been written to since the newest copy."""
        return self.file.exists() and self._remembered() != marker_of(self.file).text

    def has_room(self) -> bool:
        """Whether a copy of the database, as large as it is, is within the budget."""
        return self.file.exists() and self.file.stat().st_size <= self.budget.size_bytes

    async def keep(self, cause: Cause, at_s: float | None = None) -> Copy:
        """A copy of the database as it is now; the newest one when nothing has changed since.

        Shape: it counts as taken at `at_s`, the moment that it is for, or now.
        """
        return await asyncio.to_thread(self._keep, cause, at_s)

    async def restore(self, to: Copy, progress: Progress | None = None) -> Restored:
        """The database is as it was in the copy `to`; what it was before is kept."""
        return await asyncio.to_thread(self._restore, to, progress)

    def _keep(self, cause: Cause, at_s: float | None) -> Copy:
        with self._alone(), closing(open_here(self.file)) as live:
            copies = self.copies()
            # Read first: what is written meanwhile shows as a change at the next look.
            marker, counter = marker_of(self.file), counter_of(live)
            if copies and self._remembered() == marker.text:
                return copies[-1]
            draft = self._draft()
            write_copy(live, draft)
            # Opening a database changes its files, not its content.
            if copies and is_same(draft, copies[-1].path):
                self._remember(marker)
                return copies[-1]
            copy = self._named(draft, _after(copies, counter), cause, at_s)
            self._remember(marker)
            self._prune()
            return copy

    def _restore(self, to: Copy, progress: Progress | None) -> Restored:
        with self._alone():
            if not to.path.exists():
                raise OperatorError(
                    "d1/no-copy",
                    f"The copy for the bookmark {to.bookmark} is gone: others were kept instead.",
                    "localedge d1 time-travel info names those that there are.",
                )
            source = self.folder / "restored.new"
            shutil.copyfile(to.path, source)
            undo: list[Copy] = []
            new: list[Place] = []

            def keep(live: Driver, has_counter: bool) -> int | None:
                counter = counter_of(live)
                place = _after(self.copies(), counter)
                draft = self._draft()
                write_copy(live, draft)
                undo.append(self._named(draft, place, "undo"))
                is_counted = has_counter or counter is not None
                new.append((place[0] + 1, 1) if is_counted else (place[0], place[1] + 1))
                return new[0][0] if is_counted else None

            Replacement(self.file, source, keep, progress).run(self._durability)
            self._marker_file.unlink(missing_ok=True)
            now = self._named(source, new[0], "restored")
            self._prune()
            return Restored(now, undo[0])

    def _draft(self) -> Path:
        path = self.folder / "copy.new"
        path.unlink(missing_ok=True)
        return path

    def _named(self, draft: Path, place: Place, cause: Cause, at_s: float | None = None) -> Copy:
        taken_ms = int((self._now() if at_s is None else at_s) * 1000)
        bookmark = bookmark_text(*place)
        path = draft.rename(self.folder / copy_name(bookmark, taken_ms, cause))
        return Copy(bookmark, taken_ms, cause, path)

    def _prune(self) -> None:
        for copy in surplus(self.copies(), self.budget, int(self._now() * 1000)):
            copy.path.unlink(missing_ok=True)

    def _remember(self, marker: Marker) -> None:
        """The newest copy has what there was at `marker`, if a later commit shows in the next."""
        lock = self.folder / "lock"
        os.utime(lock)
        if marker.is_settled(lock.stat().st_mtime_ns):
            self._marker_file.write_text(marker.text, "utf-8")
        else:
            self._marker_file.unlink(missing_ok=True)

    def _remembered(self) -> str | None:
        try:
            return self._marker_file.read_text("utf-8")
        except FileNotFoundError:
            return None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process keeps or restores copies of this database meanwhile."""
        if not self.file.exists():
            raise OperatorError(
                "d1/no-database",
                f"the database has never been used: {self.file} does not exist.",
                "Apply its migrations, or run a worker that uses it.",
                exit=Exit.UNREACHABLE,
            )
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            with _lock(self.folder / "lock"):
                try:
                    yield
                finally:
                    self._tidy()
        except (OSError, DriverError) as exc:
            raise opening_error(self.file, exc) from exc

    def _tidy(self) -> None:
        for left in self.folder.glob("*.new*"):
            left.unlink(missing_ok=True)


def _after(copies: Sequence[Copy], counter: int | None) -> Place:
    """The place behind all of `copies`, and behind the bookmarks up to `counter`."""
    newest, number = copies[-1].place if copies else (0, 0)
    return (counter, 1) if counter is not None and counter > newest else (newest, number + 1)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() > deadline:
                raise cannot_open(path.parent, "locked", "another command keeps copies there")
            time.sleep(_PAUSE_S)
        yield
    finally:
        os.close(descriptor)
