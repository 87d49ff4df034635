"""What of D1's SQL this machine's SQLite has, found by trying it under D1's own rules."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from localedge.d1 import functions
from localedge.d1.database import D1Database
from localedge.d1.memory import MemoryEngine
from localedge.d1.sqlite import VERSION
from localedge.errors import JsException

_TIMEOUT_S: Final = 5.0


class Feature(NamedTuple):
    """One thing that D1 can do, and a statement whose first value shows it."""

    name: str
    sql: str
    value: object = None


# Source: reference page of KV and D1, section 2.12 (the engine at the edge is 3.47 or later);
# https://sqlite.org/changes.html, read 2026-12-01.
FEATURES: Final = (
    Feature("FTS5", "CREATE VIRTUAL TABLE doctor_fts USING fts5(x)"),
    Feature("STRICT tables", "CREATE TABLE doctor_strict (a INTEGER) STRICT"),
    Feature("RETURNING", "INSERT INTO doctor_strict VALUES (1) RETURNING a", 1),
    Feature("DELETE … LIMIT", "DELETE FROM doctor_strict LIMIT 1"),
    Feature("->>", "SELECT '{\"a\":1}' ->> 'a'", 1),
    Feature("RIGHT JOIN", "SELECT 1 FROM (SELECT 1) RIGHT JOIN (SELECT 2) ON 1", 1),
    Feature("IS DISTINCT FROM", "SELECT 1 IS DISTINCT FROM 2", 1),
    Feature("math functions", "SELECT sqrt(4)", 2),
    Feature("string_agg", "SELECT string_agg(x, ',') FROM (SELECT 'a' AS x)", "a"),
    Feature("concat", "SELECT concat('a', 'b')", "ab"),
    Feature("unhex", "SELECT hex(unhex('ff'))", "FF"),
    Feature("timediff", "SELECT timediff('2026-01-02', '2026-01-01')", "+0000-00-01 00:00:00.000"),
    Feature("json() of a jsonb value", "SELECT json(jsonb('[1]'))", "[1]"),
    Feature("jsonb_group_array", "SELECT json(jsonb_group_array(1))", "[1]"),
    Feature("JSON5 in json()", "SELECT json('{a:1}')", '{"a":1}'),
    Feature("1_000 literals", "SELECT 1_000", 1000),
    Feature("strftime %F and %e", "SELECT strftime('%F %e', '2026-01-02')", "2026-01-02  2"),
    Feature("'subsec' in dates", "SELECT unixepoch('1970-01-01', 'subsec')", 0),
    Feature("ORDER BY in aggregates", "SELECT group_concat(1, ',' ORDER BY 1)", "1"),
)


def sqlite_version() -> tuple[int, ...]:
    """The version of the SQLite that Python was built with."""
    return tuple(VERSION)


def supplied_functions() -> list[str]:
    """The functions that D1 has, this SQLite lacks, and localedge registers."""
    missing = [missing.name for missing in functions.MISSING if missing.since > VERSION]
    if functions.STRING_AGG_SINCE > VERSION:
        missing.append("string_agg")
    return sorted(set(missing) - _BUILT_IN)


# Here since long; localedge registers only more numbers of arguments for it.
_BUILT_IN: Final = frozenset({"iif"})


async def lacking_features() -> list[str]:
    """The names of what D1 has and a database on this machine lacks, supplied functions counted."""
    engine = MemoryEngine()
    try:
        database = D1Database(engine)
        async with asyncio.timeout(_TIMEOUT_S):
            return [feature.name for feature in FEATURES if not await _works(database, feature)]
    finally:
        engine.close()


async def _works(database: D1Database, feature: Feature) -> bool:
    try:
        rows = await database.prepare(feature.sql).raw()
    except JsException:
        return False
    if feature.value is None:
        return True
    return bool(rows) and rows[0][0] == feature.value
