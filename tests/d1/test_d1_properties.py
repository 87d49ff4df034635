"""Batches drawn at random, against the same statements run on SQLite directly."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from tests.d1.asking import database, rows

from localedge.d1.memory import MemoryEngine
from localedge.d1.sqlite import complete_statement, open_engine
from localedge.d1.statements import parse
from localedge.errors import JsException

SCHEMA = [
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b TEXT, c NOT NULL DEFAULT 0)",
    "CREATE TABLE child (t REFERENCES t ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED)",
    "CREATE TABLE log (m)",
    "CREATE TRIGGER tr AFTER UPDATE ON t BEGIN INSERT INTO log VALUES (new.id); END",
]


class Bound(NamedTuple):
    sql: str
    values: tuple[Any, ...]


keys = st.integers(1, 6)
values = st.one_of(
    st.none(), st.integers(-3, 3), st.floats(width=32), st.text(max_size=3), st.binary(max_size=3)
)
statements = st.one_of(
    st.builds(lambda k, v: Bound("INSERT INTO t (id, a) VALUES (?, ?)", (k, v)), keys, values),
    st.builds(lambda v: Bound("INSERT INTO t (a, b) VALUES (?1, ?1)", (v,)), values),
    st.builds(lambda k, v: Bound("UPDATE t SET b = ?2 WHERE id >= ?1", (k, v)), keys, values),
    st.builds(lambda k, v: Bound("UPDATE t SET c = ? WHERE id = ?", (v, k)), keys, values),
    st.builds(
        lambda k, v: Bound(
            "INSERT INTO t (id, a) VALUES (:k, :v) ON CONFLICT DO UPDATE SET b = 'again'", (k, v)
        ),
        keys,
        values,
    ),
    st.builds(lambda k: Bound("INSERT INTO child VALUES (?)", (k,)), keys),
    st.builds(lambda k: Bound("DELETE FROM t WHERE id = ? RETURNING *", (k,)), keys),
    st.builds(lambda v: Bound("SELECT * FROM t WHERE a IS ? ORDER BY id", (v,)), values),
    st.just(Bound("SELECT count(*), total(id) FROM t", ())),
)
batches = st.lists(st.lists(statements, min_size=1, max_size=5), min_size=1, max_size=8)


def _plain(value: Any) -> Any:
    """A value as D1 binds it."""
    if isinstance(value, int | float):
        number = float(value)
        return number if number - number == 0 else None
    return value


def _seen(value: Any) -> Any:
    """A value of SQLite as D1 shows it."""
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return value


class Model:
    """SQLite run directly: one transaction per batch."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.execute("PRAGMA foreign_keys=ON")
        for sql in SCHEMA:
            self.connection.execute(sql)

    def batch(self, batch: list[Bound]) -> list[Any] | None:
        """Rows and changes of each statement, or None when it failed."""
        results = []
        self.connection.execute("BEGIN")
        try:
            for sql, values in batch:
                before = self.connection.total_changes
                names = {":k": "?1", ":v": "?2"}
                for name, number in names.items():
                    sql = sql.replace(name, number)
                found = self.connection.execute(sql, [_plain(value) for value in values])
                shown = [[_seen(value) for value in row] for row in found.fetchall()]
                results.append((shown, self.connection.total_changes - before))
            self.connection.execute("COMMIT")
        except sqlite3.Error:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            return None
        return results


async def _batch(db: Any, batch: list[Bound]) -> list[Any] | None:
    prepared = [
        db.prepare(sql).bind(*values) if values else db.prepare(sql) for sql, values in batch
    ]
    try:
        results = await db.batch(prepared)
    except JsException:
        return None
    return [([list(row.values()) for row in r.results], r.meta.changes) for r in results]


async def _compare(db: Any, drawn: list[list[Bound]]) -> None:
    model = Model()
    for sql in SCHEMA:
        await db.prepare(sql).run()

    for batch in drawn:
        assert await _batch(db, batch) == model.batch(batch)

    for table in ("t", "child", "log"):
        query = f"SELECT * FROM {table} ORDER BY rowid"
        expected = [[_seen(v) for v in row] for row in model.connection.execute(query)]
        assert await rows(db, query) == expected
    model.connection.close()


@given(batches)
def test_batches_do_what_sqlite_does_in_one_transaction(drawn: list[list[Bound]]) -> None:
    async def run() -> None:
        engine = MemoryEngine()
        await _compare(database(engine), drawn)
        engine.close()

    asyncio.run(run())


def test_the_same_holds_on_a_file_and_in_the_database_thread() -> None:
    drawn = [
        [
            Bound("INSERT INTO t (id, a) VALUES (?, ?)", (1, 1)),
            Bound("DELETE FROM t WHERE id = ? RETURNING *", (1,)),
        ],
        [Bound("INSERT INTO child VALUES (?)", (5,))],
        [
            Bound("INSERT INTO child VALUES (?)", (5,)),
            Bound("INSERT INTO t (id, a) VALUES (?, ?)", (5, b"x")),
        ],
    ]

    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with open_engine(Path(folder) / "db.sqlite") as engine:
                await _compare(database(engine), drawn)

    asyncio.run(run())


fragments = st.sampled_from(
    [
        *("SELECT 1", "EXPLAIN CREATE", "BEGIN", "END", "END;", "x", "trigger", "?", ";", ";"),
        *("CREATE TRIGGER a BEGIN SELECT 1; END", "create temp trigger", "create\n/**/trigger"),
        *("';'", '"a;b"', "[a;b]", "`a;b`", "-- c;\n", "/* ; */", "'it''s'", "/*", "'", "\n"),
    ]
)


@given(st.lists(fragments, max_size=14))
def test_statements_end_where_sqlite_says_they_are_complete(parts: list[str]) -> None:
    text = " ".join(parts)

    # What is not finished keeps the space that it ends with.
    pieces = [statement.text.strip(" \t\n\f\r") for statement in parse(text).statements]

    assert pieces == [piece for piece in _by_sqlite(text) if _says_something(piece)]


def _by_sqlite(text: str) -> list[str]:
    """The text cut at each `;` at which SQLite finds it complete, empty pieces left to the next."""
    pieces, start = [], 0
    for end in range(1, len(text) + 1):
        piece = text[start:end]
        if piece.endswith(";") and complete_statement(piece) and _says_something(piece):
            pieces.append(piece)
            start = end
    return [piece.strip(" \t\n\f\r") for piece in (*pieces, text[start:])]


def _says_something(piece: str) -> bool:
    while piece:
        piece = piece.lstrip(" \t\n\f\r;")
        if piece.startswith("--"):
            piece = piece.partition("\n")[2]
        elif piece.startswith("/*"):
            piece = piece[2:].partition("*/")[2]
        else:
            return bool(piece)
    return False
