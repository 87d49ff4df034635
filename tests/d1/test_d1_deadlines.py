"""Calls that take too long, are given up, or come after a failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.d1.asking import database, refusal, value
from tests.waiting import wait_until

from localedge.d1.engine import Engine
from localedge.d1.sqlite import open_engine
from localedge.errors import JsException

pytestmark = pytest.mark.anyio

ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r"
TOO_LONG = "D1 DB storage operation exceeded timeout which caused object to be reset"


@pytest.fixture
async def engine(path: Path) -> AsyncIterator[Engine]:
    async with open_engine(path, query_timeout_s=0.2) as engine:
        yield engine


async def test_a_query_that_runs_too_long_is_interrupted(db: Any) -> None:
    assert await refusal(db, ENDLESS) == TOO_LONG
    assert await value(db, "SELECT 1") == 1


@pytest.mark.slow
async def test_a_batch_that_runs_too_long_is_undone_whole(db: Any) -> None:
    await db.exec("CREATE TABLE t (a)")

    with pytest.raises(JsException, match=TOO_LONG):
        await db.batch([db.prepare("INSERT INTO t VALUES (1)"), db.prepare(ENDLESS)])

    assert await value(db, "SELECT count(*) FROM t") == 0


@pytest.mark.slow
async def test_a_call_that_waits_behind_a_long_one_is_not_interrupted(db: Any) -> None:
    long = db.prepare(ENDLESS).all()

    waiting = [db.prepare("SELECT ? AS a").bind(number).first("a") for number in range(20)]

    assert await asyncio.gather(*waiting) == list(range(20))
    with pytest.raises(JsException, match=TOO_LONG):
        await long


async def test_calls_run_in_the_order_in_which_they_were_made(db: Any) -> None:
    await db.exec("CREATE TABLE t (n INTEGER PRIMARY KEY, a)")

    await asyncio.gather(
        *(db.prepare("INSERT INTO t (a) VALUES (?)").bind(number).run() for number in range(50))
    )

    assert await value(db, "SELECT count(*) FROM t WHERE n = a + 1") == 50


async def test_a_write_that_nobody_waits_for_any_more_is_still_made(db: Any) -> None:
    await db.exec("CREATE TABLE t (a)")
    call = asyncio.ensure_future(db.prepare("INSERT INTO t VALUES (1)").run())
    await asyncio.sleep(0)  # the call begins

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    await wait_until(lambda: _count(db))


async def _count(db: Any) -> int:
    count: int = await value(db, "SELECT count(*) FROM t")
    return count


@pytest.mark.parametrize(
    "failing",
    [
        "SELEC",
        "BEGIN",
        "INSERT INTO t VALUES (1), (2), (NULL)",
        "INSERT OR ROLLBACK INTO t VALUES (NULL)",
        "INSERT OR FAIL INTO t VALUES (7), (NULL)",
        "PRAGMA defer_foreign_keys=on; INSERT INTO c VALUES (9)",
        "PRAGMA journal_mode",
        "SELECT json('{') FROM t",
        "SELECT a, json(CASE a WHEN 5 THEN '{' ELSE '1' END) FROM t",
        "SELECT zeroblob(3000000)",
        "SELECT unhex(1, 2, 3)",
        "SELECT ?",
        "VACUUM",
        "ATTACH 'x' AS x",
        ENDLESS,
    ],
)
async def test_the_query_after_a_failure_works_and_finds_what_was_before(
    db: Any, failing: str
) -> None:
    await db.exec(
        "CREATE TABLE t (a NOT NULL)\nCREATE TABLE p (id INTEGER PRIMARY KEY)\n"
        "CREATE TABLE c (p REFERENCES p)\nINSERT INTO t VALUES (4), (5)"
    )

    with pytest.raises(JsException):
        await db.prepare(failing).run()

    assert await value(db, "SELECT sum(a) FROM t") == 9
    assert (await db.prepare("INSERT INTO t VALUES (1)").run()).meta.changes == 1
    assert await value(db, "SELECT sum(a) FROM t") == 10


async def test_a_call_on_a_closed_database_fails(path: Path) -> None:
    async with open_engine(path) as engine:
        db = database(engine)

    assert await refusal(db, "SELECT 1") == "Network connection lost."
