"""SQL's own clock follows the worker's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from tests.d1.asking import database, rows, value

from localedge.d1.engine import Engine
from localedge.d1.memory import MemoryEngine

pytestmark = pytest.mark.anyio

Freeze = Callable[[str], FrozenDateTimeFactory]
MOMENT = "2031-05-06T07:08:09Z"
SECOND = 1935817689


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("CURRENT_TIMESTAMP", "2031-05-06 07:08:09"),
        ("CURRENT_DATE", "2031-05-06"),
        ("CURRENT_TIME", "07:08:09"),
        ("unixepoch()", SECOND),
        ("unixepoch('NOW')", SECOND),
        ("date()", "2031-05-06"),
        ("time('now')", "07:08:09"),
        ("datetime('now', '-1 day', 'start of month')", "2031-05-01 00:00:00"),
        ("strftime('%Y-%m-%dT%H:%M:%fZ', 'now')", "2031-05-06T07:08:09.000Z"),
        ("strftime('%s')", str(SECOND)),
        ("round((julianday('now') - 2440587.5) * 86400)", SECOND),
        ("timediff('now', '2031-05-05')", "+0000-00-01 07:08:09.000"),
    ],
)
async def test_sql_tells_the_moved_time(
    db: Any, frozen: Freeze, expression: str, found: object
) -> None:
    frozen(MOMENT)

    assert await value(db, f"SELECT {expression}") == found


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("datetime('2024-02-28', '+2 days')", "2024-03-01 00:00:00"),
        ("strftime('%d', '2024-02-28')", "28"),
        ("date(NULL)", None),
        ("date('nonsense')", None),
        ("unixepoch('2024-01-01')", 1704067200),
        ("datetime(0, 'unixepoch')", "1970-01-01 00:00:00"),
        ("strftime()", None),
    ],
)
async def test_other_times_are_as_they_always_are(
    db: Any, frozen: Freeze, expression: str, found: object
) -> None:
    frozen(MOMENT)

    assert await value(db, f"SELECT {expression}") == found


async def test_defaults_and_triggers_tell_the_moved_time(db: Any, frozen: Freeze) -> None:
    await db.exec(
        "CREATE TABLE t (a, at DEFAULT CURRENT_TIMESTAMP)\n"
        "CREATE TABLE log (at)\n"
        "CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (unixepoch()); END"
    )
    frozen(MOMENT)

    await db.prepare("INSERT INTO t (a) VALUES (1)").run()

    assert await rows(db, "SELECT t.at, log.at FROM t, log") == [["2031-05-06 07:08:09", SECOND]]


async def test_sql_follows_each_move_and_the_return(db: Any, frozen: Freeze) -> None:
    real = await value(db, "SELECT unixepoch()")
    clock = frozen(MOMENT)
    moved = [await value(db, "SELECT unixepoch()")]
    clock.tick(60)
    moved.append(await value(db, "SELECT unixepoch()"))
    clock.move_to("2001-09-09T01:46:40Z")
    moved.append(await value(db, "SELECT unixepoch()"))
    clock.move_to("2026-01-01T00:00:00Z")
    clock.tick(real - 1767225600)

    back = await value(db, "SELECT unixepoch()")

    assert moved == [SECOND, SECOND + 60, 1_000_000_000]
    assert abs(back - real) <= 10


async def test_an_index_may_still_rest_on_a_date_while_the_clock_is_moved(
    db: Any, frozen: Freeze
) -> None:
    frozen(MOMENT)
    await db.exec("CREATE TABLE t (at)\nCREATE INDEX i ON t (date(at))")

    await db.prepare("INSERT INTO t VALUES ('2024-01-02 03:04:05')").run()

    assert await value(db, "SELECT count(*) FROM t WHERE date(at) = '2024-01-02'") == 1


async def test_the_engine_in_memory_tells_the_moved_time_too(frozen: Freeze) -> None:
    engine = MemoryEngine()
    frozen(MOMENT)

    found = await value(database(engine), "SELECT CURRENT_TIMESTAMP")

    engine.close()
    assert found == "2031-05-06 07:08:09"


async def test_a_program_in_the_queue_keeps_the_time_of_its_call(
    engine: Engine, frozen: Freeze
) -> None:
    db = database(engine)
    clock = frozen(MOMENT)
    first = db.prepare("SELECT unixepoch() AS s").first("s")
    await asyncio.sleep(0)  # the call begins
    clock.tick(1000)

    second = await db.prepare("SELECT unixepoch() AS s").first("s")

    assert (await first, second) == (SECOND, SECOND + 1000)
