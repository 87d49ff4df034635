"""What the calls return: rows, names, meta."""

from __future__ import annotations

from typing import Any

import pytest
from tests.d1.asking import meta

from localedge.errors import JsException

pytestmark = pytest.mark.anyio


async def test_all_and_run_return_the_same_shape_in_the_platforms_order(db: Any) -> None:
    result = await db.prepare("SELECT 1 AS a").all()

    assert list(result) == ["success", "meta", "results"]
    assert list(result.meta) == [
        "served_by",
        "served_by_primary",
        "total_attempts",
        "timings",
        "duration",
        "changes",
        "last_row_id",
        "changed_db",
        "size_after",
        "rows_read",
        "rows_written",
    ]
    assert result.results[0].a == 1
    assert list(await db.prepare("SELECT 1 AS a").run()) == list(result)


async def test_columns_of_one_name_keep_the_last_value_at_the_first_place(db: Any) -> None:
    row = await db.prepare("SELECT 1 AS a, 2 AS b, 3 AS a").first()

    assert list(row.items()) == [("a", 3), ("b", 2)]


async def test_columns_named_like_indices_come_first_as_in_javascript(db: Any) -> None:
    row = await db.prepare('SELECT 1 AS a, 2 AS "10", 3 AS "9"').first()

    assert list(row.items()) == [("9", 3), ("10", 2), ("a", 1)]


async def test_raw_keeps_all_columns_and_leads_with_names_on_demand(db: Any) -> None:
    sql = "SELECT 1 AS a, 2 AS a WHERE ?"

    assert await db.prepare(sql).bind(1).raw() == [[1, 2]]
    assert await db.prepare(sql).bind(1).raw(columnNames=True) == [["a", "a"], [1, 2]]
    assert await db.prepare(sql).bind(0).raw({"columnNames": 1}) == [["a", "a"]]


@pytest.mark.parametrize("column", ["zzz", "A", "", 5, None])
async def test_first_of_an_unknown_column_is_not_found(db: Any, column: Any) -> None:
    shown = "null" if column is None else column

    with pytest.raises(JsException) as caught:
        await db.prepare("SELECT 1 AS a").first(column)

    assert caught.value.message == f"D1_COLUMN_NOTFOUND: Column not found ({shown})"
    assert caught.value.cause is not None
    assert caught.value.cause.message == "Column not found"


async def test_first_without_rows_is_none_even_for_an_unknown_column(db: Any) -> None:
    assert await db.prepare("SELECT 1 AS a WHERE 0").first("zzz") is None


async def test_first_runs_the_whole_statement(db: Any) -> None:
    await db.exec("CREATE TABLE t (a)")

    first = await db.prepare("INSERT INTO t VALUES (1), (2), (3) RETURNING a").first("a")

    assert first == 1
    assert await db.prepare("SELECT count(*) AS n FROM t").first("n") == 3


async def test_changes_count_triggers_and_cascades(db: Any) -> None:
    await db.exec(
        "CREATE TABLE p (id INTEGER PRIMARY KEY)\n"
        "CREATE TABLE c (p REFERENCES p ON DELETE CASCADE)\n"
        "CREATE TABLE log (m)\n"
        "CREATE TRIGGER tr AFTER DELETE ON p BEGIN INSERT INTO log VALUES (old.id); END\n"
        "INSERT INTO p VALUES (1)\n"
        "INSERT INTO c VALUES (1), (1)"
    )

    assert (await meta(db, "DELETE FROM p")).changes == 4


@pytest.mark.parametrize(
    ("sql", "changes", "last_row_id", "changed_db"),
    [
        ("SELECT 1", 0, 42, False),
        ("UPDATE t SET a = a", 1, 42, True),
        ("UPDATE t SET a = 1 WHERE id = 99", 0, 42, False),
        ("INSERT OR IGNORE INTO t VALUES (42, 1)", 0, 42, False),
        ("INSERT INTO t VALUES (42, 1) ON CONFLICT DO UPDATE SET a = 2", 1, 42, True),
        ("REPLACE INTO t VALUES (42, 9)", 1, 42, True),
        ("INSERT INTO t(a) VALUES (5)", 1, 43, True),
        ("INSERT INTO w VALUES ('a', 1)", 1, 42, True),
        ("CREATE TABLE z (a)", 0, 42, True),
        ("CREATE VIEW v AS SELECT 1", 0, 42, False),
        ("ALTER TABLE t RENAME TO tt", 0, 42, False),
        ("CREATE VIRTUAL TABLE f USING fts5(a)", 3, 10, True),
    ],
)
async def test_meta_tells_what_a_statement_changed(
    db: Any, sql: str, changes: int, last_row_id: int, changed_db: bool
) -> None:
    await db.exec(
        "CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID\n"
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a)\n"
        "INSERT INTO t VALUES (42, 1)"
    )

    told = await meta(db, sql)

    assert (told.changes, told.last_row_id, told.changed_db) == (changes, last_row_id, changed_db)


async def test_size_after_is_that_of_the_pages_in_use(db: Any) -> None:
    await db.exec("CREATE TABLE t (a)")
    before = (await meta(db, "SELECT 1")).size_after
    await db.prepare("INSERT INTO t VALUES (?)").bind("x" * 100_000).run()
    filled = (await meta(db, "SELECT 1")).size_after

    emptied = (await meta(db, "DELETE FROM t")).size_after

    assert before == emptied == 8192
    assert filled > 100_000


async def test_rows_read_and_written_are_ints_for_every_kind_of_statement(db: Any) -> None:
    told = [
        await meta(db, sql)
        for sql in (
            "CREATE TABLE t (a)",
            "INSERT INTO t VALUES (1), (2)",
            "UPDATE t SET a = 3",
            "SELECT * FROM t",
            "DELETE FROM t",
        )
    ]

    counts = [(m.rows_read, m.rows_written) for m in told]
    assert counts == [(0, 2), (0, 2), (2, 2), (2, 0), (2, 2)]


async def test_a_result_is_a_copy_of_its_own(db: Any) -> None:
    statement = db.prepare("SELECT 1 AS a")
    first = await statement.all()
    first.results[0]["a"] = "changed"

    assert (await statement.all()).results == [{"a": 1}]


async def test_a_change_followed_by_no_statement_leaves_nothing(db: Any) -> None:
    await db.exec("CREATE TABLE t (id INTEGER)")

    with pytest.raises(JsException):
        await db.prepare("INSERT INTO t VALUES (1); -- and more").run()

    assert await db.prepare("SELECT count(*) AS n FROM t").first("n") == 0


async def test_a_change_that_breaks_a_deferred_key_leaves_nothing(db: Any) -> None:
    await db.exec("CREATE TABLE parents (id INTEGER PRIMARY KEY)")
    await db.exec(
        "CREATE TABLE t (id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)"
    )

    with pytest.raises(JsException, match="FOREIGN KEY constraint failed"):
        await db.prepare("INSERT INTO t VALUES (1)").run()

    assert await db.prepare("SELECT count(*) AS n FROM t").first("n") == 0
