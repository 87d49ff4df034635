"""An engine whose database can be copied and put back within a fraction of a millisecond.

For exploring many orders of calls: no thread, no waiting, no durability. The database is a file
in memory (where the system has such a place). Putting a copy back writes its pages under the
connection, which sees by the header's change counter that they are others, and keeps its parsed
schema and its prepared statements. In place, `deserialize` would parse the schema again (3 ms for
60 tables), and leaves table-valued functions such as json_each with freed memory (SQLite 3.40).
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from localedge import clock
from localedge.d1.bookmarks import bookmark_text
from localedge.d1.engine import Engine, Query, Result, Row
from localedge.d1.program import Program
from localedge.d1.sqlite import open_unjournaled
from localedge.d1.statements import Statement

_HEADER: Final = 100
_PAGE_BYTES: Final = 4096
_COUNTER: Final = slice(24, 28)
_COOKIE: Final = slice(40, 44)
_VALID_FOR: Final = slice(92, 96)
_BEFORE: Final = re.compile(r"\b(total_)?changes\b|\blast_insert_rowid\b", re.IGNORECASE)
_OF_NOBODY: Final = -1
_ROW_CHANGING: Final = frozenset({"INSERT", "REPLACE", "UPDATE", "DELETE"})
"""Source of the header's fields: www.sqlite.org/fileformat2.html section 1.3, read 2026-12-01."""


class _Outcome(NamedTuple):
    """What queries came to at a copy; they are kept, so that their identity stays theirs."""

    queries: Sequence[Query]
    results: list[Result]
    then: Copy


class _Look(NamedTuple):
    """What somebody saw who looked at a copy."""

    queries: Sequence[Query]
    rows: list[list[Row]]


class _Unsettled(NamedTuple):
    """An outcome whose copy has not been taken yet."""

    here: Copy
    asked: Hashable
    queries: Sequence[Query]
    results: list[Result]


@dataclass(frozen=True)
class Copy:
    """A database at one moment.

    Shape: `schema` is a number that only databases with the same tables share; `known` has the
    outcomes of what was run here before, rows and the copy afterwards, `looks` what was looked at.
    """

    pages: bytes
    schema: int
    row_id: int
    known: dict[Hashable, _Outcome] = field(default_factory=dict, compare=False, repr=False)
    looks: dict[Hashable, _Look] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def key(self) -> tuple[int, int]:
        """Equal for databases with the same content; the header counts what was written."""
        return (hash(memoryview(self.pages)[_HEADER:]), self.row_id)

    def is_same_as(self, other: Copy) -> bool:
        """Whether both have the same content."""
        if self is other:
            return True
        is_same_row_id = self.row_id == other.row_id
        return is_same_row_id and self.pages[_HEADER:] == other.pages[_HEADER:]


