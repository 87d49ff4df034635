"""D1's engine on SQLite: the only file that knows the driver."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import aiosqlite

from localedge import clock
from localedge.d1 import rules
from localedge.d1.engine import Engine, EngineError, Query, Result, Row, Value
from localedge.d1.statements import OWN_MARK, Statement
from localedge.errors import Exit, OperatorError

Durability: TypeAlias = Literal["process", "power"]
SYNCHRONOUS: Final[dict[Durability, str]] = {"process": "NORMAL", "power": "FULL"}

complete_statement = sqlite3.complete_statement
VERSION: Final = sqlite3.sqlite_version_info

_BEGIN_READING: Final = f"BEGIN DEFERRED {OWN_MARK}"
_BEGIN_WRITING: Final = f"BEGIN IMMEDIATE {OWN_MARK}"
_COMMIT: Final = f"COMMIT {OWN_MARK}"
_ROLLBACK: Final = f"ROLLBACK {OWN_MARK}"
_PAGE_COUNT: Final = f"PRAGMA page_count {OWN_MARK}"
_FREE_PAGES: Final = f"PRAGMA freelist_count {OWN_MARK}"
_RESETS: Final = tuple(f"{reset} {OWN_MARK}" for reset in rules.RESETS)
_PAGE_BYTES: Final = 4096
_ROW_CHANGING: Final = frozenset({"INSERT", "REPLACE", "UPDATE", "DELETE"})


class Program(str):
    """Queries for one transaction, in the shape of SQL text.

    aiosqlite's public way to run something in the database thread in one hop is to execute a
    text; the driver below recognises this one.
    """

    __slots__ = ("is_read_only", "now_s", "queries", "results", "sets_pragma")

    def __new__(cls, queries: Sequence[Query], now_s: float | None = None) -> Program:
        self = super().__new__(cls, "program")
        self.queries = queries
        self.is_read_only = all(query.parsed.is_read_only for query in queries)
        self.sets_pragma = any(query.parsed.sets_pragma for query in queries)
        self.now_s = now_s
        self.results: list[Result] = []
        return self


class _InOrder(dict[str, Value]):
    """Answers each name with the next value: named parameters are filled by first appearance."""

    def __init__(self, values: Iterable[Value]) -> None:
        super().__init__()
        self._values = iter(values)

    def __getitem__(self, _name: str) -> Value:
        return next(self._values)


class Driver(sqlite3.Connection):
    """A connection under D1's rules that runs a Program in one transaction.

    Used by one thread at a time; `serial` grows by one per program and `is_busy` is true while
    one runs, so that another thread can tell how long it has been running.
    """

    serial = 0
    is_busy = False
    last_row_id = 0

    def prepare(self, *, durability: Durability, busy_timeout_s: float) -> None:
        """Put the connection under D1's rules, limits and settings."""
        self.isolation_level = None
        self._authorizer = rules.Authorizer()
        self._cursor = self.cursor()
        self._idle = self.cursor()
        for setting in (
            f"PRAGMA busy_timeout={int(busy_timeout_s * 1000)}",
            "PRAGMA journal_mode=WAL",
            f"PRAGMA synchronous={SYNCHRONOUS[durability]}",
            "PRAGMA foreign_keys=ON",
            "PRAGMA recursive_triggers=OFF",
            "PRAGMA trusted_schema=ON",
        ):
            self._cursor.execute(setting).fetchall()
        self._cursor.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        for name, value in rules.LIMITS.items():
            self.setlimit(getattr(sqlite3, f"SQLITE_LIMIT_{name}"), value)
        self.set_authorizer(self._authorizer)

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Run `sql`; a Program's results are then in its `results`."""
        if type(sql) is not Program:
            return super().execute(sql, parameters)
        sql.results = self.run(sql)
        return self._idle

    def run(self, program: Program) -> list[Result]:
        """Run `program` as one transaction and return a result per query.

        Errors: EngineError; the transaction is undone.
        """
        self.serial += 1
        self.is_busy = True
        try:
            return self._attempt(program)
        except _NotUtf8:
            # Nothing has been committed: run it again, replacing what is no UTF-8.
            self.text_factory = _replacing
            try:
                return self._attempt(program)
            finally:
                self.text_factory = str
        finally:
            self.is_busy = False

    def _attempt(self, program: Program) -> list[Result]:
        try:
            self._own(_BEGIN_READING if program.is_read_only else _BEGIN_WRITING)
            results = [self._query(query) for query in program.queries]
            self._own(_COMMIT)
        except sqlite3.Error as exc:
            text = self._describe(exc)
            if text == _NOT_UTF8_TEXT:
                raise _NotUtf8 from exc
            raise EngineError(text) from exc
        finally:
            if self.in_transaction:
                self._own(_ROLLBACK)
            if program.sets_pragma:
                for reset in _RESETS:
                    self._own(reset)
        return results

    def _own(self, sql: str) -> int:
        """Run a statement of ours; its only number, if it has one."""
        self._authorizer.is_trusted = True
        try:
            row = self._cursor.execute(sql).fetchone()
        finally:
            self._authorizer.is_trusted = False
        return cast(int, row[0]) if row else 0

    def _size(self) -> int:
        return (self._own(_PAGE_COUNT) - self._own(_FREE_PAGES)) * _PAGE_BYTES

    def _query(self, query: Query) -> Result:
        started = time.perf_counter()
        parsed, values = query
        *before, last = self._checked(parsed.sql, parsed.statements)
        changes_before = self.total_changes
        row_id_before = self.last_row_id
        size_before = 0 if parsed.is_read_only or last.verb in _ROW_CHANGING else self._size()
        for statement in before:
            self._step(statement, ())
        columns, rows = self._step(last, values)
        if parsed.has_tail:
            raise EngineError(rules.NOT_A_STATEMENT)
        changes = self.total_changes - changes_before
        size = self._size()
        return Result(
            columns=columns,
            rows=rows,
            changes=changes,
            last_row_id=self.last_row_id,
            changed_db=changes != 0
            or self.last_row_id != row_id_before
            or (size_before != 0 and size != size_before),
            size_after=size,
            rows_read=_rows_read(last, rows, changes),
            rows_written=changes if parsed.is_read_only or changes else _DDL_ROWS.get(last.verb, 0),
            duration_ms=(time.perf_counter() - started) * 1000,
        )

    def _checked(self, sql: str, statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        if len(sql) > rules.MAX_SQL_BYTES // 4 and len(sql.encode()) > rules.MAX_SQL_BYTES:
            raise EngineError(rules.TOO_LONG)
        if OWN_MARK in sql:
            raise EngineError(rules.NOT_AUTHORIZED)
        if not statements:
            raise EngineError(rules.NOT_A_STATEMENT)
        return statements

    def _step(
        self, statement: Statement, values: tuple[Value, ...]
    ) -> tuple[tuple[str, ...], list[Row]]:
        if statement.renames_to is not None and rules.is_internal(statement.renames_to):
            raise EngineError(rules.NOT_AUTHORIZED)
        cursor = self._cursor
        bound = _InOrder(values) if statement.is_named else values
        try:
            cursor.execute(statement.text, bound)
        except sqlite3.ProgrammingError as exc:
            if len(values) != statement.parameters:
                raise EngineError(rules.WRONG_BINDINGS) from exc
            raise
        rows = cursor.fetchall()
        if cursor.lastrowid is not None:
            self.last_row_id = cursor.lastrowid
        description = cursor.description
        return tuple([column[0] for column in description]) if description else (), rows

    def _describe(self, exc: sqlite3.Error) -> str:
        refusal, self._authorizer.text = self._authorizer.text, None
        return refusal or describe(exc)


_DDL_ROWS: Final = {"CREATE": 2, "DROP": 1, "ALTER": 1}
_NOT_UTF8_TEXT: Final = "not UTF-8"


class _NotUtf8(Exception):  # noqa: N818  (a signal inside this file)
    """A text in a result is not UTF-8."""


def _replacing(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _rows_read(statement: Statement, rows: list[Row], changes: int) -> int:
    return changes if statement.verb in ("UPDATE", "DELETE") else len(rows)


def describe(exc: sqlite3.Error) -> str:
    """The engine's text of `exc` with its codes, as D1 shows it."""
    text = str(exc)
    if text == "query string is too large":
        return rules.TOO_LONG
    if text.startswith("Could not decode to UTF-8"):
        return _NOT_UTF8_TEXT
    code = getattr(exc, "sqlite_errorcode", None)
    if code is None:
        return f"{text}: SQLITE_ERROR"
    primary = _PRIMARY.get(code & 0xFF, "SQLITE_ERROR")
    extended: str = exc.sqlite_errorname
    suffix = f" (extended: {extended})" if code > 0xFF and extended != primary else ""
    return f"{text}: {primary}{suffix}"


_PRIMARY: Final = {
    value: name
    for name in (
        "ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND "
        "FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT "
        "RANGE NOTADB"
    ).split()
    for value, name in [(getattr(sqlite3, f"SQLITE_{name}"), f"SQLITE_{name}")]
}


class SqliteEngine(Engine):
    """An engine whose connection lives in a thread of its own."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def run(self, queries: Sequence[Query]) -> list[Result]:
        program = Program(queries)
        await self._connection.execute_fetchall(program)
        return program.results

    async def bookmark(self) -> str:
        return f"{clock.now_ms():08x}"


@asynccontextmanager
async def open_engine(
    path: Path, *, durability: Durability = "process", busy_timeout_s: float = 30.0
) -> AsyncIterator[Engine]:
    """The engine on the file at `path`, which is created when it is absent.

    Errors: OperatorError when the file cannot be opened as a database.
    """
    connector = _connector(path, durability, busy_timeout_s)
    async with asyncio.timeout(busy_timeout_s + 30), contextlib.AsyncExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = await stack.enter_async_context(aiosqlite.Connection(connector, 64))
        except (sqlite3.Error, OSError) as exc:
            raise OperatorError("d1/cannot-open", f"{path}: {exc}", exit=Exit.UNREACHABLE) from exc
        closing = stack.pop_all()
    async with closing:
        yield SqliteEngine(connection)


def _connector(
    path: Path, durability: Durability, busy_timeout_s: float
) -> Callable[[], sqlite3.Connection]:
    def connect() -> sqlite3.Connection:
        driver = sqlite3.connect(path, factory=Driver, check_same_thread=False)
        try:
            driver.prepare(durability=durability, busy_timeout_s=busy_timeout_s)
        except BaseException:
            driver.close()
            raise
        return driver

    return connect
