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
from typing import Final

from localedge.d1.bookmarks import bookmark_text
from localedge.d1.copies import Budget, Cause, Copy, copy_name, kept_in, surplus
from localedge.d1.opening import opening_error
from localedge.d1.replacing import Progress, Replacement, counted, write_copy
from localedge.d1.sqlite import Driver, DriverError, Durability, open_here
from localedge.d1.wal_index import Marker, is_same, marker_from, marker_of
from localedge.errors import Exit, OperatorError

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
        return self.file.exists() and self._stored_marker() != marker_of(self.file)

    def has_room(self) -> bool:
        """Whether a copy of the database, as large as it is, is within the budget."""
        return self.file.exists() and self.file.stat().st_size <= self.budget.size_bytes

    async def keep(self, cause: Cause) -> Copy:
        """A copy of the database as it is now; the newest one when nothing has changed since."""
        return await asyncio.to_thread(self._keep, cause)

    async def restore(self, to: Copy, progress: Progress | None = None) -> Restored:
        """The database is as it was in the copy `to`; what it was before is kept."""
        return await asyncio.to_thread(self._restore, to, progress)

    def _keep(self, cause: Cause) -> Copy:
        with self._alone(), closing(open_here(self.file)) as live:
            copies = self.copies()
            marker = marker_of(self.file)
            if copies and (self._stored_marker() == marker or self._is_same(live, copies[-1])):
                self._marker_file.write_text(str(marker), "utf-8")
                return copies[-1]
            counter = counted(live, _above(copies))
            # Read first: what is written meanwhile shows as a change at the next look.
            marker = marker_of(self.file)
            draft = self._draft()
            write_copy(live, draft)
            copy = self._named(draft, counter, cause)
            self._marker_file.write_text(str(marker), "utf-8")
            self._prune()
            return copy

    def _is_same(self, live: Driver, newest: Copy) -> bool:
        """Whether the newest copy has the same content: opening a database changes its files."""
        draft = self._draft()
        write_copy(live, draft)
        return is_same(draft, newest.path)

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

            def keep(live: Driver, counter: int) -> int:
                counter = max(counter + 1, _above(self.copies()))
                draft = self._draft()
                write_copy(live, draft)
                undo.append(self._named(draft, counter, "undo"))
                return counter + 1

            counter = Replacement(self.file, source, keep, progress).run(self._durability)
            self._marker_file.unlink(missing_ok=True)
            now = self._named(source, counter, "restored")
            self._prune()
            return Restored(now, undo[0])

    def _draft(self) -> Path:
        path = self.folder / "copy.new"
        path.unlink(missing_ok=True)
        return path

    def _named(self, draft: Path, counter: int, cause: Cause) -> Copy:
        bookmark, taken_ms = bookmark_text(counter), int(self._now() * 1000)
        path = draft.rename(self.folder / copy_name(bookmark, taken_ms, cause))
        return Copy(bookmark, taken_ms, cause, path)

    def _prune(self) -> None:
        for copy in surplus(self.copies(), self.budget, int(self._now() * 1000)):
            copy.path.unlink(missing_ok=True)

    def _stored_marker(self) -> Marker | None:
        try:
            return marker_from(self._marker_file.read_text("utf-8"))
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


def _above(copies: Sequence[Copy]) -> int:
    return copies[-1].counter + 1 if copies else 1


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
                raise TimeoutError("another command has its copies")
            time.sleep(_PAUSE_S)
        yield
    finally:
        os.close(descriptor)