class MemoryEngine(Engine):
    """One database under D1's rules, run where it is called."""

    def __init__(self) -> None:
        self._open()
        self._cookie = 0
        self._schema = 0
        self._schemas = 0
        self._may_recall = True
        self._taken: Copy | None = None
        self._last: Copy | None = None
        self._written: Copy | None = None
        self._unsettled: _Unsettled | None = None
        self._looks: dict[Hashable, _Look] = {}
        # On the platform, too, somebody else has written before: `PRAGMA data_version` is 2.
        self._write(self.snapshot())

    def _open(self) -> None:
        shared = Path("/dev/shm")
        place = str(shared) if os.access(shared, os.W_OK) else None
        self._file, name = tempfile.mkstemp(prefix="localedge-explore-", dir=place)
        try:
            self._driver = open_unjournaled(Path(name))
        finally:
            # Both have it open: nothing is left of it when they end, however they end.
            os.unlink(name)
        self._cursor = self._driver.cursor()

    def part(self) -> None:
        """Have a database of one's own with the same content: for a process after its fork.

        SQLite's connections may not be used on both sides; the inherited one is left alone.
        """
        copy = self.snapshot()
        self._inherited = (self._driver, self._cursor)
        self._open()
        self._schema = _OF_NOBODY
        self._write(copy)

    async def run(self, queries: Sequence[Query]) -> list[Result]:
        here, now_s = self._taken, clock.now()
        asked = _asked(queries, now_s) if here is not None and self._may_recall else None
        if here is not None and (known := here.known.get(asked)) is not None:
            self._taken = known.then
            return known.results
        self._catch_up()
        is_read_only = all(query.parsed.is_read_only for query in queries)
        if not is_read_only:
            self._taken = self._written = self._unsettled = None
            self._looks = {}
            if any(_may_change_tables(s) for q in queries for s in q.parsed.statements):
                # Some statement may have changed the tables: no other database has the same.
                self._schemas += 1
                self._schema = self._schemas
        self._may_recall &= not _asks_for_what_was_before(queries)
        self._driver.sql_clock.show(now_s)
        # Nobody interrupts it: it needs no lock, and no time by the machine's clock.
        results = self._driver.transactions.run(Program(queries))
        if here is not None and asked is not None:
            if is_read_only:
                here.known[asked] = _Outcome(queries, results, here)
            else:
                self._unsettled = _Unsettled(here, asked, queries, results)
        return results

    def look(self, queries: Sequence[Query]) -> list[list[Row]]:
        """The rows of `queries`, which only read: for whoever looks often, past D1's rules."""
        here, asked = self._taken, tuple([(id(q.parsed), q.values) for q in queries])
        known = self._looks if here is None else here.looks
        if (look := known.get(asked)) is None:
            self._catch_up()
            execute = self._cursor.execute
            rows = [execute(q.parsed.statements[-1].text, q.values).fetchall() for q in queries]
            look = known[asked] = _Look(queries, rows)
        return look.rows

    async def bookmark(self) -> str:
        self._catch_up()
        self._taken = self._written = self._unsettled = None
        return bookmark_text(self._driver.transactions.next_bookmark())

    def snapshot(self) -> Copy:
        """The whole database as it is now."""
        if self._taken is None:
            size = os.fstat(self._file).st_size
            copy = Copy(os.pread(self._file, size, 0), self._schema, self._driver.row_id)
            if self._last is not None and copy == self._last:
                # A write that changed nothing leaves the copy, and what is known of it, as it was.
                copy = self._last
            if self._unsettled is not None:
                here, asked, queries, results = self._unsettled
                here.known[asked] = _Outcome(queries, results, copy)
                self._unsettled = None
            copy.looks.update(self._looks)
            self._taken = self._written = self._last = copy
        return self._taken

    def restore(self, copy: Copy) -> None:
        """Make the database what it was at `copy`; its pages are written when they are needed."""
        self._taken = copy
        self._unsettled = None

    def _catch_up(self) -> None:
        if self._taken is not None and self._taken is not self._written:
            self._write(self._taken)

    def _write(self, copy: Copy) -> None:
        header = bytearray(copy.pages[:_HEADER])
        header[_COUNTER] = header[_VALID_FOR] = (self._number(_COUNTER) + 1).to_bytes(4, "big")
        if copy.schema != self._schema:
            # A cookie that no parsed schema has: everything is parsed and prepared anew.
            self._cookie = max(self._cookie, self._number(_COOKIE)) + 1
            header[_COOKIE] = self._cookie.to_bytes(4, "big")
        os.pwrite(self._file, copy.pages, 0)
        os.pwrite(self._file, header, 0)
        os.ftruncate(self._file, len(copy.pages))
        self._driver.row_id = copy.row_id
        self._schema = copy.schema
        self._written = self._last = copy

    def _number(self, field: slice) -> int:
        return int.from_bytes(os.pread(self._file, field.stop - field.start, field.start), "big")

    def close(self) -> None:
        """Let go of the database."""
        self._driver.close()
        os.close(self._file)


def _may_change_tables(statement: Statement) -> bool:
    return not statement.is_read_only and statement.verb not in _ROW_CHANGING


def _asked(queries: Sequence[Query], now_s: float) -> Hashable:
    """Equal for what comes to the same at the same copy: 1 and 1.0 are not."""
    asked = [(id(q.parsed), q.values, *map(type, q.values), q.is_measured) for q in queries]
    return (now_s, *asked)


def _asks_for_what_was_before(queries: Sequence[Query]) -> bool:
    """Whether the first change here, or a look before it, asks for the last one before."""
    for query in queries:
        for statement in query.parsed.statements:
            if _BEFORE.search(statement.text):
                return True
            if not statement.is_read_only:
                return False
    return False
