"""D1's engine on SQLite: the only file that knows the driver."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import aiosqlite

from localedge.d1 import functions, rules, texts
from localedge.d1.authorizer import Authorizer
from localedge.d1.bookmarks import bookmark_text
from localedge.d1.engine import Engine, EngineError, Query, Result, Value
from localedge.d1.opening import cannot_open, opening_error
from localedge.d1.program import BookmarkRequest, Program
from localedge.d1.row_id import SharedRowId
from localedge.d1.sql_clock import REAL_NOW, ClockWatch, SqlClock
from localedge.d1.transactions import Transactions
from localedge.d1.watch import Watch
from localedge.errors import OperatorError

Durability: TypeAlias = Literal["process", "power"]
VERSION: Final = sqlite3.sqlite_version_info
complete_statement = sqlite3.complete_statement
DriverError = sqlite3.Error
_SYNCHRONOUS: Final[dict[Durability, str]] = {"process": "NORMAL", "power": "FULL"}


class Driver(sqlite3.Connection):
    """A connection under D1's rules that runs a Program as one transaction.

    One thread uses it at a time; only `stop_if_running` may be called from another.
    """

    serial = 0
    is_busy = False
    is_ended = False

    @property
    def is_stopped(self) -> bool:
        """Whether what runs has been interrupted."""
        return self._is_timed_out or self.is_ended

    def put_under_rules(self, row_id: SharedRowId, busy_timeout_s: float = 0.0) -> None:
        """Bring in D1's limits, functions and authorizer. Settings must be made before."""
        self.isolation_level = None
        self._switch = threading.Lock()
        self._is_timed_out = False
        self._row_id = row_id
        self._plain = sqlite3.connect(":memory:", check_same_thread=False)
        self._idle = self.cursor()
        authorizer = Authorizer()
        self.transactions = Transactions(
            self, authorizer, row_id, self._is_syntax_error, busy_timeout_s
        )
        self.sql_clock = SqlClock(self, self._evaluate)
        for setting in ("PRAGMA foreign_keys=ON", *rules.RESETS):
            self.transactions.own(setting)
        for name, value in rules.LIMITS.items():
            self.setlimit(getattr(sqlite3, f"SQLITE_LIMIT_{name}"), value)
        functions.add_missing(self, VERSION, self._evaluate, self.transactions.guarded)
        self.set_authorizer(authorizer)
        self.opened_at_s = float(str(self._evaluate(REAL_NOW, ())))

    def close(self) -> None:
        """Close the connection and what belongs to it."""
        if hasattr(self, "_plain"):
            self._plain.close()
            self._row_id.close()
        super().close()

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Run `sql`; a Program leaves its results in itself."""
        if type(sql) is Program:
            sql.results = self.run(sql)
        elif type(sql) is BookmarkRequest:
            sql.counter = self.transactions.next_bookmark()
        else:
            return super().execute(sql, parameters)
        return self._idle

    @property
    def row_id(self) -> int:
        """The database's last inserted rowid, as this connection and its neighbours know it."""
        return self._row_id.value

    @row_id.setter
    def row_id(self, row_id: int) -> None:
        self._row_id.value = row_id

    def run(self, program: Program) -> list[Result]:
        """Run `program` as one transaction and return a result per query.

        Errors: EngineError; nothing of the program remains.
        """
        with self._switch:
            if self.is_ended:
                raise EngineError(texts.CLOSED)
            self.serial += 1
            self.is_busy = True
            self._is_timed_out = False
        try:
            self.sql_clock.follow(program)
            return self.transactions.run(program)
        except EngineError as exc:
            if self._is_timed_out:
                raise EngineError(texts.TIMED_OUT) from exc
            raise
        finally:
            with self._switch:
                self.is_busy = False

    def stop_if_running(self, serial: int) -> None:
        """Interrupt program number `serial`, if that is what runs; from any thread."""
        with self._switch:
            if self.is_busy and self.serial == serial:
                self._is_timed_out = True
                self.interrupt()

    def end(self) -> None:
        """Interrupt the program that runs and let no other one begin; from any thread."""
        with self._switch:
            self.is_ended = True
            if self.is_busy:
                self.interrupt()

    def limit_length(self, size_bytes: int) -> None:
        """No text, BLOB or row may be longer than `size_bytes`."""
        self.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, size_bytes)

    def _evaluate(self, expression: str, values: tuple[Value, ...]) -> Value:
        try:
            row = self._plain.execute(f"SELECT {expression}", values).fetchone()
        except sqlite3.Error as exc:
            raise functions.SqlError(str(exc)) from exc
        found: Value = row[0]
        return found

    def _is_syntax_error(self, sql: str) -> bool:
        try:
            self._plain.execute(sql)
        except sqlite3.Error as exc:
            return str(exc).endswith(": syntax error")
        return False


