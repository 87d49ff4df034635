"""Which pragmas D1 allows, and how long they last."""

from __future__ import annotations

from typing import Any

import pytest
from tests.d1.asking import refusal, rows, value

pytestmark = pytest.mark.anyio

NOT_AUTHORIZED = "not authorized: SQLITE_AUTH"


async def _tables(db: Any) -> None:
    await db.exec(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)\n"
        "CREATE INDEX i ON t (a)\n"
        "INSERT INTO t VALUES (1, 'x'), (2, 'y')"
    )


SWITCHES = [
    "case_sensitive_like",
    "foreign_keys",
    "defer_foreign_keys",
    "ignore_check_constraints",
    "legacy_alter_table",
    "recursive_triggers",
    "reverse_unordered_selects",
]


@pytest.mark.parametrize(
    "pragma",
    [
        "table_list",
        "table_info(t)",
        "table_xinfo('t')",
        "index_list(t)",
        "index_info(i)",
        "index_xinfo(i)",
        "foreign_key_list(t)",
        "foreign_key_check",
        "foreign_key_check(t)",
        "quick_check",
        "quick_check(3)",
        "quick_check(t)",
        "optimize",
        "optimize(0x10002)",
        "optimize(-1)",
        "foreign_keys=onwards",
        "foreign_keys=1.0",
        "table_info('')",
        "data_version",
        "page_size",
        "main.table_info(t)",
        *SWITCHES,
        *(
            f"{name}={setting}"
            for name in SWITCHES[:2]
            for setting in ["on", "OFF", "True", "no", "1", "'yes'"]
        ),
    ],
)
async def test_an_allowed_pragma_is_answered(db: Any, pragma: str) -> None:
    await _tables(db)

    assert (await db.prepare(f"PRAGMA {pragma}").run()).success is True


@pytest.mark.parametrize(
    "pragma",
    [
        "table_info",
        "table_info(_cf_METADATA)",
        "foreign_key_check(_CF_x)",
        "page_size=1024",
        "case_sensitive_like=2",
        "foreign_keys=maybe",
        "optimize(x)",
        "optimize(abc)",
        "foreign_keys=''",
        "data_version('')",
        "data_version(1)",
        "temp.table_list",
        *[
            "journal_mode",
            "journal_mode=WAL",
            "synchronous",
            "user_version",
            "user_version=5",
            "schema_version",
            "integrity_check",
            "page_count",
            "encoding",
            "database_list",
            "function_list",
            "compile_options",
            "query_only",
            "writable_schema=1",
            "wal_checkpoint",
            "cache_size",
            "temp_store",
            "busy_timeout",
            "nope",
            "trusted_schema",
            "freelist_count",
            "max_page_count",
            "mmap_size",
        ],
    ],
)
async def test_any_other_pragma_is_not_authorized(db: Any, pragma: str) -> None:
    assert await refusal(db, f"PRAGMA {pragma}") == NOT_AUTHORIZED


async def test_a_refused_pragma_is_refused_as_a_table_too(db: Any) -> None:
    assert await refusal(db, "SELECT * FROM pragma_user_version") == NOT_AUTHORIZED


@pytest.mark.parametrize("explained", ["", "EXPLAIN "])
async def test_a_setting_lasts_for_its_call_only(db: Any, explained: str) -> None:
    await db.exec("CREATE TABLE t (a CHECK (a < 5))")

    for _ in range(2):
        inside = await rows(db, f"{explained}PRAGMA case_sensitive_like=1; SELECT 'A' LIKE 'a'")
        assert inside == [[0]]
    await db.batch(
        [db.prepare("PRAGMA ignore_check_constraints=1"), db.prepare("INSERT INTO t VALUES (9)")]
    )

    assert await value(db, "SELECT 'A' LIKE 'a'") == 1
    assert "CHECK constraint failed" in await refusal(db, "INSERT INTO t VALUES (9)")


async def test_a_setting_ends_with_a_call_that_fails(db: Any) -> None:
    await refusal(db, "PRAGMA case_sensitive_like=1; SELECT nope")

    assert await value(db, "SELECT 'A' LIKE 'a'") == 1


async def test_foreign_keys_cannot_be_turned_off(db: Any) -> None:
    await db.exec("CREATE TABLE p (id INTEGER PRIMARY KEY)\nCREATE TABLE c (p REFERENCES p)")

    text = await refusal(db, "PRAGMA foreign_keys=off; INSERT INTO c VALUES (1)")

    assert text.startswith("FOREIGN KEY constraint failed")
    assert await rows(db, "PRAGMA foreign_keys") == [[1]]
