"""Copies of a whole database, page by page, between connections."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, TypeAlias

from localedge.d1.bookmarks import CREATE_METADATA
from localedge.d1.opening import cannot_open
from localedge.d1.sqlite import Driver, Durability, open_here, open_unjournaled
from localedge.d1.statements import OWN_MARK

Progress: TypeAlias = Callable[[int, int], None]
"""Called from another thread with how many pages of how many are done."""

_PATIENCE_S: Final = 30.0
_PAUSE_S: Final = 0.005
_OK: Final = 0
_FEWEST_PAGES: Final = 2
_BEGIN: Final = f"BEGIN IMMEDIATE {OWN_MARK}"
_COMMIT: Final = f"COMMIT {OWN_MARK}"
_CREATE: Final = f"{CREATE_METADATA} {OWN_MARK}"
_COUNT: Final = f"REPLACE INTO _cf_METADATA (key, value) VALUES (2, ?1) {OWN_MARK}"
_COUNTER: Final = f"SELECT coalesce(max(value), 0) FROM _cf_METADATA WHERE key = 2 {OWN_MARK}"
_HAS_COUNTER: Final = f"SELECT count(*) FROM sqlite_schema WHERE name = '_cf_METADATA' {OWN_MARK}"
_PAGES: Final = f"PRAGMA page_count {OWN_MARK}"


def counter_of(driver: Driver) -> int | None:
    """The counter that bookmarks of sessions have come to, None when there were none."""
    is_there = driver.transactions.own(_HAS_COUNTER)
    return driver.transactions.own(_COUNTER) if is_there else None


def set_counter(driver: Driver, counter: int) -> None:
    """Bookmarks of sessions are greater than `counter` from now on. Nobody else may write."""
    with driver.transactions.trusted():
        driver.execute(_BEGIN)
        driver.execute(_CREATE)
        driver.execute(_COUNT, (counter,))
        driver.execute(_COMMIT)


def write_copy(live: Driver, target: Path) -> None:
    """`target` is a new file with what `live` shows now, and lies on the disk."""
    began_s = time.monotonic()

    def stepped(status: int, _remaining: int, _total: int) -> None:
        if status != _OK and time.monotonic() - began_s > _PATIENCE_S:
            raise cannot_open(target, "locked", "the database that it is of cannot be read")

    with closing(open_unjournaled(target)) as copy:
        live.backup(copy, progress=stepped, sleep=_PAUSE_S)
    descriptor = os.open(target, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Replacement:
    """Puts the content of the file `source` in place of what the database `file` has.

    Shape: `keep` is called with a connection to the old state while nobody can write any more; it
    returns the counter that the new state shall have, or None where no bookmark was ever given
    out. What it raises ends the replacement, and nothing has changed. `source` gets the counter
    too.
    """

    def __init__(
        self,
        file: Path,
        source: Path,
        keep: Callable[[Driver, bool], int | None],
        progress: Progress | None,
    ) -> None:
        self._file = file
        self._source_file = source
        self._keep = keep
        self._progress = progress
        self._began_s = time.monotonic()
        self._has_kept = False

    def run(self, durability: Durability) -> None:
        """The new state is committed."""
        with ExitStack() as stack:
            self._source = stack.enter_context(closing(open_here(self._source_file)))
            self._before = stack.enter_context(closing(open_here(self._file)))
            target = stack.enter_context(closing(open_here(self._file, durability)))
            if self._source.transactions.own(_PAGES) < _FEWEST_PAGES:
                # The first step takes the lock, and commits if it is the last one too.
                set_counter(self._source, 0)
            self._has_counter = counter_of(self._source) is not None
            self._source.backup(target, pages=1, progress=self._stepped, sleep=_PAUSE_S)

    def _stepped(self, status: int, remaining: int, total: int) -> None:
        if status != _OK:
            if not self._has_kept and time.monotonic() - self._began_s > _PATIENCE_S:
                raise cannot_open(self._file, "locked", "somebody keeps on writing to it")
            return
        if not self._has_kept:
            self._has_kept = True
            counter = self._keep(self._before, self._has_counter)
            if counter is not None:
                set_counter(self._source, counter)
        if self._progress is not None:
            self._progress(total - remaining, total)
