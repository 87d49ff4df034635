"""A database as SQL text, in the form of wrangler's `d1 export`.

Source: miniflare 4 src/workers/d1/dumpSql.ts, read 2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from localedge.d1 import rules
from localedge.d1.sqlite import Driver, open_here
from localedge.d1.statements import OWN_MARK
from localedge.errors import OperatorError

_TABLES: Final = (
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL "
    f"ORDER BY tbl_name = 'sqlite_sequence', rowid {OWN_MARK}"
)
_REST: Final = (
    "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL "
    f"AND type IN ('index', 'trigger', 'view') ORDER BY type COLLATE NOCASE, rowid {OWN_MARK}"
)
_BEGIN: Final = f"BEGIN DEFERRED {OWN_MARK}"
_ROLLBACK: Final = f"ROLLBACK {OWN_MARK}"
_STATISTICS: Final = re.compile(r"sqlite_stat\d")
_QUOTED_CREATE: Final = re.compile(r"CREATE TABLE (?=['\"])")
_VIRTUAL: Final = re.compile(r"CREATE\s+VIRTUAL\s+TABLE", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of the database is wanted; `tables` () stands for all."""

    tables: tuple[str, ...] = ()
    has_schema: bool = True
    has_data: bool = True


@dataclass(slots=True)
class Told:
    """How much was dumped; `too_long` counts rows whose statement D1 does not take again."""

    tables: int = 0
    rows: int = 0
    too_long: int = 0


class _Text(bytes):
    """A text as it lies in the database, told from a BLOB."""


def dumped(
    file: Path, wanted: Wanted, told: Told, on_row: Callable[[int], None] | None = None
) -> Iterator[str]:
    """The statements that make the database in `file` anew, as it is at one moment.

    Shape: `told` counts along; `on_row` is called with how many rows there were so far.
    Errors: OperatorError for a table that does not exist, and for virtual tables.
    """
    with closing(open_here(file)) as driver, driver.transactions.trusted():
        driver.text_factory = _Text
        driver.execute(_BEGIN)
        try:
            yield from _statements(driver, wanted, told, on_row or (lambda _: None))
        finally:
            driver.execute(_ROLLBACK)


def table_count(file: Path) -> int:
    """How many tables of its owner the database in `file` has."""
    with closing(open_here(file)) as driver, driver.transactions.trusted():
        names = [name for name, _ in driver.execute(_TABLES)]
    return sum(not name.startswith(("_cf_", "sqlite_")) for name in names)


def count_rows(file: Path, wanted: Wanted) -> int:
    """How many rows `dumped` is going to give."""
    with closing(open_here(file)) as driver, driver.transactions.trusted():
        names = [name for name, sql in driver.execute(_TABLES) if _is_dumped(name, sql, wanted)]
        counts = [
            driver.execute(f"SELECT count(*) FROM {_quoted(name)} {OWN_MARK}").fetchone()[0]
            for name in names
        ]
    return sum(counts) if wanted.has_data else 0


def _is_dumped(name: str, sql: str, wanted: Wanted) -> bool:
    is_listed = not wanted.tables or name in wanted.tables
    return is_listed and not name.startswith("_cf_") and not _VIRTUAL.match(sql)


def _statements(
    driver: Driver, wanted: Wanted, told: Told, on_row: Callable[[int], None]
) -> Iterator[str]:
    tables = [(name.decode(), sql.decode()) for name, sql in driver.execute(_TABLES)]
    _check(tables, wanted.tables)
    yield "PRAGMA defer_foreign_keys=TRUE;"
    for name, sql in tables:
        if wanted.tables and name not in wanted.tables:
            continue
        if _VIRTUAL.match(sql):
            raise OperatorError(
                "d1/export",
                "D1 Export error: cannot export databases with Virtual Tables (fts5)",
                f"Name the other tables with --table, or drop {name} for the time of the export.",
            )
        if name.startswith("_cf_"):
            continue
        is_own = not name.startswith("sqlite_")
        told.tables += is_own
        if wanted.has_schema:
            yield _created(name, sql)
        if wanted.has_data:
            for statement in _inserts(driver, name):
                told.rows += is_own
                told.too_long += len(statement.encode()) > rules.MAX_SQL_BYTES
                on_row(told.rows)
                yield statement
    if wanted.has_schema:
        yield from _rest(driver, wanted.tables)


def _check(tables: Iterable[tuple[str, str]], wanted: Iterable[str]) -> None:
    known = [name for name, _ in tables if not name.startswith(("_cf_", "sqlite_stat"))]
    for name in wanted:
        if name not in known:
            raise OperatorError(
                "d1/unknown-table",
                f'There is no table "{name}".',
                f"There are: {', '.join(known) or 'none'}.",
            )


def _created(name: str, sql: str) -> str:
    if name == "sqlite_sequence":
        return "DELETE FROM sqlite_sequence;"
    if _STATISTICS.match(name):
        return "ANALYZE sqlite_schema;"
    return f"{_QUOTED_CREATE.sub('CREATE TABLE IF NOT EXISTS ', sql, count=1)};"


def _inserts(driver: Driver, table: str) -> Iterator[str]:
    columns = [
        _quoted(name.decode())
        for _, name, *_ in driver.execute(f"PRAGMA table_info={_quoted(table)}")
    ]
    names = ",".join(columns)
    rows = driver.execute(f"SELECT {', '.join(columns)} FROM {_quoted(table)} {OWN_MARK}")
    for row in rows:
        yield f"INSERT INTO {_quoted(table)} ({names}) VALUES({','.join(map(_literal, row))});"


def _rest(driver: Driver, wanted: tuple[str, ...]) -> Iterator[str]:
    for name, table, sql in driver.execute(_REST):
        if not wanted or name.decode() in wanted or table.decode() in wanted:
            yield f"{sql.decode()};"


def _literal(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case _Text():
            return _text(value)
        case bytes():
            return f"X'{value.hex()}'"
        case float() if value in (float("inf"), float("-inf")):
            return "9e999" if value > 0 else "-9e999"
    # Differs: wrangler writes numbers as JavaScript has them: 1.0 as 1, and 2^53 + 1 wrong.
    return repr(value)


def _text(value: _Text) -> str:
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return f"CAST(X'{value.hex()}' AS TEXT)"
    if "\0" in text:
        return f"CAST(X'{value.hex()}' AS TEXT)"
    literal = text.replace("'", "''")
    calls: list[str] = []
    for character, number in (("\r", 13), ("\n", 10)):
        if character in literal:
            # A statement stays on one line. What stands for the end of a line is in no text.
            mark = _unused(literal, "\\r" if number == 13 else "\\n")
            literal = literal.replace(character, mark)
            calls.append(f",'{mark}',char({number}))")
    return f"{'replace(' * len(calls)}'{literal}'{''.join(calls)}"


def _unused(text: str, mark: str) -> str:
    found, number = mark, 0
    while found in text:
        found, number = f"({mark}{number})", number + 1
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
