"""The functions that D1 has and an older SQLite lacks."""

from __future__ import annotations

from typing import Any

import pytest
from tests.d1.asking import refusal, rows, value

pytestmark = pytest.mark.anyio


# Answers of SQLite 3.53.4, read 2026-12-01.
@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("concat('a', 1, NULL, 2.0, x'62')", "a12.0b"),
        ("concat(NULL)", ""),
        ("concat_ws('-', 'a', NULL, 1e20)", "a-1.0e+20"),
        ("concat_ws(NULL, 'a')", None),
        ("concat_ws('-', NULL)", ""),
        ("octet_length('é')", 2),
        ("octet_length(1.5)", 3),
        ("octet_length(NULL)", None),
        ("unhex('01fF')", [1, 255]),
        ("unhex('')", []),
        ("unhex('0')", None),
        ("unhex('0g')", None),
        ("unhex('01-ff', '-')", [1, 255]),
        ("unhex('0-1ff', '-')", None),
        ("unhex(NULL)", None),
        ("unhex('01', NULL)", None),
        ("iif(1, 'a')", "a"),
        ("iif('0.0', 'a')", None),
        ("iif(0, 1, 0, 2, 3)", 3),
        ("iif(NULL, 1, '2x', 2)", 2),
        ("timediff('2024-03-31', '2024-02-29')", "+0000-01-02 00:00:00.000"),
        ("timediff('2024-02-29', '2024-03-31')", "-0000-01-02 00:00:00.000"),
        ("timediff('2023-02-15 10:00:00.5', '2021-12-31 23:59')", "+0001-01-14 10:01:00.500"),
        ("timediff('1999-12-31', '2024-02-29 12:30')", "-0024-01-29 12:30:00.000"),
        ("timediff('x', '2024-01-01')", None),
        ("hex(jsonb('[1]'))", "2B1331"),
        (
            "hex(jsonb(' {\"a\" : [null, true, false, -1.5e3]} '))",
            "CC0D1761AB000102652D312E356533",
        ),
        ("hex(jsonb('\"q\\u0041\"'))", "78715C7530303431"),
        ("substr(hex(jsonb('\"' || printf('%.12c', 'x') || '\"')), 1, 6)", "C70C78"),
        ("substr(hex(jsonb('\"' || printf('%.300c', 'x') || '\"')), 1, 8)", "D7012C78"),
        ("substr(hex(jsonb('\"' || printf('%.70000c', 'x') || '\"')), 1, 12)", "E70001117078"),
        ("jsonb(NULL)", None),
        ("hex(jsonb_array(1, 'x'))", "4B13311778"),
        ("hex(jsonb_object('a', 1))", "4C17611331"),
        ("jsonb_extract('{\"a\":[1,2]}', '$.a[0]')", 1),
        ("hex(jsonb_extract('{\"a\":[1]}', '$.a'))", "2B1331"),
        ("hex(jsonb_set('{}', '$.a', 1))", "4C17611331"),
        ("hex(jsonb_remove('[1,2]', '$[1]'))", "2B1331"),
    ],
)
async def test_a_missing_function_answers_like_the_newer_sqlite(
    db: Any, expression: str, found: Any
) -> None:
    assert await value(db, f"SELECT {expression}") == found


ROWS = "FROM (SELECT 1 AS x UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT NULL)"


async def test_string_agg_joins_what_is_not_null(db: Any) -> None:
    assert await value(db, f"SELECT string_agg(x, '-') {ROWS}") == "1-2-3"
    assert await value(db, f"SELECT string_agg(x, '-') {ROWS} WHERE x > 9") is None


async def test_string_agg_works_over_a_window(db: Any) -> None:
    window = "OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"

    found = await rows(db, f"SELECT string_agg(x, '-') {window} {ROWS}")

    assert found == [[None], ["1"], ["1-2"], ["2-3"]]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("jsonb('{')", "malformed JSON: SQLITE_ERROR"),
        ("concat()", "wrong number of arguments to function concat() at offset 7: SQLITE_ERROR"),
        (
            "concat_ws('-')",
            "wrong number of arguments to function concat_ws() at offset 7: SQLITE_ERROR",
        ),
        (
            "octet_length()",
            "wrong number of arguments to function octet_length() at offset 7: SQLITE_ERROR",
        ),
    ],
)
async def test_a_missing_function_refuses_in_sqlites_words(db: Any, call: str, text: str) -> None:
    assert await refusal(db, f"SELECT {call}") == text
    assert await value(db, "SELECT 1") == 1
