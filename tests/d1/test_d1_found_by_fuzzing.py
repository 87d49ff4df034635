"""What the differential fuzzer found in D1 (docs/fuzzing.md), each once."""

from __future__ import annotations

from typing import Any

import pytest

from localedge.errors import JsException

pytestmark = pytest.mark.anyio


async def test_an_insert_that_fails_at_its_second_row_has_moved_the_last_row_id(db: Any) -> None:
    await db.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, a NOT NULL)")
    await db.exec("CREATE TABLE u (a)")
    with pytest.raises(JsException, match="NOT NULL constraint failed"):
        await db.prepare("INSERT INTO t VALUES (7, 1), (8, NULL)").run()

    seen = await db.prepare("SELECT last_insert_rowid() AS id").all()
    updated = await db.prepare("UPDATE u SET a = 1").run()

    assert (seen.results[0].id, seen.meta.last_row_id) == (7, 7)
    assert (updated.meta.changed_db, updated.meta.last_row_id) == (False, 7)


async def refusal(db: Any, sql: str, *values: Any) -> str:
    statement = db.prepare(sql)
    with pytest.raises(JsException) as caught:
        await (statement.bind(*values) if values else statement).all()
    return caught.value.message.removeprefix("D1_ERROR: ")


@pytest.mark.parametrize("sql", ["BEGIN->>x", "COMMIT x", "SAVEPOINT s t", "ROLLBACK TO s t"])
async def test_a_transaction_with_a_slip_is_told_of_the_slip(db: Any, sql: str) -> None:
    assert "syntax error at offset" in await refusal(db, sql)


@pytest.mark.parametrize("sql", ["\ufeff", "\xa0", "\u2028-- c\u2028", "-- a\r-- b", "\xa0-- c"])
async def test_what_javascript_takes_for_blank_is_no_statement(db: Any, sql: str) -> None:
    assert await refusal(db, sql) == "No SQL statements detected."


@pytest.mark.parametrize("sql", ["\x85", "\x1c"])
async def test_what_only_python_takes_for_blank_is_sent_to_the_engine(db: Any, sql: str) -> None:
    assert "No SQL statements detected." not in await refusal(db, sql)


async def test_a_byte_order_mark_is_space_to_the_engine(db: Any) -> None:
    assert await refusal(db, "\ufeff;") == "SQL code did not contain a statement."
    assert await db.prepare("\ufeffSELECT 1").raw() == [[1]]


@pytest.mark.parametrize(
    ("sql", "name"),
    [("SELECT concat()", "concat"), ("SELECT concat_ws('a')", "concat_ws")],
)
async def test_too_few_arguments_are_told_before_too_many_values(
    db: Any, sql: str, name: str
) -> None:
    text = f"wrong number of arguments to function {name}() at offset 7: SQLITE_ERROR"
    assert await refusal(db, sql, 1, 2) == text


async def test_a_function_that_the_platform_lacks_is_unknown_whatever_its_arguments(
    db: Any,
) -> None:
    text = "no such function: soundex at offset 7: SQLITE_ERROR"
    assert await refusal(db, "SELECT soundex(1, 2)") == text


@pytest.mark.parametrize(("number", "offset"), [("4.36e-26", 19), ("1.5E+3", 17), (".5", 13)])
async def test_a_number_with_an_exponent_is_one_token(db: Any, number: str, offset: int) -> None:
    text = f'near "{number}": syntax error at offset {offset}: SQLITE_ERROR'
    assert await refusal(db, f"SELECT {number} IN {number}") == text


@pytest.mark.parametrize(("sql", "near"), [("$n @m ?1", "$n"), ("?x==@n", "?"), ("?9 :a", "?9")])
async def test_a_parameter_in_the_wrong_place_is_called_what_it_is_in_the_text(
    db: Any, sql: str, near: str
) -> None:
    assert await refusal(db, sql) == f'near "{near}": syntax error at offset 0: SQLITE_ERROR'


@pytest.mark.parametrize("value", [None, 5, True, {"a": 1}, ["SELECT 1"]])
async def test_sql_that_is_no_text_is_refused_and_not_turned_into_one(db: Any, value: Any) -> None:
    with pytest.raises(JsException) as caught:
        await db.prepare(value).bind(1).all()

    assert caught.value.message == "D1_ERROR: Failed to parse body as JSON, got: ZodError"


async def test_a_batch_looks_for_nothing_in_all_of_it_first(db: Any) -> None:
    with pytest.raises(JsException) as caught:
        await db.batch([5, None])

    assert str(caught.value) == "TypeError: Cannot read properties of null (reading 'statement')"


@pytest.mark.parametrize(
    ("sql", "token", "offset"),
    [("x'0 ", "x'0 ", 0), ("; x'0 -- c\n", "x'0 -- c\n", 2), ("SELECT 'a\n ", "'a\n ", 7)],
)
async def test_space_at_the_end_belongs_to_what_is_not_finished(
    db: Any, sql: str, token: str, offset: int
) -> None:
    text = f'unrecognized token: "{token}" at offset {offset}: SQLITE_ERROR'
    assert await refusal(db, sql) == text


@pytest.mark.parametrize("operator", ["->", "->>", "||", "<<", ">>", "<=", ">=", "<>", "==", "!="])
async def test_an_operator_of_several_characters_is_one_token(db: Any, operator: str) -> None:
    text = f'near "{operator}": syntax error at offset {10 + len(operator)}: SQLITE_ERROR'
    assert await refusal(db, f"SELECT 1 {operator} {operator}") == text


async def test_values_belong_to_what_follows_the_last_statement(db: Any) -> None:
    assert await refusal(db, "SELECT 1; -- c", 1) == "SQL code did not contain a statement."
    assert "only the last statement can have parameters" in await refusal(db, "SELECT ?; -- c", 1)
