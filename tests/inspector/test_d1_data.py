"""What the page shows of D1 is what is stored, and its console knows D1's rules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from localedge import clock
from localedge.d1.engine import Engine
from localedge.errors import OperatorError
from localedge.inspector import d1_console as console
from localedge.inspector import d1_data as data
from localedge.inspector.d1_models import Asked, Cut, Ran
from localedge.inspector.d1_places import Databases, Place, places
from localedge.project.models import D1Database, Project

pytestmark = pytest.mark.anyio


def project(root: Path, name: str = "w", binding: str = "DB") -> Project:
    return Project(
        root=root,
        file=root / "wrangler.toml",
        name=name,
        main=None,
        d1_databases=(
            D1Database(binding=binding, database_id="shop", migrations_dir="migrations"),
        ),
    )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return places([project(tmp_path)], tmp_path / "state")["shop"]


@pytest.fixture
async def databases() -> AsyncIterator[Databases]:
    opened = Databases()
    yield opened
    await opened.aclose()


@pytest.fixture
async def engine(databases: Databases, place: Place) -> Engine:
    return await databases.engine(place)


async def ran(engine: Engine, sql: str, *params: str | int | float | None) -> Ran:
    return await console.run(engine, Asked(sql=sql, params=params))


async def test_a_database_of_two_workers_is_shown_once_and_is_not_made_by_looking(
    tmp_path: Path,
) -> None:
    both = [project(tmp_path, "one"), project(tmp_path, "two", "STORE")]

    (place,) = places(both, tmp_path / "state").values()

    shown = place.shown()
    assert [(b.worker, b.binding) for b in shown.bindings] == [("one", "DB"), ("two", "STORE")]
    assert shown.size_bytes is None
    assert not (tmp_path / "state").exists()


async def test_looking_into_a_database_that_was_never_used_says_what_to_do(
    databases: Databases, place: Place
) -> None:
    with pytest.raises(OperatorError, match="never been used"):
        await databases.used(place)

    assert not place.file.exists()


async def test_another_file_in_its_place_is_opened_anew(
    databases: Databases, place: Place, tmp_path: Path
) -> None:
    await ran(await databases.engine(place), "CREATE TABLE old (a)")
    place.file.rename(tmp_path / "moved")

    engine = await databases.engine(place)

    assert await data.tables(engine) == ()


async def test_a_table_is_shown_with_columns_indexes_triggers_and_count(engine: Engine) -> None:
    await ran(
        engine,
        "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, age INT "
        "DEFAULT 7); CREATE INDEX by_age ON users (age, lower(email)); "
        "CREATE VIEW grown AS SELECT * FROM users WHERE age > 17; "
        "INSERT INTO users (email) VALUES ('a'), ('b'); "
        "CREATE TRIGGER t AFTER DELETE ON users BEGIN SELECT 1; END",
    )

    users, grown = await data.tables(engine)

    assert [(c.name, c.type, c.is_required, c.default, c.key) for c in users.columns] == [
        ("id", "INTEGER", False, None, 1),
        ("email", "TEXT", True, None, 0),
        ("age", "INT", False, "7", 0),
    ]
    assert (users.rows, users.kind, grown.kind, grown.name) == (2, "table", "view", "grown")
    by_age = next(index for index in users.indexes if index.name == "by_age")
    assert (by_age.columns, by_age.is_unique) == (("age", "(expression)"), False)
    assert len(users.triggers) == 1
    assert users.sql.startswith("CREATE TABLE users")


async def test_the_platforms_own_tables_are_not_shown(engine: Engine) -> None:
    await ran(engine, "CREATE TABLE a (b INTEGER PRIMARY KEY AUTOINCREMENT)")
    await engine.bookmark()

    shown = await data.tables(engine)

    assert [table.name for table in shown] == ["a"]


async def test_a_view_of_a_table_that_is_gone_does_not_hide_the_others(engine: Engine) -> None:
    await ran(engine, "CREATE TABLE a (b); CREATE VIEW v AS SELECT * FROM a; CREATE TABLE c (d)")
    await ran(engine, "DROP TABLE a")

    shown = await data.tables(engine)

    assert [(t.name, t.columns != ()) for t in shown] == [("c", True), ("v", False)]


async def test_rows_come_in_pages_in_the_order_asked_for(engine: Engine) -> None:
    await ran(engine, 'CREATE TABLE "odd ""name" ("a b")')
    await ran(engine, 'INSERT INTO "odd ""name" VALUES (1), (2), (3)')

    first = await data.rows(engine, 'odd "name', order="a b", is_descending=True, limit=2)
    rest = await data.rows(engine, 'odd "name', order="a b", is_descending=True, limit=2, skip=2)

    assert (first.rows, first.more) == (((3,), (2,)), True)
    assert (rest.rows, rest.more, rest.columns) == (((1,),), False, ("a b",))


async def test_long_values_and_blobs_are_cut(engine: Engine) -> None:
    await ran(engine, "CREATE TABLE t (a, b, c)")
    await ran(engine, "INSERT INTO t VALUES (?, x'00ff', 1.5)", "x" * 600)

    found = await data.rows(engine, "t")

    assert found.rows == (
        (Cut(kind="text", part="x" * 500, size=600), Cut(kind="blob", part="00ff", size=2), 1.5),
    )


async def test_rows_of_no_table_are_refused_in_the_words_of_d1(engine: Engine) -> None:
    with pytest.raises(OperatorError, match="D1_ERROR: no such table: nothing: SQLITE_ERROR"):
        await data.rows(engine, "nothing")


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELEC 1", 'D1_ERROR: near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
        ("ATTACH 'x' AS y", "D1_ERROR: not authorized: SQLITE_AUTH"),
        ("PRAGMA journal_mode", "D1_ERROR: not authorized: SQLITE_AUTH"),
        ("SELECT median(1)", "D1_ERROR: no such function: median"),
        ("-- nothing", "D1_ERROR: No SQL statements detected."),
        ("SELECT ?", "D1_ERROR: Wrong number of parameter bindings for SQL query."),
    ],
)
async def test_the_console_refuses_what_d1_refuses_with_its_text(
    engine: Engine, sql: str, text: str
) -> None:
    result = await ran(engine, sql)

    assert result.error is not None
    assert result.error.startswith(text)
    assert result.answers == ()


async def test_the_console_answers_each_statement(engine: Engine) -> None:
    result = await ran(
        engine,
        "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); SELECT a AS x, a AS x FROM t "
        "WHERE a > ?",
        1,
    )

    made, added, read = result.answers
    assert made.rows == ()
    assert (added.changes, added.last_row_id) == (2, 2)
    assert (read.columns, read.rows, read.count) == (("x", "x"), ((2, 2),), 1)


async def test_of_several_statements_one_that_fails_leaves_nothing(engine: Engine) -> None:
    result = await ran(engine, "CREATE TABLE t (a); INSERT INTO t VALUES (1); INSERT INTO u (a)")

    assert result.place.startswith("Statement 3 of 3 failed, nothing was changed: INSERT INTO u")
    assert await data.tables(engine) == ()


async def test_the_console_does_not_fetch_more_than_fits(engine: Engine) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

    result = await ran(engine, f"{endless} -- all of them")
    some = await ran(engine, f"{endless} LIMIT 1000;")

    assert result.error is not None
    assert "More than 20,000 rows" in result.error
    assert (some.answers[0].count, len(some.answers[0].rows)) == (1000, console.MOST_ANSWERED)


async def test_sql_goes_by_the_time_of_the_workers(engine: Engine) -> None:
    with clock.ahead(86_400 * 400):
        result = await ran(engine, "SELECT unixepoch() - ?", int(clock.now()) - 86_400 * 400)

    assert abs(float(str(result.answers[0].rows[0][0])) - 86_400 * 400) < 5


async def test_a_plan_says_which_tables_are_read_whole(engine: Engine) -> None:
    await ran(engine, "CREATE TABLE t (a PRIMARY KEY, b)")

    whole = await console.plan(engine, Asked(sql="SELECT * FROM t WHERE b = 1"))
    by_key = await console.plan(engine, Asked(sql="SELECT * FROM t WHERE a = ?", params=(1,)))

    assert [(node.depth, node.is_scan) for node in whole.nodes] == [(0, True)]
    assert [node.is_scan for node in by_key.nodes] == [False]
    assert by_key.nodes[0].text.startswith("SEARCH t USING INDEX")


async def test_the_plan_of_what_cannot_run_is_refused_in_the_words_of_d1(engine: Engine) -> None:
    refused = await console.plan(engine, Asked(sql="SELECT * FROM absent"))
    wrong = await console.plan(engine, Asked(sql="SELECT * FRM t"))

    assert refused.error == "D1_ERROR: no such table: absent: SQLITE_ERROR"
    assert wrong.error == 'D1_ERROR: near "FRM": syntax error at offset 9: SQLITE_ERROR'


async def test_migrations_are_pending_until_they_are_applied(
    databases: Databases, place: Place, tmp_path: Path
) -> None:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_create_a.sql").write_text("CREATE TABLE a (b);")
    (folder / "0002_create_c.sql").write_text("CREATE TABLE c (d);")
    before = await data.migrations(databases, place)

    applied = await console.apply_migrations(databases, place)

    after = await data.migrations(databases, place)
    assert [(m.name, m.applied_at) for m in before.migrations] == [
        ("0001_create_a.sql", None),
        ("0002_create_c.sql", None),
    ]
    assert [one.name for one in applied] == ["0001_create_a.sql", "0002_create_c.sql"]
    assert after.pending == 0
    assert all(m.applied_at for m in after.migrations)


async def test_looking_at_migrations_makes_neither_file_nor_ledger(
    databases: Databases, place: Place, tmp_path: Path
) -> None:
    (tmp_path / "migrations").mkdir()

    shown = await data.migrations(databases, place)

    assert (shown.folder, shown.migrations) == ("migrations", ())
    assert not place.file.exists()


async def test_a_migration_that_was_applied_and_has_no_file_is_shown(
    databases: Databases, place: Place, tmp_path: Path
) -> None:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_create_a.sql").write_text("CREATE TABLE a (b);")
    await console.apply_migrations(databases, place)
    (folder / "0001_create_a.sql").unlink()

    shown = await data.migrations(databases, place)

    assert [(m.name, m.has_file) for m in shown.migrations] == [("0001_create_a.sql", False)]
