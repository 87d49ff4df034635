"""Copies of a whole database, page by page, between connections."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, TypeAlias

from localedge.d1.bookmarks import CREATE_METADATA
from localedge.d1.sqlite import Driver, Durability, open_here, open_unjournaled
from localedge.d1.statements import OWN_MARK

Progress: TypeAlias = Callable[[int, int], None]
"""Called from another thread with how many pages of how many are done."""

_PATIENCE_S: Final = 30.0
_PAUSE_S: Final = 0.005
_OK: Final = 0
_PATIENT: Final = f"PRAGMA busy_timeout=30000 {OWN_MARK}"
_BEGIN: Final = f"BEGIN IMMEDIATE {OWN_MARK}"
_COMMIT: Final = f"COMMIT {OWN_MARK}"
_CREATE: Final = f"{CREATE_METADATA} {OWN_MARK}"
_COUNT: Final = (
    "INSERT INTO _cf_METADATA (key, value) VALUES (2, ?1) "
    f"ON CONFLICT (key) DO UPDATE SET value = max(value + 1, ?1) RETURNING value {OWN_MARK}"
)
_COUNTER: Final = f"SELECT coalesce(max(value), 0) FROM _cf_METADATA WHERE key = 2 {OWN_MARK}"


def counted(driver: Driver, least: int) -> int:
    """The bookmark's counter of `driver`'s database after it grew, to `least` at least."""
    transactions = driver.transactions
    transactions.own(_PATIENT)
    transactions.own(_BEGIN)
    try:
        with transactions.trusted():
            driver.execute(_CREATE)
            (counter,) = driver.execute(_COUNT, (least,)).fetchone()
        transactions.own(_COMMIT)
    except BaseException:
        driver.rollback()
        raise
    return int(counter)


def write_copy(live: Driver, target: Path) -> None:
    """`target` is a new file with what `live` shows now, and lies on the disk."""
    with closing(open_unjournaled(target)) as copy:
        live.backup(copy)
    descriptor = os.open(target, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Replacement:
    """Puts the content of the file `source` in place of what the database `file` has.

    Shape: `keep` is called with a connection to the old state while nobody can write any more,
    and returns the least counter that the new state may have; what it raises ends the replacement,
    and nothing has changed. `source` gets that counter too.
    """

    def __init__(
        self,
        file: Path,
        source: Path,
        keep: Callable[[Driver, int], int],
        progress: Progress | None,
    ) -> None:
        self._file = file
        self._source_file = source
        self._keep = keep
        self._progress = progress
        self._began_s = time.monotonic()
        self._has_kept = False

    def run(self, durability: Durability) -> int:
        """The counter of the new state, which is committed."""
        with ExitStack() as stack:
            self._source = stack.enter_context(closing(open_here(self._source_file)))
            self._before = stack.enter_context(closing(open_here(self._file)))
            target = stack.enter_context(closing(open_here(self._file, durability)))
            counted(self._source, 1)
            # The first step takes the lock and ends with the last page: a database has two at
            # least, one of them for the counter.
            self._source.backup(target, pages=1, progress=self._stepped, sleep=_PAUSE_S)
        return self._counter

    def _stepped(self, status: int, remaining: int, total: int) -> None:
        if status != _OK:
            if not self._has_kept and time.monotonic() - self._began_s > _PATIENCE_S:
                raise TimeoutError("another program keeps on writing to it")
            return
        if not self._has_kept:
            self._has_kept = True
            before = self._before.transactions.own(_COUNTER) if self._has_counter() else 0
            self._counter = counted(self._source, self._keep(self._before, before))
        if self._progress is not None:
            self._progress(total - remaining, total)

    def _has_counter(self) -> bool:
        return bool(
            self._before.transactions.own(
                f"SELECT count(*) FROM sqlite_schema WHERE name = '_cf_METADATA' {OWN_MARK}"
            )
        )
