"""Values into D1 and out of it, and how parameters are filled."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from tests.d1.asking import refusal, rows, value

from localedge.errors import JsException

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("given", "found", "kind"),
    [
        (None, None, "null"),
        (True, 1, "real"),
        (False, 0, "real"),
        (1, 1, "real"),
        (1.5, 1.5, "real"),
        (2**53 - 2, 2**53 - 2, "real"),
        (float("nan"), None, "null"),
        (float("-inf"), None, "null"),
        ("é😀", "é😀", "text"),
        ("a\0b", "a\0b", "text"),
        ("\ud800x", "\ufffd\ufffd\ufffdx", "text"),
        (b"\x01\xff", [1, 255], "blob"),
        (memoryview(b"ab"), [97, 98], "blob"),
        ([], [], "blob"),
        ([1.9, 255], [1, 255], "blob"),
    ],
)
async def test_a_value_is_bound_as_the_platform_binds_it(
    db: Any, given: Any, found: Any, kind: str
) -> None:
    row = await rows(db, "SELECT ?1, typeof(?1)", given)

    assert row == [[found, kind]]
    assert type(row[0][0]) is type(found)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (2**53, "Type 'bigint' not supported for value '9007199254740992'"),
        ({"a": 1}, "Type 'object' not supported for value '[object Object]'"),
        (object(), "Type 'object' not supported for value '[object Object]'"),
        ([256], "Type 'object' not supported for value '256'"),
        ([1, -1], "Type 'object' not supported for value '1,-1'"),
        ([True], "Type 'object' not supported for value 'true'"),
        ([[1], None], "Type 'object' not supported for value '1,'"),
        (
            datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC),
            "Type 'object' not supported for value "
            "'Tue Jan 02 2024 00:00:00 GMT+0000 (Coordinated Universal Time)'",
        ),
    ],
)
async def test_a_value_that_d1_cannot_hold_is_refused_by_bind(
    db: Any, given: Any, text: str
) -> None:
    statement = db.prepare("SELECT ?")

    with pytest.raises(JsException) as caught:
        statement.bind(given)

    assert caught.value.message == f"D1_TYPE_ERROR: {text}"
    assert caught.value.cause is not None
    assert caught.value.cause.message == text


async def test_keyword_arguments_of_bind_are_one_object(db: Any) -> None:
    with pytest.raises(JsException, match=r"value '\[object Object\]'"):
        db.prepare("SELECT ?").bind(a=1)


@pytest.mark.parametrize(
    ("literal", "found"),
    [
        ("9007199254740991", 9007199254740991),
        ("9007199254740993", 9007199254740992.0),
        ("-9223372036854775808", -9.223372036854776e18),
        ("2.0", 2),
        ("0.1 + 0.2", 0.30000000000000004),
        ("9e999", None),
        ("-9e999", None),
        ("x''", []),
        ("CAST(x'61ff' AS TEXT)", "a\ufffd"),
    ],
)
async def test_a_value_comes_out_as_the_platform_shows_it(
    db: Any, literal: str, found: Any
) -> None:
    shown = await value(db, f"SELECT {literal}")

    assert shown == found
    assert type(shown) is type(found)


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        ("INTEGER", [1, "integer"]),
        ("NUMERIC", [1, "integer"]),
        ("TEXT", ["1.0", "text"]),
        ("REAL", [1, "real"]),
        ("BLOB", [1, "real"]),
        ("", [1, "real"]),
    ],
)
async def test_an_int_takes_the_affinity_of_its_column_from_real(
    db: Any, declared: str, found: list[Any]
) -> None:
    await db.exec(f"CREATE TABLE t (a {declared})")
    await db.prepare("INSERT INTO t VALUES (?)").bind(1).run()

    assert await rows(db, "SELECT a, typeof(a) FROM t") == [found]


@pytest.mark.parametrize(
    ("sql", "values", "found"),
    [
        ("SELECT ?, ?1, ?", ["x", "y"], ["x", "x", "y"]),
        ("SELECT ?2, ?1", ["x", "y"], ["y", "x"]),
        ("SELECT ?2", ["x", "y"], ["y"]),
        ("SELECT :a, :b, :a", ["x", "y"], ["x", "y", "x"]),
        ("SELECT @a, :a, $a", ["x", "y", "z"], ["x", "y", "z"]),
        ("SELECT :a, ?, $b, :a", ["x", "y", "z"], ["x", "y", "z", "x"]),
        ("SELECT $a::b(c)", ["x"], ["x"]),
        ("SELECT ':a', \"?\", '--?', /* ? */ ? -- ?", ["x"], [":a", "?", "--?", "x"]),
        ("SELECT ? AS [?], 'it''s ?'", ["x"], ["x", "it's ?"]),
    ],
)
async def test_parameters_are_filled_in_order_of_first_appearance(
    db: Any, sql: str, values: list[Any], found: list[Any]
) -> None:
    assert await rows(db, sql, *values) == [found]


async def test_a_named_parameter_keeps_its_name_as_the_columns_name(db: Any) -> None:
    assert await db.prepare("SELECT :a").bind(1).first() == {":a": 1}


async def test_a_name_beside_numbers_is_the_columns_name_too(db: Any) -> None:
    row = await db.prepare("SELECT :a, ?1, @b, ?, '?'").bind(1, 2, 3).first()

    assert row == {":a": 1, "?1": 1, "@b": 2, "?3": 3, "'?'": "?"}


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("SELECT ?", []),
        ("SELECT ?", [1, 2]),
        ("SELECT 1", [1]),
        ("SELECT ?2", [1]),
        ("SELECT :a", [1, 2]),
        ("SELECT :a, :b", [1]),
        ("SELECT :a", []),
        ("SELECT 1; SELECT ?", []),
    ],
)
async def test_a_wrong_number_of_values_is_refused(db: Any, sql: str, values: list[Any]) -> None:
    text = await refusal(db, sql, *values)

    assert text == "Wrong number of parameter bindings for SQL query."


async def test_an_error_in_the_text_comes_before_a_wrong_number_of_values(db: Any) -> None:
    assert (await refusal(db, "SELEC ?", 1, 2)).startswith('near "SELEC"')


@pytest.mark.parametrize("number", ["?0", "?101", "?" + "9" * 5000])
async def test_a_parameter_number_out_of_range_is_refused(db: Any, number: str) -> None:
    text = await refusal(db, f"SELECT {number}", 1)

    assert text == "variable number must be between ?1 and ?100 at offset 7: SQLITE_ERROR"


async def test_bind_makes_a_new_statement_and_replaces_what_was_bound(db: Any) -> None:
    statement = db.prepare("SELECT ? AS a")
    first = statement.bind(1)
    second = first.bind(2)

    assert (await first.first("a"), await second.first("a")) == (1, 2)
    assert await refusal(db, statement.statement) == (
        "Wrong number of parameter bindings for SQL query."
    )


async def test_a_statement_shows_its_text_and_its_values(db: Any) -> None:
    statement = db.prepare("SELECT ?, ?").bind(b"a", 1)

    assert statement.statement == "SELECT ?, ?"
    assert statement.params == [[97], 1]
    assert type(db.prepare("SELECT ?").bind(True).params[0]) is int