@dataclass(frozen=True, slots=True)
class _Opening:
    """How to open the database of one file. Called in the database thread."""

    path: Path
    durability: Durability
    busy_timeout_s: float
    opened: list[Driver] = field(default_factory=list)
    failed: list[Exception] = field(default_factory=list)

    def __call__(self) -> sqlite3.Connection:
        try:
            driver = self.open()
        except (sqlite3.Error, OSError, OperatorError) as exc:
            # aiosqlite does not wait for its thread to end when this raises.
            self.failed.append(exc)
            return sqlite3.connect(":memory:")
        self.opened.append(driver)
        return driver

    def open(self) -> Driver:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for needed in (self.path.parent, self.path):
            if needed.exists() and not os.access(needed, os.W_OK):
                raise cannot_open(self.path, "read-only", f"{needed.name} cannot be written")
        # `attempts` waits for the locks of others.
        driver = sqlite3.connect(self.path, timeout=0, factory=Driver, check_same_thread=False)
        try:
            self._set_up(driver)
        except BaseException:
            driver.close()
            raise
        return driver

    def _set_up(self, driver: Driver) -> None:
        deadline_s = time.monotonic() + self.busy_timeout_s
        # Python's own transactions would begin before ours.
        driver.isolation_level = None
        while True:
            try:
                # Isolates that open a new file at once collide here, whatever the busy timeout.
                sqlite3.Connection.execute(driver, "PRAGMA journal_mode=WAL").fetchall()
                sqlite3.Connection.execute(driver, "SELECT 1 FROM sqlite_schema").fetchall()
                break
            except sqlite3.OperationalError as exc:
                is_busy = exc.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not is_busy or time.monotonic() > deadline_s:
                    raise
                time.sleep(0.005)
        driver.execute(f"PRAGMA synchronous={_SYNCHRONOUS[self.durability]}")
        shared = SharedRowId(self.path.with_name(f"{self.path.name}-rowid"))
        driver.put_under_rules(shared, self.busy_timeout_s)


class SqliteEngine(Engine):
    """An engine whose connection lives in a thread of its own."""

    def __init__(
        self, connection: aiosqlite.Connection, driver: Driver, query_timeout_s: float
    ) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._clock = ClockWatch(driver.opened_at_s, self._loop.time())
        self._watch = Watch(driver, query_timeout_s)

    async def run(self, queries: Sequence[Query]) -> list[Result]:
        loop_s = self._loop.time()
        program = Program(queries, now_s=self._clock.moved_now(loop_s))
        await self._in_thread(program)
        if program.now_s is not None and program.real_s is not None:
            self._clock.learn(now_s=program.now_s, real_s=program.real_s, loop_s=loop_s)
        return program.results

    async def bookmark(self) -> str:
        request = BookmarkRequest("bookmark")
        await self._in_thread(request)
        return bookmark_text(request.counter)

    async def _in_thread(self, request: Program | BookmarkRequest) -> None:
        self._watch.begin()
        try:
            # The watch is the deadline of this wait: it interrupts what runs for too long.
            await self._connection.execute_fetchall(request)
        except ValueError as exc:
            raise EngineError(texts.CLOSED) from exc
        finally:
            self._watch.waiting -= 1

    def close(self) -> None:
        """No timer of this engine is left, and no program that nobody waits for."""
        self._watch.close()


def open_here(
    path: Path, durability: Durability = "process", busy_timeout_s: float = 30.0
) -> Driver:
    """A connection to the database at `path` for this thread. Errors: as of `open_engine`."""
    try:
        return _Opening(path, durability, busy_timeout_s).open()
    except (sqlite3.Error, OSError, OperatorError) as exc:
        raise opening_error(path, exc) from exc


def open_unjournaled(path: Path) -> Driver:
    """A connection to the new file `path`, for one process that needs no durability."""
    driver = sqlite3.connect(path, timeout=0, factory=Driver, check_same_thread=False)
    driver.isolation_level = None
    for setting in ("journal_mode=MEMORY", "synchronous=OFF", "user_version=1", "user_version=0"):
        driver.execute(f"PRAGMA {setting}").fetchall()
    driver.put_under_rules(SharedRowId(None))
    return driver


@asynccontextmanager
async def open_engine(
    path: Path,
    *,
    durability: Durability = "process",
    busy_timeout_s: float = 30.0,
    query_timeout_s: float = rules.QUERY_TIMEOUT_S,
) -> AsyncIterator[Engine]:
    """The engine on the file at `path`, which is created when it is absent.

    Units: a call waits `busy_timeout_s` for another program's lock, and may run for
    `query_timeout_s`.
    Errors: OperatorError when the file cannot be opened as a database, or not be written.
    """
    opening = _Opening(path, durability, busy_timeout_s)
    async with AsyncExitStack() as stack:
        async with asyncio.timeout(busy_timeout_s + 30):
            connection = await stack.enter_async_context(aiosqlite.Connection(opening, 64))
        for exc in opening.failed:
            raise opening_error(path, exc) from exc
        engine = SqliteEngine(connection, opening.opened[0], query_timeout_s)
        stack.callback(engine.close)
        yield engine
