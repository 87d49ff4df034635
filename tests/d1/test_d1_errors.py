"""The texts of D1's errors, and its limits at the documented figures."""

from __future__ import annotations

from typing import Any

import pytest
from tests.d1.asking import refusal, rows, value

pytestmark = pytest.mark.anyio


async def _tables(db: Any) -> None:
    await db.exec(
        "CREATE TABLE u (id INTEGER PRIMARY KEY, e TEXT UNIQUE NOT NULL CHECK (length(e) < 5))\n"
        "CREATE TABLE c (u REFERENCES u)\n"
        "CREATE TABLE st (i INTEGER) STRICT\n"
        "CREATE TABLE r (a)\n"
        "CREATE TRIGGER tr BEFORE INSERT ON r BEGIN SELECT RAISE(ABORT, 'no way'); END\n"
        "INSERT INTO u VALUES (1, 'a')"
    )


CONSTRAINT = "SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_"


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELEC 1", 'near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
        ("SELECT (", "incomplete input: SQLITE_ERROR"),
        ("SELECT 'x", 'unrecognized token: "\'x" at offset 7: SQLITE_ERROR'),
        ("SELECT * FROM nope", "no such table: nope: SQLITE_ERROR"),
        ("SELECT nope FROM u", "no such column: nope at offset 7: SQLITE_ERROR"),
        ("SELECT nope()", "no such function: nope at offset 7: SQLITE_ERROR"),
        ("SELECT abs()", "wrong number of arguments to function abs() at offset 7: SQLITE_ERROR"),
        ("INSERT INTO u VALUES (2, 'a')", f"UNIQUE constraint failed: u.e: {CONSTRAINT}UNIQUE)"),
        (
            "INSERT INTO u VALUES (1, 'b')",
            f"UNIQUE constraint failed: u.id: {CONSTRAINT}PRIMARYKEY)",
        ),
        (
            "INSERT INTO u VALUES (2, NULL)",
            f"NOT NULL constraint failed: u.e: {CONSTRAINT}NOTNULL)",
        ),
        (
            "INSERT INTO u VALUES (2, 'abcde')",
            f"CHECK constraint failed: length(e) < 5: {CONSTRAINT}CHECK)",
        ),
        ("INSERT INTO c VALUES (9)", f"FOREIGN KEY constraint failed: {CONSTRAINT}FOREIGNKEY)"),
        ("INSERT INTO r VALUES (1)", f"no way: {CONSTRAINT}TRIGGER)"),
        (
            "INSERT INTO st VALUES (1.5)",
            f"cannot store REAL value in INTEGER column st.i: {CONSTRAINT}DATATYPE)",
        ),
        ("INSERT INTO u VALUES ('x', 'b')", "datatype mismatch: SQLITE_MISMATCH"),
        ("SELECT json('{')", "malformed JSON: SQLITE_ERROR"),
        ("SELECT 1 WHERE 'x' REGEXP 'y'", "no such function: REGEXP: SQLITE_ERROR"),
        ("DROP TABLE sqlite_master", "table sqlite_master may not be dropped: SQLITE_ERROR"),
        (
            "CREATE TABLE sqlite_x (a)",
            "object name reserved for internal use: sqlite_x: SQLITE_ERROR",
        ),
    ],
)
async def test_an_error_has_the_platforms_text(db: Any, sql: str, text: str) -> None:
    await _tables(db)

    assert await refusal(db, sql) == text


@pytest.mark.parametrize("sql", ["", "  \n", "-- c", "   -- c\n-- d\n"])
async def test_a_text_without_anything_in_it_has_no_statements(db: Any, sql: str) -> None:
    assert await refusal(db, sql) == "No SQL statements detected."


@pytest.mark.parametrize(
    "sql",
    [";", ";;;", "/* c */", "SELECT 1; -- c", "SELECT 1; /* c */", "SELECT 1;;", "SELECT 1\0x"],
)
async def test_a_text_or_tail_that_is_no_statement_says_so(db: Any, sql: str) -> None:
    assert await refusal(db, sql) == "SQL code did not contain a statement."


@pytest.mark.parametrize(
    "sql",
    ["SELECT 1;", "SELECT 1; \n", "SELECT 1 -- c", "-- c\nSELECT 1", ";SELECT 1"],
)
async def test_space_and_comments_around_a_statement_do_no_harm(db: Any, sql: str) -> None:
    assert await rows(db, sql) == [[1]]


async def test_a_failed_tail_undoes_what_came_before_it(db: Any) -> None:
    await refusal(db, "CREATE TABLE t (a); -- c")

    assert await refusal(db, "SELECT * FROM t") == "no such table: t: SQLITE_ERROR"


def _sum(terms: int) -> str:
    return "SELECT " + "+".join(["1"] * terms)


def _columns(count: int) -> str:
    return ",".join(f"c{number}" for number in range(count))


