"""Several statements, batches, exec, and what the binding itself refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.d1.asking import database, refusal, rows, value

from localedge.d1.sqlite import open_engine
from localedge.errors import JsException

pytestmark = pytest.mark.anyio


async def _message(call: Any) -> str:
    with pytest.raises(JsException) as caught:
        await call
    return f"{caught.value.name}: {caught.value.message}"


async def test_several_statements_give_the_last_ones_rows_and_all_changes(db: Any) -> None:
    await db.exec("CREATE TABLE t (a)")

    result = (
        await db.prepare(
            "INSERT INTO t VALUES (1), (2); UPDATE t SET a = 3; SELECT a FROM t WHERE a = ?"
        )
        .bind(3)
        .all()
    )

    assert result.results == [{"a": 3}, {"a": 3}]
    assert result.meta.changes == 4


async def test_only_the_last_of_several_statements_takes_values(db: Any) -> None:
    text = await refusal(db, "SELECT ?; SELECT 2", 1)

    assert text == (
        "When executing multiple SQL statements in a single call, only the last statement can "
        "have parameters."
    )


async def test_a_failing_statement_undoes_those_before_it_in_its_text(db: Any) -> None:
    await refusal(db, "CREATE TABLE t (a); INSERT INTO nope VALUES (1)")

    assert await refusal(db, "SELECT * FROM t") == "no such table: t: SQLITE_ERROR"


async def test_semicolons_in_triggers_strings_and_comments_do_not_split(db: Any) -> None:
    await db.exec("CREATE TABLE t (a); CREATE TABLE log (m)")
    await db.prepare(
        "CREATE TRIGGER tr AFTER INSERT ON t BEGIN "
        "INSERT INTO log VALUES (';END;'); INSERT INTO log /* ; */ VALUES (new.a); END; "
        "INSERT INTO t VALUES (7)"
    ).run()

    assert await rows(db, "SELECT m FROM log") == [[";END;"], [7]]


async def test_a_batch_sees_its_own_writes_and_returns_results_in_order(db: Any) -> None:
    await db.exec("CREATE TABLE t (a)")
    insert = db.prepare("INSERT INTO t VALUES (?)")

    results = await db.batch(
        [insert.bind(1), insert.bind(2), db.prepare("SELECT sum(a) AS s FROM t")]
    )

    assert [result.results for result in results] == [[], [], [{"s": 3}]]
    assert [result.meta.changes for result in results] == [1, 1, 0]


async def test_a_failing_batch_changes_nothing(db: Any) -> None:
    await db.exec("CREATE TABLE t (a UNIQUE)")
    insert = db.prepare("INSERT INTO t VALUES (?)")

    message = await _message(db.batch([insert.bind(1), insert.bind(1)]))

    assert message.startswith("Error: D1_ERROR: UNIQUE constraint failed: t.a")
    assert await value(db, "SELECT count(*) FROM t") == 0


async def test_comments_in_a_batch_are_left_out_of_its_results(db: Any) -> None:
    results = await db.batch([db.prepare("  -- c"), db.prepare("SELECT 1 AS a")])

    assert [result.results for result in results] == [[{"a": 1}]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "Error: D1_ERROR: No SQL statements detected."),
        ([None], "TypeError: Cannot read properties of null (reading 'statement')"),
        (set(), "TypeError: statements.map is not a function"),
        ("x", "TypeError: statements.map is not a function"),
        ({}, "TypeError: statements.map is not a function"),
        (None, "TypeError: Cannot read properties of null (reading 'map')"),
    ],
)
async def test_a_batch_of_something_else_is_refused(db: Any, given: Any, message: str) -> None:
    assert await _message(db.batch(given)) == message


async def test_only_text_and_values_of_a_batchs_statements_count(db: Any) -> None:
    results = await db.batch([{"statement": "SELECT ? AS a", "params": [1]}])

    assert results[0].results == [{"a": 1}]


async def test_a_statement_of_another_database_runs_where_the_batch_does(
    db: Any, tmp_path: Path
) -> None:
    async with open_engine(tmp_path / "other.sqlite") as other_engine:
        other = database(other_engine)
        await other.exec("CREATE TABLE here (a)")

        results = await db.batch([other.prepare("SELECT count(*) AS n FROM sqlite_master")])

    assert results[0].results == [{"n": 0}]


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT 1\nSELECT 2", 2),
        ("\n SELECT 1; SELECT 2;\r\n\r\n-- c\n   -- d\nSELECT 3\r\n", 2),
        ("CREATE TABLE t (a)\nCREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END", 2),
    ],
)
async def test_exec_counts_the_lines_that_are_queries(db: Any, sql: str, count: int) -> None:
    result = await db.exec(sql)

    assert result.count == count
    assert list(result) == ["count", "duration"]


@pytest.mark.parametrize(
    ("sql", "line", "text"),
    [
        ("CREATE TABLE e (\n x\n)", "CREATE TABLE e (", "incomplete input: SQLITE_ERROR"),
        ("SELECT 1\nSELEC", "SELECT 1", 'near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
        ("", "", "No SQL statements detected."),
        (" \n ", "", "No SQL statements detected."),
        ("SELECT ?", "SELECT ?", "Wrong number of parameter bindings for SQL query."),
    ],
)
async def test_exec_names_the_first_line_whichever_failed(
    db: Any, sql: str, line: str, text: str
) -> None:
    with pytest.raises(JsException) as caught:
        await db.exec(sql)

    assert caught.value.message == f"D1_EXEC_ERROR: Error in line 1: {line}: {text}"
    assert caught.value.cause is not None
    assert caught.value.cause.message == f"Error in line 1: {line}: {text}"


async def test_exec_needs_a_text(db: Any) -> None:
    assert await _message(db.exec(None)) == (
        "TypeError: Cannot read properties of null (reading 'trim')"
    )
    assert await _message(db.exec(5)) == "TypeError: query.trim is not a function"


async def test_a_failing_line_of_exec_undoes_the_others(db: Any) -> None:
    await _message(db.exec("CREATE TABLE t (a)\nSELEC"))

    assert await refusal(db, "SELECT * FROM t") == "no such table: t: SQLITE_ERROR"


async def _family(db: Any) -> None:
    await db.exec("CREATE TABLE p (id INTEGER PRIMARY KEY)\nCREATE TABLE c (p REFERENCES p)")


async def test_deferred_foreign_keys_are_checked_at_the_end_of_the_call(db: Any) -> None:
    await _family(db)
    child_first = ["PRAGMA defer_foreign_keys=on", "INSERT INTO c VALUES (1)"]

    await db.batch([db.prepare(sql) for sql in [*child_first, "INSERT INTO p VALUES (1)"]])
    message = await _message(
        db.batch([db.prepare(sql) for sql in [child_first[0], "INSERT INTO c VALUES (2)"]])
    )

    assert message == (
        "Error: D1_ERROR: FOREIGN KEY constraint failed: SQLITE_CONSTRAINT "
        "(extended: SQLITE_CONSTRAINT_FOREIGNKEY)"
    )
    assert await rows(db, "SELECT p FROM c") == [[1]]


async def test_deferral_ends_with_its_call(db: Any) -> None:
    await _family(db)
    await db.prepare("PRAGMA defer_foreign_keys=on").run()

    assert (await refusal(db, "INSERT INTO c VALUES (1); INSERT INTO p VALUES (1)")).startswith(
        "FOREIGN KEY constraint failed"
    )


async def test_dump_and_query_fail_as_they_do_on_the_platform(db: Any) -> None:
    with pytest.raises(JsException) as caught:
        await db.dump()
    assert caught.value.message == "D1_DUMP_ERROR: Status + 404"
    assert caught.value.cause is not None
    assert caught.value.cause.message == "Status 404"
    assert (await _message(db.query("SELECT 1"))).startswith(
        "Error: D1_ERROR: D1Database.query() requires the d1_binding_jsrpc compatibility flag."
    )


async def test_preparing_asks_nothing_of_the_database(path: Path) -> None:
    async with open_engine(path) as engine:
        statement = database(engine).prepare("SELEC").bind(1, 2, 3)

    assert await _message(statement.run()) == "Error: D1_ERROR: Network connection lost."
