"""Where in a text an error is."""

from __future__ import annotations

from typing import Any

import pytest
from tests.d1.asking import refusal

pytestmark = pytest.mark.anyio
_TRIGGER = "AFTER INSERT ON t BEGIN SELECT 1; END"


# Answers of SQLite 3.53.4 (sqlite3_error_offset), read 2026-12-01.
@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("  SELEC 1", 'near "SELEC": syntax error at offset 2'),
        ("SELECT 1 1", 'near "1": syntax error at offset 9'),
        ("SELECT 'é', 2 2", 'near "2": syntax error at offset 15'),
        ("; + 1", 'near "+": syntax error at offset 2'),
        ("/* c */ EXPLAIN x", 'near "x": syntax error at offset 16'),
        ("SELECT #1", 'near "#1": syntax error at offset 7'),
        ("SELECT @", 'unrecognized token: "@" at offset 7'),
        ("SELECT [a", 'unrecognized token: "[a" at offset 7'),
        ("SELECT 1, t.x FROM t", "no such column: t.x at offset 10"),
        ("SELECT a FROM t, t AS u", "ambiguous column name: a at offset 7"),
        ('SELECT 1, "t"."x" FROM t', "no such column: t.x at offset 10"),
        ("SELECT a FROM t LIMIT x", "no such column: x at offset 22"),
        ("SELECT 'x()', x()", "no such function: x at offset 14"),
        ("SELECT count(count(*))", "misuse of aggregate function count()"),
        ("CREATE TABLE x (a CHECK (y > 1))", "no such column: y at offset 25"),
        # workerd 2026-11-17 leaves out the space before a later statement, and nothing else.
        ("SELECT 1; \n SELEC", 'near "SELEC": syntax error at offset 0'),
        (
            f"CREATE TRIGGER r {_TRIGGER}; CREATE TRIGGER r {_TRIGGER}",
            "trigger r already exists at offset 15",
        ),
        ("SELECT 1; /* c */ SELEC", 'near "SELEC": syntax error at offset 8'),
        ("SELECT \ud800", "no such column: \ufffd\ufffd\ufffd at offset 7"),
    ],
)
async def test_an_error_tells_its_place_in_its_statement(db: Any, sql: str, text: str) -> None:
    await db.exec("CREATE TABLE t (a)")

    assert await refusal(db, sql) == f"{text}: SQLITE_ERROR"


@pytest.mark.parametrize(
    "sql", ["INSERT INTO nope VALUES (1)", "CREATE TABLE x (a, a)", "SELECT (", "DROP TABLE nope"]
)
async def test_an_error_that_is_about_the_whole_has_no_place(db: Any, sql: str) -> None:
    assert "offset" not in await refusal(db, sql)


async def test_a_name_in_two_places_has_no_place(db: Any) -> None:
    text = await refusal(db, "SELECT x, x")

    assert text == "no such column: x: SQLITE_ERROR"