@pytest.mark.parametrize(
    ("fits", "exceeds", "text"),
    [
        (
            f"SELECT '{'x' * 99_991}'",
            f"SELECT '{'x' * 99_992}'",
            "statement too long: SQLITE_TOOBIG",
        ),
        (
            f"SELECT '{'é' * 49_995}'",
            f"SELECT '{'é' * 49_996}'",
            "statement too long: SQLITE_TOOBIG",
        ),
        (
            f"CREATE TABLE t ({_columns(100)})",
            f"CREATE TABLE u ({_columns(101)})",
            "too many columns on u: SQLITE_ERROR",
        ),
        (
            "SELECT " + ",".join(["1"] * 100),
            "SELECT " + ",".join(["1"] * 101),
            "too many columns in result set: SQLITE_ERROR",
        ),
        (
            " UNION ALL ".join(["SELECT 1"] * 5),
            " UNION ALL ".join(["SELECT 1"] * 6),
            "too many terms in compound SELECT: SQLITE_ERROR",
        ),
        (
            _sum(100),
            _sum(101),
            "Expression tree is too large (maximum depth 100): SQLITE_ERROR",
        ),
        (
            f"SELECT '' LIKE '{'x' * 50}'",
            f"SELECT '' LIKE '{'x' * 51}'",
            "LIKE or GLOB pattern too complex: SQLITE_ERROR",
        ),
        (
            f"SELECT max({','.join(['1'] * 32)})",
            f"SELECT max({','.join(['1'] * 33)})",
            "too many arguments on function max at offset 7: SQLITE_ERROR",
        ),
        (
            "SELECT length(zeroblob(2000000))",
            "SELECT length(zeroblob(2000001))",
            "string or blob too big: SQLITE_TOOBIG",
        ),
    ],
)
async def test_a_limit_is_where_the_documents_say(
    db: Any, fits: str, exceeds: str, text: str
) -> None:
    await db.prepare(fits).run()

    assert await refusal(db, exceeds) == text


async def test_a_hundred_values_are_the_most(db: Any) -> None:
    marks = ",".join(["?"] * 100)

    assert await rows(db, f"SELECT {marks}", *range(100)) == [list(range(100))]
    assert await refusal(db, f"SELECT ({marks}, ?)", *range(101)) == (
        "too many SQL variables at offset 209: SQLITE_ERROR"
    )


async def test_a_values_list_may_have_any_length(db: Any) -> None:
    assert len(await rows(db, "VALUES " + ",".join(["(1)"] * 600))) == 600


@pytest.mark.parametrize(
    ("fits", "exceeds"),
    [
        ("x" * 2_000_000, "x" * 2_000_001),
        (b"x" * 2_000_000, b"x" * 2_000_001),
        ("é" * 1_000_000, "é" * 1_000_001),
    ],
)
async def test_a_value_may_have_two_million_bytes_and_is_stored_and_read(
    db: Any, fits: Any, exceeds: Any
) -> None:
    await db.exec("CREATE TABLE t (a, b)")
    await db.prepare("INSERT INTO t VALUES (?, 1)").bind(fits).run()

    assert await value(db, "SELECT length(CAST(a AS BLOB)) FROM t") == 2_000_000
    assert await refusal(db, "SELECT length(?)", exceeds) == "string or blob too big: SQLITE_TOOBIG"
    assert await refusal(db, "SELECT zeroblob(2000001)") == "string or blob too big: SQLITE_TOOBIG"


async def test_a_row_may_have_two_million_bytes(db: Any) -> None:
    await db.exec("CREATE TABLE t (a, b)")

    text = await refusal(db, "INSERT INTO t VALUES (?, ?)", "x" * 1_500_000, "y" * 600_000)

    assert text == "string or blob too big: SQLITE_TOOBIG"


async def test_triggers_nest_ten_deep(db: Any) -> None:
    await db.exec(
        "CREATE TABLE t (a)\n"
        "CREATE TRIGGER tr AFTER INSERT ON t WHEN new.a > 1 "
        "BEGIN INSERT INTO t VALUES (new.a - 1); END"
    )
    recursive = "PRAGMA recursive_triggers=on; INSERT INTO t VALUES (?)"
    await db.prepare(recursive).bind(10).run()

    text = await refusal(db, recursive, 12)

    assert text == "triggers nested too deep: SQLITE_ERROR"
    assert await value(db, "SELECT count(*) FROM t") == 10


async def test_a_statement_of_more_operations_than_allowed_is_refused(db: Any) -> None:
    await db.exec("CREATE TABLE t (a)")

    text = await refusal(db, "INSERT INTO t VALUES " + ",".join(["(1)"] * 24_000))

    assert text == "out of memory: SQLITE_NOMEM"
    assert await value(db, "SELECT count(*) FROM t") == 0
