"""Which functions, modules and tables D1 has, refuses, or does not know."""

from __future__ import annotations

from typing import Any

import pytest
from tests.d1.asking import refusal, rows

from localedge.d1 import rules

pytestmark = pytest.mark.anyio

CALLS = {
    "abs": "1", "char": "65", "coalesce": "1,2", "concat": "'a'", "concat_ws": "'-','a'",
    "format": "'%d',1", "glob": "'a','b'", "hex": "'a'", "ifnull": "1,2", "iif": "1,2,3",
    "instr": "'a','b'", "length": "'a'", "like": "'a','b'", "likelihood": "1,0.5", "likely": "1",
    "lower": "'A'", "ltrim": "' a'", "max": "1,2", "min": "1,2", "nullif": "1,2",
    "octet_length": "'a'", "printf": "'%d',1", "quote": "'a'", "random": "", "randomblob": "1",
    "replace": "'a','b','c'", "round": "1.5", "rtrim": "'a '", "sign": "1", "substr": "'abc',2",
    "substring": "'abc',2", "total_changes": "", "trim": "' a '", "typeof": "1", "unhex": "'01'",
    "unicode": "'a'", "unlikely": "1", "upper": "'a'", "zeroblob": "1", "changes": "",
    "last_insert_rowid": "", "date": "", "time": "", "datetime": "", "julianday": "",
    "unixepoch": "", "strftime": "'%Y'", "timediff": "'now','now'", "avg": "1", "count": "1",
    "group_concat": "1", "string_agg": "1,','", "sum": "1", "total": "1", "acos": "1",
    "acosh": "1", "asin": "1", "asinh": "1", "atan": "1", "atan2": "1,1", "atanh": "0",
    "ceil": "1", "cos": "1", "cosh": "1", "degrees": "1", "exp": "1", "floor": "1", "ln": "1",
    "log": "1", "log2": "1", "mod": "1,1", "pi": "", "pow": "1,1", "radians": "1", "sin": "1",
    "sinh": "1", "sqrt": "1", "tan": "1", "tanh": "1", "trunc": "1", "json": "'[1]'",
    "json_array": "1", "json_array_length": "'[1]'", "json_extract": "'[1]','$[0]'",
    "json_group_array": "1", "json_group_object": "'a',1", "json_insert": "'[1]','$[#]',2",
    "json_object": "'a',1", "json_patch": "'{}','{}'", "json_quote": "1",
    "json_remove": "'[1]','$[0]'", "json_replace": "'[1]','$[0]',2", "json_set": "'[1]','$[0]',2",
    "json_type": "'[1]'", "json_valid": "'[1]'", "jsonb": "'[1]'", "jsonb_array": "1",
    "jsonb_extract": "'[[1]]','$[0]'", "jsonb_insert": "'[1]','$[#]',2", "jsonb_object": "'a',1",
    "jsonb_patch": "'{}','{}'", "jsonb_remove": "'[1]','$[0]'", "jsonb_replace": "'[1]','$[0]',2",
    "jsonb_set": "'[1]','$[0]',2",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CALLS))
async def test_an_allowed_function_can_be_called(db: Any, name: str) -> None:
    assert name in rules.FUNCTIONS

    assert len(await rows(db, f"SELECT {name}({CALLS[name]})")) == 1


@pytest.mark.parametrize(
    "call",
    [
        "ceiling(1)",
        "power(1,1)",
        "log10(1)",
        "if(1,2)",
        "unistr('a')",
        "json_pretty('1')",
        "json_error_position('1')",
        "subtype(1)",
        "sqlite_version()",
        "sqlite_source_id()",
        "fts5_source_id()",
        "fts5(1)",
        "sqlite_compileoption_get(1)",
        "sqlite_compileoption_used('x')",
    ],
)
async def test_a_function_that_the_platform_has_and_refuses_is_not_authorized(
    db: Any, call: str
) -> None:
    name = call.partition("(")[0]

    assert await refusal(db, f"SELECT {call}") == (
        f"not authorized to use function: {name} at offset 7: SQLITE_ERROR"
    )


@pytest.mark.parametrize(
    "call",
    [
        "soundex('a')",
        "sqlite_offset(1)",
        "median(1)",
        "percentile(1,2)",
        "regexp('a','b')",
        "nope()",
    ],
)
async def test_a_function_that_the_platform_lacks_does_not_exist(db: Any, call: str) -> None:
    name = call.partition("(")[0]

    assert (
        await refusal(db, f"SELECT {call}") == f"no such function: {name} at offset 7: SQLITE_ERROR"
    )


async def test_load_extension_fails_in_the_engine(db: Any) -> None:
    assert await refusal(db, "SELECT load_extension('x')") == "not authorized: SQLITE_ERROR"


@pytest.mark.parametrize("table", ["generate_series(1, 2)", "dbstat", "sqlite_stmt"])
async def test_a_table_of_other_builds_does_not_exist(db: Any, table: str) -> None:
    name = table.partition("(")[0]

    assert await refusal(db, f"SELECT * FROM {table}") == f"no such table: {name}: SQLITE_ERROR"
