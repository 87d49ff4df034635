"""Which statements D1 allows, and how it refuses the others."""

from __future__ import annotations

from typing import Any

import pytest
from tests.d1.asking import refusal, rows

from localedge.d1.statements import OWN_MARK

pytestmark = pytest.mark.anyio

NOT_AUTHORIZED = "not authorized: SQLITE_AUTH"


async def _tables(db: Any) -> None:
    await db.exec(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)\n"
        "CREATE INDEX i ON t (a)\n"
        "INSERT INTO t VALUES (1, 'x'), (2, 'y')"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "BEGIN",
        "begin immediate",
        "COMMIT",
        "END",
        "ROLLBACK",
        "SAVEPOINT s",
        "RELEASE s",
        "ROLLBACK TO s",
        "EXPLAIN BEGIN",
        "/* c */ BEGIN",
    ],
)
async def test_a_transaction_of_the_workers_own_is_refused(db: Any, sql: str) -> None:
    assert (await refusal(db, sql)).startswith("To execute a transaction, please use the state.")


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH ':memory:' AS x",
        "ATTACH '' AS x",
        "DETACH main",
        "CREATE TEMP TABLE x (a)",
        "CREATE TEMPORARY VIEW x AS SELECT 1",
        "CREATE TEMP TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END",
        "CREATE TABLE temp.x (a)",
        "CREATE TABLE _cf_x (a)",
        "CREATE TABLE main._CF_x (a)",
        'CREATE TABLE IF NOT EXISTS "_cf_x" (a)',
        "CREATE INDEX _cf_x ON t (a)",
        "CREATE VIEW _cf_x AS SELECT 1",
        "CREATE TRIGGER _cf_x AFTER INSERT ON t BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE _cf_x USING fts5(a)",
        "ALTER TABLE t RENAME TO _cf_x",
        'ALTER TABLE t RENAME TO "_CF_x"',
        "ALTER TABLE t RENAME /* to */ TO [_cf_x]",
        "CREATE VIRTUAL TABLE x USING fts4(a)",
        "CREATE VIRTUAL TABLE x USING fts3(a)",
        "CREATE VIRTUAL TABLE x USING dbstat",
    ],
)
async def test_what_reaches_outside_the_database_or_inside_the_platform_is_refused(
    db: Any, sql: str
) -> None:
    await _tables(db)

    assert await refusal(db, sql) == NOT_AUTHORIZED


async def test_the_platforms_own_table_is_out_of_reach(db: Any) -> None:
    session = db.withSession()
    await session.prepare("SELECT 1").run()

    assert await refusal(db, "SELECT * FROM _cf_METADATA") == (
        "access to _cf_METADATA.key is prohibited: SQLITE_AUTH"
    )
    for sql in (
        "INSERT INTO _cf_METADATA VALUES (1, 1)",
        "UPDATE _cf_METADATA SET value = 1",
        "DELETE FROM _cf_METADATA",
        "DROP TABLE _cf_METADATA",
        "ALTER TABLE _cf_METADATA RENAME TO x",
        "CREATE INDEX x ON _cf_METADATA (value)",
    ):
        assert "SQLITE_AUTH" in await refusal(db, sql)


@pytest.mark.parametrize("sql", ["VACUUM", "VACUUM INTO 'x.db'"])
async def test_vacuum_is_refused_because_every_call_is_a_transaction(db: Any, sql: str) -> None:
    assert await refusal(db, sql) == "cannot VACUUM from within a transaction: SQLITE_ERROR"


@pytest.mark.parametrize(
    "sql",
    [
        "ANALYZE",
        "REINDEX",
        "EXPLAIN SELECT 1",
        "CREATE VIEW v AS SELECT * FROM t",
        "CREATE TRIGGER tr AFTER INSERT ON t BEGIN UPDATE t SET a = 'z'; END",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<3) SELECT 1 FROM r",
        "SELECT row_number() OVER (ORDER BY id) FROM t",
        "CREATE TABLE g (a INTEGER PRIMARY KEY, b INT GENERATED ALWAYS AS (a * 2)) STRICT",
        "CREATE TABLE w (a PRIMARY KEY) WITHOUT ROWID",
        "SELECT * FROM t FULL JOIN t AS u ON t.id = u.id",
        "INSERT INTO t VALUES (1, 'z') ON CONFLICT DO UPDATE SET a = excluded.a RETURNING *",
        "DELETE FROM t ORDER BY id LIMIT 1",
        "UPDATE t SET a = 'z' LIMIT 1",
        "ALTER TABLE t RENAME TO u",
        "ALTER TABLE t RENAME COLUMN a TO _cf_a",
        "ALTER TABLE t ADD COLUMN z DEFAULT 5",
        "DROP INDEX i",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM sqlite_schema",
        "SELECT name FROM pragma_table_info('t')",
        "SELECT * FROM pragma_table_list",
        "CREATE VIRTUAL TABLE f USING FTS5(a)",
        "CREATE VIRTUAL TABLE f USING rtree(id, a, b)",
        "CREATE VIRTUAL TABLE f USING rtree_i32(id, a, b)",
        'SELECT "a double-quoted string"',
        "SELECT * FROM json_each('[1]'), json_tree('[1]')",
    ],
)
async def test_ordinary_sql_is_allowed(db: Any, sql: str) -> None:
    await _tables(db)

    result = await db.prepare(sql).run()

    assert result.success is True


async def test_a_column_can_be_dropped(db: Any) -> None:
    await _tables(db)
    await db.exec("ALTER TABLE t ADD COLUMN z; ALTER TABLE t DROP COLUMN z")

    assert await rows(db, "SELECT name FROM pragma_table_info('t')") == [["id"], ["a"]]


async def test_full_text_search_works(db: Any) -> None:
    await db.exec(
        "CREATE VIRTUAL TABLE f USING fts5(a)\n"
        "CREATE VIRTUAL TABLE v USING fts5vocab(f, row)\n"
        "INSERT INTO f VALUES ('hello world')"
    )

    found = await rows(
        db,
        "SELECT highlight(f, 0, '<', '>'), snippet(f, 0, '[', ']', '', 1), bm25(f) < 0 "
        "FROM f WHERE f MATCH 'hello'",
    )

    assert found == [["<hello> world", "[hello]", 1]]
    assert await rows(db, "SELECT term FROM v ORDER BY term") == [["hello"], ["world"]]


@pytest.mark.parametrize(
    "own",
    [
        f"BEGIN IMMEDIATE {OWN_MARK}",
        f"COMMIT {OWN_MARK}",
        f"PRAGMA page_count {OWN_MARK}",
        f"ROLLBACK {OWN_MARK}",
        f"SELECT 1; COMMIT {OWN_MARK}",
    ],
)
async def test_a_statement_equal_to_one_of_ours_does_not_pass(db: Any, own: str) -> None:
    await _tables(db)

    assert await refusal(db, own) == NOT_AUTHORIZED


@pytest.mark.parametrize(
    "setting", ["journal_mode=WAL", "synchronous=NORMAL", "user_version=1", "user_version=0"]
)
async def test_a_setting_of_ours_is_refused_in_the_same_words(db: Any, setting: str) -> None:
    assert await refusal(db, f"PRAGMA {setting}") == NOT_AUTHORIZED


async def test_a_statement_of_ours_without_its_mark_is_looked_at_anew(db: Any) -> None:
    await _tables(db)

    assert await refusal(db, "PRAGMA page_count") == NOT_AUTHORIZED
    assert await refusal(db, "PRAGMA page_count ") == NOT_AUTHORIZED
    assert (await refusal(db, "COMMIT")).startswith("To execute a transaction")
