"""The D1 binding: a database, its statements and its sessions.

Source: reference/kv-d1-contract.md section 2, read 2026-12-01.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from localedge.binding import JsBinding
from localedge.boundary import JsDict
from localedge.coercion import JS_SPACE, js_string, js_truthy
from localedge.d1 import texts
from localedge.d1.engine import Engine, EngineError, Query, Result, Value
from localedge.d1.errors import column_not_found, d1_error, exec_error
from localedge.d1.results import bound, objects_out, result_out, rows_out
from localedge.d1.statements import Parsed, parse
from localedge.errors import JsException, js_type_error
from localedge.values import UNDEFINED, JsSet

logger = logging.getLogger(__name__)


class Runner(Protocol):
    """Whatever a statement runs on: the database itself, or a session of it."""

    async def run_queries(self, queries: Sequence[Query]) -> list[Result]:
        """The results of `queries`; errors: EngineError."""


class D1PreparedStatement(JsBinding):
    """A text with its values. `bind` makes a new one; nothing runs before first, all, run, raw."""

    js_class = "D1PreparedStatement"
    kind = "d1"
    goes_on_by_itself = True
    js_methods: ClassVar = {name: name for name in ("bind", "first", "all", "run", "raw")}
    js_properties: ClassVar = {"statement": "statement", "params": "params"}

    __slots__ = ("_params", "_runner", "_values", "statement")

    def __init__(
        self,
        runner: Runner,
        statement: Any,
        params: Sequence[Any] = (),
        values: tuple[Value, ...] = (),
    ) -> None:
        self._runner = runner
        self.statement = statement
        self._params = params
        self._values = values

    @property
    def params(self) -> list[Any]:
        """What was bound; bytes as the numbers that they are to the platform, so are Booleans."""
        return [_shown(param) for param in self._params]

    def __repr__(self) -> str:
        return f"D1PreparedStatement({self.statement!r}, {self.params!r})"

    @property
    def query(self) -> Query:
        """What the engine runs."""
        return Query(_parsed(self.statement), self._values)

    @property
    def _unmeasured(self) -> Query:
        return Query(_parsed(self.statement), self._values, is_measured=False)

    def bind(self, *params: Any) -> D1PreparedStatement:
        """A new statement with `params` in place of any earlier ones."""
        values = tuple([bound(param) for param in params])
        return D1PreparedStatement(self._runner, self.statement, params, values)

    async def _result(self, query: Query) -> Result:
        (result,) = await _run(self._runner, [query])
        return result

    async def all(self, *_options: Any) -> JsDict:
        """Rows as objects, with `success` and `meta`."""
        return result_out(await self._result(self.query))

    run = all

    async def first(self, column: Any = UNDEFINED, *_rest: Any) -> Any:
        """The first row as an object, or its `column`; null when there is no row."""
        result = await self._result(self._unmeasured)
        if not result.rows:
            return None
        row = objects_out(result._replace(rows=result.rows[:1]))[0]
        if column is UNDEFINED:
            return row
        name = js_string(column)
        if name not in row:
            raise column_not_found(name)
        return row[name]

    async def raw(self, options: Any = UNDEFINED, *_rest: Any) -> list[list[Any]]:
        """Rows as arrays, with a leading row of names for `columnNames`."""
        result = await self._result(self._unmeasured)
        rows = rows_out(result.rows)
        wants_names = isinstance(options, dict) and js_truthy(options.get("columnNames"))
        return [list(result.columns), *rows] if wants_names else rows


def _parsed(statement: Any) -> Parsed:
    if not isinstance(statement, str):
        raise d1_error(texts.NO_TEXT)
    return parse(statement)


def _shown(param: Any) -> Any:
    if isinstance(param, bytes):
        return list(param)
    return int(param) if isinstance(param, bool) else param


async def _run(runner: Runner, queries: Sequence[Query]) -> list[Result]:
    running = [query for query in queries if not query.parsed.is_blank]
    if not running:
        raise d1_error(texts.NO_STATEMENTS)
    try:
        return await runner.run_queries(running)
    except EngineError as exc:
        raise d1_error(exc.text) from exc


async def _batch(runner: Runner, statements: Any) -> list[JsDict]:
    if not isinstance(statements, list) or isinstance(statements, JsSet):
        raise _no_method(statements, "statements", "map")
    for statement in statements:
        if statement is None or statement is UNDEFINED:
            raise _no_member(statement, "statement")
    results = await _run(runner, [_query_of(statement) for statement in statements])
    return [result_out(result) for result in results]


def _no_method(value: Any, argument: str, method: str) -> JsException:
    """What JavaScript says when `argument` is a `value` that has no `method`."""
    if value is None or value is UNDEFINED:
        return _no_member(value, method)
    return js_type_error(f"{argument}.{method} is not a function")


def _no_member(value: Any, name: str) -> JsException:
    return js_type_error(f"Cannot read properties of {js_string(value)} (reading '{name}')")


def _query_of(statement: Any) -> Query:
    if isinstance(statement, D1PreparedStatement):
        return statement.query
    if isinstance(statement, dict) and isinstance(statement.get("statement"), str):
        params = statement.get("params")
        values = params if isinstance(params, list) else []
        return Query(parse(statement["statement"]), tuple([bound(value) for value in values]))
    raise d1_error(texts.NO_TEXT)


class D1Database(JsBinding):
    """One D1 database on `engine`."""

    js_class = "D1Database"
    kind = "d1"
    goes_on_by_itself = True
    js_methods: ClassVar = {
        "prepare": "prepare",
        "batch": "batch",
        "exec": "exec",
        "withSession": "with_session",
        "dump": "dump",
        "query": "query",
    }

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def run_queries(self, queries: Sequence[Query]) -> list[Result]:
        """The results of `queries`, run as one transaction."""
        return await self._engine.run(queries)

    def prepare(self, sql: Any = UNDEFINED, *_rest: Any) -> D1PreparedStatement:
        """A statement of `sql`, which nothing has looked at yet."""
        return D1PreparedStatement(self, sql)

    async def batch(self, statements: Any = UNDEFINED, *_rest: Any) -> list[JsDict]:
        """Run `statements` as one transaction: all of them or none."""
        return await _batch(self, statements)

    async def exec(self, sql: Any = UNDEFINED, *_rest: Any) -> JsDict:
        """Run each line of `sql` as a query, all as one transaction."""
        if not isinstance(sql, str):
            raise _no_method(sql, "query", "trim")
        lines = sql.strip(JS_SPACE).split("\n")
        try:
            results = await _run(self, [Query(parse(line)) for line in lines])
        except JsException as exc:
            cause = exc.cause or exc
            raise exec_error(lines[0], cause.message) from exc
        return JsDict(count=len(results), duration=sum(r.duration_ms for r in results))

    def with_session(self, constraint: Any = UNDEFINED, *_rest: Any) -> D1DatabaseSession:
        """A session that starts at `constraint`, or at the bookmark given in its place."""
        return D1DatabaseSession(self._engine, constraint)

    async def dump(self, *_rest: Any) -> Any:
        """Nothing: the platform gives a dump of alpha databases only, and so do we."""
        raise JsException("D1_DUMP_ERROR: Status + 404", cause=JsException("Status 404"))

    async def query(self, *_rest: Any) -> Any:
        """Nothing: the platform has it behind a flag."""
        raise JsException(
            "D1_ERROR: D1Database.query() requires the d1_binding_jsrpc compatibility flag. "
            "Enable d1_binding_jsrpc before calling query()."
        )


FIRST_UNCONSTRAINED = "first-unconstrained"
FIRST_PRIMARY = "first-primary"


class D1DatabaseSession(JsBinding):
    """A session: statements that see all that the session has seen before."""

    js_class = "D1DatabaseSession"
    kind = "d1"
    js_methods: ClassVar = {
        "prepare": "prepare",
        "batch": "batch",
        "getBookmark": "get_bookmark",
    }

    def __init__(self, engine: Engine, constraint: Any) -> None:
        self._engine = engine
        if constraint is None or constraint is UNDEFINED:
            constraint = ""
        if not isinstance(constraint, str):
            raise js_type_error("constraintOrBookmark?.trim is not a function")
        self._seen = constraint.strip(JS_SPACE) or FIRST_UNCONSTRAINED

    async def run_queries(self, queries: Sequence[Query]) -> list[Result]:
        """The results of `queries`; the session's bookmark then covers them."""
        results = await self._engine.run(queries)
        try:
            bookmark = await self._engine.bookmark()
        except EngineError as exc:
            # What was asked for is done; a failure here must not look like one of it.
            logger.warning("bookmark not advanced", extra={"why": exc.text})
            return results
        if self.get_bookmark() is None or self._seen < bookmark:
            self._seen = bookmark
        return results

    def prepare(self, sql: Any = UNDEFINED, *_rest: Any) -> D1PreparedStatement:
        """A statement of `sql` that runs in this session."""
        return D1PreparedStatement(self, sql)

    async def batch(self, statements: Any = UNDEFINED, *_rest: Any) -> list[JsDict]:
        """Run `statements` as one transaction: all of them or none."""
        return await _batch(self, statements)

    def get_bookmark(self, *_rest: Any) -> str | None:
        """The greatest bookmark seen, or the one given; null before the first query."""
        return None if self._seen in (FIRST_UNCONSTRAINED, FIRST_PRIMARY) else self._seen
