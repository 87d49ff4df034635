"""D1 as a person looks at it: tables, schema, rows, migrations.

Everything is read under D1's own rules, as a worker would read it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

from localedge.boundary import number_from_js
from localedge.d1.engine import Engine, EngineError, Query, Result, Row, Value
from localedge.d1.errors import d1_error
from localedge.d1.migrations import DEFAULT_TABLE, migration_folder
from localedge.d1.migrations.applying import quoted
from localedge.d1.statements import parse
from localedge.errors import OperatorError
from localedge.inspector.d1_models import (
    Cell,
    ColumnShown,
    Cut,
    DatabaseShown,
    IndexShown,
    MigrationShown,
    MigrationsShown,
    Rows,
    TableShown,
)
from localedge.inspector.d1_places import Databases, Place, never_used

logger = logging.getLogger(__name__)

MOST_COUNTED: Final = 100_000
MOST_ROWS: Final = 200
_TEXT_CHARACTERS: Final = 500
_BLOB_BYTES: Final = 32
_OBJECTS: Final = (
    "SELECT name, type, tbl_name, sql FROM sqlite_master "
    "WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND substr(lower(name), 1, 4) <> '_cf_' "
    "AND substr(lower(tbl_name), 1, 4) <> '_cf_' ORDER BY type, name"
)


async def read(engine: Engine, *statements: tuple[str, tuple[Value, ...]]) -> list[Result]:
    """What each statement finds, all at one moment. Errors: OperatorError with D1's text."""
    try:
        return await engine.run([Query(parse(sql), values) for sql, values in statements])
    except EngineError as exc:
        raise OperatorError("d1/refused", d1_error(exc.text).message) from exc


async def shown(databases: Databases, place: Place) -> DatabaseShown:
    """The database in a list. Looking makes no file; one that cannot be opened is shown too."""
    if not place.file.exists():
        return place.shown()
    try:
        (found,) = await read(await databases.used(place), ("SELECT 1", ()))
    except OperatorError as error:
        logger.warning("database not read", extra={"file": place.file.name, "why": str(error)})
        return place.shown()
    # What was written last may not be in the file yet.
    return place.shown(found.size_after)


async def tables(engine: Engine) -> tuple[TableShown, ...]:
    """The tables and views of the database, by name, without those of the platform."""
    (objects,) = await read(engine, (_OBJECTS, ()))
    names = [(str(row[0]), str(row[1])) for row in objects.rows if row[1] in ("table", "view")]
    return tuple(
        sorted(
            [await _table(engine, name, kind, objects.rows) for name, kind in names],
            key=lambda table: (table.kind, table.name.lower()),
        )
    )


async def _table(engine: Engine, name: str, kind: str, objects: Sequence[Row]) -> TableShown:
    table = quoted(name)
    counting = f"SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT {MOST_COUNTED + 1})"
    try:
        columns, indexes, counted = await read(
            engine,
            (f"PRAGMA table_xinfo({table})", ()),
            (f"PRAGMA index_list({table})", ()),
            (counting, ()),
        )
        rows = _whole(counted.rows[0][0])
    except OperatorError:
        # A view of a table that is gone, a virtual table of an absent module: its SQL says why.
        return TableShown(
            name=name,
            kind="view" if kind == "view" else "table",
            rows=None,
            columns=(),
            indexes=(),
            triggers=(),
            sql=_sql_of(name, objects),
        )
    return TableShown(
        name=name,
        kind="view" if kind == "view" else "table",
        rows=None if rows > MOST_COUNTED else rows,
        columns=tuple(_column(row) for row in columns.rows),
        indexes=tuple([await _index(engine, row, objects) for row in indexes.rows]),
        triggers=tuple(str(o[3]) for o in objects if o[1] == "trigger" and o[2] == name),
        sql=_sql_of(name, objects),
    )


def _column(row: Row) -> ColumnShown:
    _, name, type_, is_required, default, key, *_ = row
    return ColumnShown(
        name=str(name),
        type=str(type_),
        is_required=bool(is_required),
        default=None if default is None else str(default),
        key=_whole(key),
    )


async def _index(engine: Engine, row: Row, objects: Sequence[Row]) -> IndexShown:
    name, is_unique = str(row[1]), bool(row[2])
    (columns,) = await read(engine, (f"PRAGMA index_info({quoted(name)})", ()))
    return IndexShown(
        name=name,
        # What is no column is an expression.
        columns=tuple("(expression)" if c[2] is None else str(c[2]) for c in columns.rows),
        is_unique=is_unique,
        sql=_sql_of(name, objects) or None,
    )


def _sql_of(name: str, objects: Sequence[Row]) -> str:
    return next((str(o[3] or "") for o in objects if o[0] == name), "")


async def rows(
    engine: Engine,
    table: str,
    *,
    order: str | None = None,
    is_descending: bool = False,
    limit: int = 50,
    skip: int = 0,
) -> Rows:
    """A page of the rows of `table`. Errors: OperatorError, when there is no such table too."""
    if not 1 <= limit <= MOST_ROWS or skip < 0:
        raise OperatorError("d1/limit", f"a page has 1 to {MOST_ROWS} rows, not {limit}.")
    by = f" ORDER BY {quoted(order)}{' DESC' if is_descending else ''}" if order else ""
    sql = f"SELECT * FROM {quoted(table)}{by} LIMIT {limit + 1} OFFSET {skip}"
    (found,) = await read(engine, (sql, ()))
    return Rows(
        columns=found.columns,
        rows=tuple(cells(row) for row in found.rows[:limit]),
        more=len(found.rows) > limit,
    )


def cells(row: Row) -> tuple[Cell, ...]:
    """A row to look at: numbers as D1 gives them, long values cut."""
    return tuple(_cell(value) for value in row)


def _cell(value: Any) -> Cell:
    if isinstance(value, bytes):
        return Cut(kind="blob", part=value[:_BLOB_BYTES].hex(), size=len(value))
    if isinstance(value, str):
        if len(value) <= _TEXT_CHARACTERS:
            return value
        return Cut(kind="text", part=value[:_TEXT_CHARACTERS], size=len(value))
    if value is None or value in (float("inf"), float("-inf")):
        return None
    number: int | float = number_from_js(value)
    return number


def _whole(value: Value) -> int:
    return value if isinstance(value, int) else 0


async def migrations(databases: Databases, place: Place) -> MigrationsShown:
    """What is applied and what is pending, in order. Looking makes no ledger.

    Errors: OperatorError for a configuration or a file name that names no migrations.
    """
    folder = migration_folder(place.project.root, place.project.file.name, place.entry)
    files = folder.names()
    applied = await _applied(databases, place)
    gone = [name for name in applied if name not in files]
    found = tuple(
        MigrationShown(name=name, applied_at=applied.get(name), has_file=name in files)
        for name in (*gone, *files)
    )
    return MigrationsShown(
        folder=folder.directory if folder.path.is_dir() else None,
        migrations=found,
        pending=sum(one.applied_at is None for one in found),
    )


async def _applied(databases: Databases, place: Place) -> dict[str, str]:
    try:
        engine = await databases.used(place)
    except OperatorError as error:
        if error.code == never_used(place).code:
            return {}
        raise
    table = place.entry.migrations_table or DEFAULT_TABLE
    exists = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    (found,) = await read(engine, (exists, (table,)))
    if not found.rows:
        return {}
    (ledger,) = await read(
        engine, (f"SELECT name, applied_at FROM {quoted(table)} ORDER BY id", ())
    )
    return {str(name): str(applied_at) for name, applied_at in ledger.rows}
