"""How a program runs on a connection: one transaction, D1's rules, one result per query.

Nothing here waits or knows of threads: the engine runs it in the database thread, and whoever
holds a connection of their own may run it where they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, cast

from localedge.d1 import rules, texts
from localedge.d1.attempts import Busy, Lenient, replacing, until_free, works_leniently
from localedge.d1.authorizer import Authorizer
from localedge.d1.bookmarks import CREATE_METADATA
from localedge.d1.connection import Connection
from localedge.d1.engine import EngineError, Query, Result, Row, Value
from localedge.d1.functions import SqlError
from localedge.d1.offsets import IsSyntaxError, located
from localedge.d1.program import InOrder, Program
from localedge.d1.row_id import SharedRowId
from localedge.d1.statements import OWN_MARK, Statement
from localedge.d1.tokens import cast_to_text

_BEGIN_READING: Final = f"BEGIN DEFERRED {OWN_MARK}"
_BEGIN_WRITING: Final = f"BEGIN IMMEDIATE {OWN_MARK}"
_COMMIT: Final = f"COMMIT {OWN_MARK}"
_ROLLBACK: Final = f"ROLLBACK {OWN_MARK}"
_PAGE_COUNT: Final = f"PRAGMA page_count {OWN_MARK}"
_FREE_PAGES: Final = f"PRAGMA freelist_count {OWN_MARK}"
_DATA_VERSION: Final = f"PRAGMA data_version {OWN_MARK}"
_RESETS: Final = tuple(f"{reset} {OWN_MARK}" for reset in rules.RESETS)
_CREATE_BOOKMARKS: Final = f"{CREATE_METADATA} {OWN_MARK}"
_NEXT_BOOKMARK: Final = (
    "INSERT INTO _cf_METADATA (key, value) VALUES (2, 1) "
    f"ON CONFLICT (key) DO UPDATE SET value = value + 1 RETURNING value {OWN_MARK}"
)
_LAST_ROW_ID: Final = f"SELECT last_insert_rowid() {OWN_MARK}"
_PAGE_BYTES: Final = 4096
_SQLITE_BUSY: Final = 5
_UNMEASURED: Final = -1
_ROW_CHANGING: Final = frozenset({"INSERT", "REPLACE", "UPDATE", "DELETE"})
_DDL_ROWS: Final = {"CREATE": 2, "DROP": 1, "ALTER": 1}


class Transactions:
    """Runs programs on `connection`, whose limits and functions are in place."""

    def __init__(
        self,
        connection: Connection,
        authorizer: Authorizer,
        row_id: SharedRowId,
        is_syntax_error: IsSyntaxError,
        busy_timeout_s: float = 0.0,
    ) -> None:
        self._busy_timeout_s = busy_timeout_s
        self._connection = connection
        self._authorizer = authorizer
        self._row_id = row_id
        self._own_row_id = 0
        self._is_syntax_error = is_syntax_error
        self._source = ""
        self._cursor = connection.cursor()
        self._refusal: str | None = None
        self._bookmarked = (-1, -1)
        self._bookmark = 0

    def run(self, program: Program) -> list[Result]:
        """Run `program` as one transaction and return a result per query.

        Errors: EngineError; nothing of the program remains.
        """
        try:
            return self._attempt_until_free(program)
        except Lenient:
            connection = self._connection
            connection.text_factory = replacing
            connection.limit_length(rules.MAX_VALUE_BYTES + rules.ROW_HEADER_BYTES)
            try:
                return self._attempt_until_free(program, is_lenient=True)
            finally:
                connection.text_factory = str
                connection.limit_length(rules.MAX_VALUE_BYTES)

    def _attempt_until_free(self, program: Program, *, is_lenient: bool = False) -> list[Result]:
        return until_free(
            lambda: self._attempt(program, is_lenient=is_lenient),
            timeout_s=self._busy_timeout_s,
            is_stopped=lambda: self._connection.is_stopped,
        )

    def _attempt(self, program: Program, *, is_lenient: bool = False) -> list[Result]:
        self._refusal = self._authorizer.text = None
        self._source = ""
        connection = self._connection
        results: list[Result] = []
        try:
            if program.is_one_look:
                return [self._query(program.queries[0])]
            self.own(_BEGIN_READING if program.is_read_only else _BEGIN_WRITING)
            for query in program.queries:
                results.append(self._query(query))
            size_after = self._size()
            self.own(_COMMIT)
        except EngineError as exc:
            exc.done = len(results)
            raise
        except MemoryError as exc:
            # SQLite's word for a statement of more than the allowed number of operations.
            raise EngineError(texts.NO_MEMORY, done=len(results)) from exc
        except (connection.Error, connection.Warning) as exc:
            if not is_lenient and works_leniently(str(exc), program):
                raise Lenient from exc
            failed = EngineError(self.describe(exc), done=len(results))
            if getattr(exc, "sqlite_errorcode", 0) & 0xFF == _SQLITE_BUSY:
                raise Busy(failed) from exc
            raise failed from exc
        finally:
            if connection.in_transaction:
                self.own(_ROLLBACK)
            if program.sets_pragma:
                for reset in _RESETS:
                    self.own(reset)
        return _sized(results, size_after)

    def own(self, sql: str) -> int:
        """Run a statement of ours, unasked; the only number of its only row, if it has one."""
        self._authorizer.is_trusted = True
        try:
            row = self._cursor.execute(sql).fetchone()
        finally:
            self._authorizer.is_trusted = False
        return cast(int, row[0]) if row else 0

    @contextmanager
    def trusted(self) -> Iterator[None]:
        """The authorizer allows everything inside."""
        self._authorizer.is_trusted = True
        try:
            yield
        finally:
            self._authorizer.is_trusted = False

    def describe(self, exc: Exception) -> str:
        """What to say of an error of the driver."""
        text = str(exc)
        # The authorizer is asked before the parser has come to the end, and may stumble there.
        is_denied = "not authorized" in text or "is prohibited" in text
        refusal = self._refusal or (self._authorizer.text if is_denied else None)
        if refusal:
            return refusal
        text, offset = located(text, self._source, self._is_syntax_error)
        return texts.describe(
            text,
            getattr(exc, "sqlite_errorcode", None),
            getattr(exc, "sqlite_errorname", ""),
            offset=offset,
        )

    def guarded(self, function: Callable[..., Value]) -> Callable[..., Value]:
        """`function` for SQL; the driver would hide the text of what it raises."""

        def call(*values: Value) -> Value:
            try:
                return function(*values)
            except SqlError as exc:
                self._refusal = f"{exc}: SQLITE_ERROR"
                raise

        return call

    def _size(self) -> int:
        return (self.own(_PAGE_COUNT) - self.own(_FREE_PAGES)) * _PAGE_BYTES

    def _query(self, query: Query) -> Result:
        started = time.perf_counter()
        parsed, values, _ = query
        if parsed.refusal is not None:
            raise EngineError(parsed.refusal)
        *before, last = parsed.statements
        changes_before = self._connection.total_changes
        row_id_before = self._row_id.value
        may_resize = not parsed.is_read_only and last.verb not in _ROW_CHANGING
        size_before = self._size() if may_resize else _UNMEASURED
        for statement in before:
            self._step(statement, None)
        if parsed.has_tail:
            # What has the values is the last, and that is no statement.
            self._step(last, None)
            raise EngineError(texts.NOT_A_STATEMENT)
        columns, rows = self._step(last, values)
        changes = self._connection.total_changes - changes_before
        size_after = self._size() if may_resize else _UNMEASURED
        last_row_id = self._row_id.value
        return Result(
            columns=columns,
            rows=rows,
            changes=changes,
            last_row_id=last_row_id,
            changed_db=changes != 0
            or last_row_id != row_id_before
            or (may_resize and size_before != size_after),
            size_after=size_after,
            # Differs: the platform counts rows inside the engine; these two are estimates.
            rows_read=changes if last.verb in ("UPDATE", "DELETE") else len(rows),
            rows_written=changes or (_DDL_ROWS.get(last.verb, 0) if may_resize else 0),
            duration_ms=(time.perf_counter() - started) * 1000,
        )

    def _step(
        self, statement: Statement, values: tuple[Value, ...] | None
    ) -> tuple[tuple[str, ...], list[Row]]:
        """Run one statement; `values` None means that it may not take any."""
        if statement.is_refused:
            raise EngineError(texts.NOT_AUTHORIZED)
        cursor = self._cursor
        self._source = statement.source
        try:
            self._execute(statement, values or ())
        except self._connection.ProgrammingError as exc:
            if not _is_count_error(exc):
                raise
            text = texts.ONLY_LAST_BINDS if values is None else texts.WRONG_BINDINGS
            raise EngineError(text) from exc
        except self._connection.Error:
            # An INSERT that failed at its second row has made a first one all the same.
            self._saw_row_id(self.own(_LAST_ROW_ID))
            raise
        rows = cursor.fetchall()
        self._saw_row_id(cursor.lastrowid or 0)
        description = cursor.description
        return tuple([column[0] for column in description]) if description else (), rows

    def _saw_row_id(self, row_id: int) -> None:
        if row_id != self._own_row_id:
            self._own_row_id = self._row_id.value = row_id

    def _execute(self, statement: Statement, values: tuple[Value, ...]) -> None:
        fits = statement.is_named and len(values) == statement.parameters
        try:
            self._cursor.execute(statement.text, InOrder(values) if fits else values)
        except UnicodeEncodeError:
            self._cursor.execute(*cast_to_text(statement.text, values))

    def next_bookmark(self) -> int:
        """A number greater than that of any earlier bookmark, or the same if nothing changed.

        It lies in the database, so that it grows over isolates and restarts. Reading it again
        writes only when somebody has written since.
        """
        state = (self.own(_DATA_VERSION), self._connection.total_changes)
        if state == self._bookmarked:
            return self._bookmark
        try:
            self.own(_BEGIN_WRITING)
            self.own(_CREATE_BOOKMARKS)
            self._bookmark = self.own(_NEXT_BOOKMARK)
            self.own(_COMMIT)
        except self._connection.Error as exc:
            raise EngineError(self.describe(exc)) from exc
        finally:
            if self._connection.in_transaction:
                self.own(_ROLLBACK)
        self._bookmarked = (self.own(_DATA_VERSION), self._connection.total_changes)
        return self._bookmark


def _sized(results: list[Result], size_after: int) -> list[Result]:
    """`results` with the size where none was measured: that of the next statement with one.

    Differs from asking after each statement by the pages that rows take in between; asking costs
    as much as an INSERT.
    """
    for place in range(len(results) - 1, -1, -1):
        if results[place].size_after == _UNMEASURED:
            results[place] = results[place]._replace(size_after=size_after)
        else:
            size_after = results[place].size_after
    return results


def _is_count_error(exc: Exception) -> bool:
    return str(exc).startswith(("Incorrect number of bindings", "You did not supply a value"))
