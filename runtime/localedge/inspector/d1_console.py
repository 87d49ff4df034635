"""The SQL console: statements under D1's own rules, answered or refused with D1's own texts."""

from __future__ import annotations

import re
from typing import Any, Final

from localedge.d1 import texts
from localedge.d1.database import D1Database
from localedge.d1.engine import Engine, EngineError, Query, Result, Value
from localedge.d1.errors import d1_error
from localedge.d1.migrations import Applied, Migrations, migration_folder, split
from localedge.d1.migrations.applying import DEFAULT_TABLE
from localedge.d1.results import bound
from localedge.d1.statements import Parsed, parse
from localedge.errors import OperatorError
from localedge.inspector.d1_data import cells
from localedge.inspector.d1_models import Answer, Asked, Plan, PlanNode, Ran
from localedge.inspector.d1_places import Databases, Place

MOST_ANSWERED: Final = 500
"""How many rows of an answer are shown."""
MOST_FETCHED: Final = 20_000
"""How many rows a statement may find: all of them are in the memory of the server at once."""
_EXCERPT: Final = 60
_OFFSET: Final = re.compile(r"at offset (\d+)")


async def run(engine: Engine, asked: Asked) -> Ran:
    """What the statements of `asked` did, as one transaction, or why they did nothing.

    Errors: OperatorError for text that holds several transactions.
    """
    statements = [sql for sql in split(asked.sql) if not parse(sql).is_blank]
    if not statements:
        return Ran(error=d1_error(texts.NO_STATEMENTS).message)
    queries = [Query(parse(sql)) for sql in statements]
    queries[-1] = Query(queries[-1].parsed, _values(asked.params))
    try:
        if await _finds_too_many(engine, queries):
            return Ran(
                error=f"More than {MOST_FETCHED:,} rows: the console shows none of them. "
                "End the statement with LIMIT."
            )
        results = await engine.run(queries)
    except EngineError as exc:
        return Ran(error=d1_error(exc.text).message, place=_place(statements, exc.done))
    return Ran(answers=tuple(map(_answer, statements, results)))


async def plan(engine: Engine, asked: Asked) -> Plan:
    """How the last statement of `asked` would be run, or why it would not.

    Errors: as of `run`.
    """
    sql = split(asked.sql)[-1].strip()
    if parse(sql).is_blank:
        return Plan(error=d1_error(texts.NO_STATEMENTS).message)
    prefix = "" if sql[:7].upper() == "EXPLAIN" else "EXPLAIN QUERY PLAN "
    try:
        (found,) = await engine.run([Query(parse(prefix + sql), _values(asked.params))])
    except EngineError as exc:
        return Plan(error=d1_error(_moved(exc.text, len(prefix))).message)
    return Plan(nodes=tuple(_nodes(found)))


async def apply_migrations(databases: Databases, place: Place) -> list[Applied]:
    """The pending migrations are applied, in order; those that were.

    Errors: OperatorError without a folder; MigrationError, which names the file.
    """
    folder = migration_folder(place.project.root, place.project.file.name, place.entry)
    folder.require()
    database = D1Database(await databases.engine(place))
    table = place.entry.migrations_table or DEFAULT_TABLE
    migrations = Migrations(folder, database, table)
    return [done async for done in migrations.apply(await migrations.pending())]


async def _finds_too_many(engine: Engine, queries: list[Query]) -> bool:
    """Whether the only statement, one that reads, would find more rows than fit here."""
    (query, *others) = queries
    source = _only_select(query.parsed)
    if others or source is None:
        return False
    counting = f"SELECT count(*) FROM (SELECT 1 FROM (\n{source}\n) LIMIT {MOST_FETCHED + 1})"
    try:
        (counted,) = await engine.run([Query(parse(counting), query.values)])
    except EngineError:
        # What is wrong with it is told in the words that it gets by itself.
        return False
    found = counted.rows[0][0]
    return isinstance(found, int) and found > MOST_FETCHED


def _only_select(parsed: Parsed) -> str | None:
    if len(parsed.statements) != 1 or parsed.statements[0].verb not in ("SELECT", "VALUES"):
        return None
    return parsed.statements[0].source.rstrip().removesuffix(";")


def _values(params: tuple[Any, ...]) -> tuple[Value, ...]:
    return tuple(bound(param) for param in params)


def _answer(sql: str, result: Result) -> Answer:
    return Answer(
        sql=sql,
        columns=result.columns,
        rows=tuple(cells(row) for row in result.rows[:MOST_ANSWERED]),
        count=len(result.rows),
        changes=result.changes,
        last_row_id=result.last_row_id,
        rows_read=result.rows_read,
        rows_written=result.rows_written,
        duration_ms=result.duration_ms,
    )


def _place(statements: list[str], done: int | None) -> str:
    """Which statement failed, after `done` of them; "" for the only one, or when it is unknown."""
    if done is None or len(statements) == 1:
        return ""
    if done >= len(statements):
        return "All statements ran, but what they left could not be committed."
    text = " ".join(statements[done].split())
    excerpt = text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
    return f"Statement {done + 1} of {len(statements)} failed, nothing was changed: {excerpt}"


def _moved(text: str, by: int) -> str:
    """`text` with its offset counted in what the person wrote."""
    return _OFFSET.sub(lambda found: f"at offset {max(0, int(found[1]) - by)}", text)


def _nodes(found: Result) -> list[PlanNode]:
    if "detail" not in found.columns:
        raise OperatorError(
            "d1/plan", "that is no statement whose plan can be shown.", "Ask for a query."
        )
    depths: dict[Value, int] = {0: -1}
    nodes = []
    for id_, parent, _, detail in found.rows:
        depths[id_] = depths.get(parent, -1) + 1
        text = str(detail)
        is_scan = text.startswith("SCAN ") and " USING " not in text and "CONSTANT" not in text
        nodes.append(PlanNode(depth=depths[id_], text=text, is_scan=is_scan))
    return nodes
