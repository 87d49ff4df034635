"""What lies in KV and D1, read through the bindings of either side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

_PAGE: Final = 1000
_MOST_COLUMNS: Final = 100
_TABLES: Final = (
    "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~' "
    "AND name NOT LIKE '~_cf~_%' ESCAPE '~' ORDER BY type, name"
)
# A type's letter before the value: what JSON makes of an integer depends on its size.
_CELL: Final = (
    "CASE typeof({0}) WHEN 'text' THEN 't' || {0} WHEN 'integer' THEN 'i' || {0} "
    "WHEN 'blob' THEN 'b' || hex({0}) ELSE {0} END"
)


class Caller(Protocol):
    """Calls bindings."""

    async def __call__(self, binding: str, *chain: Sequence[Any]) -> Any:
        """What a chain of `[method, args]` comes to, in JSON; bytes are `{"$bytes": hex}`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of KV: its value as text (hex where it is none), metadata as JSON."""

    value: str
    metadata: str
    expiration: int | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns, and each row's values as SQL literals."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class State:
    """All that is stored.

    Shape: `kv` maps binding → key → entry, `d1` binding → table, `schema` binding → "type name" of
    everything that a database defines → its SQL.
    """

    kv: dict[str, dict[str, Entry]]
    d1: dict[str, dict[str, Table]]
    schema: dict[str, dict[str, str]]


async def read_state(call: Caller, kv: Iterable[str], d1: Iterable[str]) -> State:
    """What lies behind the bindings `kv` and `d1`."""
    state = State({}, {}, {})
    for binding in kv:
        state.kv[binding] = await _namespace(call, binding)
    for binding in d1:
        state.schema[binding], state.d1[binding] = await _database(call, binding)
    return state


async def _namespace(call: Caller, binding: str) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    cursor: str | None = None
    while True:
        options = {"limit": _PAGE} | ({"cursor": cursor} if cursor else {})
        page = await call(binding, ["list", [options]])
        for key in page["keys"]:
            found = await call(binding, ["getWithMetadata", [key["name"], "arrayBuffer"]])
            if found["value"] is not None:
                entries[key["name"]] = Entry(
                    _as_text(bytes.fromhex(found["value"]["$bytes"])),
                    json.dumps(found["metadata"], sort_keys=True, ensure_ascii=False),
                    key.get("expiration"),
                )
        if page["list_complete"]:
            return entries
        cursor = page["cursor"]


async def _database(call: Caller, binding: str) -> tuple[dict[str, str], dict[str, Table]]:
    defined = (await call(binding, ["prepare", [_TABLES]], ["all", []]))["results"]
    schema = {f"{one['type']} {one['name']}": one["sql"] or "" for one in defined}
    tables = {one["name"]: one["sql"] or "" for one in defined if one["type"] == "table"}
    virtual = [name for name, sql in tables.items() if sql.upper().startswith("CREATE VIRTUAL")]
    # What a virtual table keeps for itself depends on the engine's version.
    shadows = {name for name in tables for one in virtual if name.startswith(f"{one}_")}
    return (
        {
            title: sql
            for title, sql in schema.items()
            if title.removeprefix("table ") not in shadows
        },
        {name: await _table(call, binding, name) for name in tables if name not in shadows},
    )


async def _table(call: Caller, binding: str, name: str) -> Table:
    quoted = _quoted(name)
    info = (await call(binding, ["prepare", [f"PRAGMA table_info({quoted})"]], ["all", []]))[
        "results"
    ]
    columns = tuple(one["name"] for one in info)[:_MOST_COLUMNS]
    cells = ", ".join(_CELL.format(_quoted(column)) for column in columns)
    rows: list[tuple[str, ...]] = []
    while True:
        sql = f"SELECT {cells} FROM {quoted} LIMIT {_PAGE} OFFSET {len(rows)}"
        page = await call(binding, ["prepare", [sql]], ["raw", []])
        rows += [tuple(map(_shown, row)) for row in page]
        if len(page) < _PAGE:
            return Table(columns, tuple(rows))


def _shown(cell: Any) -> str:
    match cell:
        case None:
            return "NULL"
        case str():
            kind, value = cell[0], cell[1:]
            return {"t": repr(value), "i": value}.get(kind, f"x'{value}'")
        case _:
            return repr(float(cell)) if isinstance(cell, int | float) else json.dumps(cell)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _as_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return f"0x{value.hex()}"
