"""Several processes on one database, and processes that are killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from tests.d1.asking import database, meta, rows, value

from localedge.d1.sqlite import open_engine

pytestmark = [pytest.mark.anyio, pytest.mark.processes]

WRITER = Path(__file__).parent / "writer.py"


async def _start(job: str, path: Path, argument: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(WRITER),
        job,
        str(path),
        argument,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def test_four_processes_that_read_and_then_write_never_fail(path: Path) -> None:
    writers = [await _start("batches", path, "500") for _ in range(4)]

    async with asyncio.timeout(60):
        outcomes = [await writer.communicate() for writer in writers]

    assert outcomes == [(b"500\n", b"")] * 4
    async with open_engine(path) as engine:
        assert await value(database(engine), "SELECT n FROM counter") == 2000


@pytest.mark.parametrize("durability", ["process", "power"])
async def test_a_killed_process_loses_nothing_that_it_was_told(path: Path, durability: str) -> None:
    writer = await _start("inserts", path, durability)
    assert writer.stdout is not None
    async with asyncio.timeout(60):
        told = [int(await writer.stdout.readline()) for _ in range(200)]
        writer.kill()
        rest, _ = await writer.communicate()
    told += [int(line) for line in rest.split(b"\n")[:-1]]

    async with open_engine(path) as engine:
        db = database(engine)
        kept = [number for (number,) in await rows(db, "SELECT n FROM t ORDER BY n")]
        writes_again = await meta(db, "INSERT INTO t VALUES (-1)")

    assert kept[: len(told)] == told
    assert len(kept) - len(told) in (0, 1)  # the last one may have committed unheard
    assert writes_again.changes == 1


async def test_last_row_id_is_the_databases_whichever_isolate_inserted(path: Path) -> None:
    async with open_engine(path) as one, open_engine(path) as other:
        await database(one).exec("CREATE TABLE t (a)\nINSERT INTO t VALUES (1), (2), (3)")

        seen = await meta(database(other), "SELECT 1")
        await meta(database(other), "INSERT INTO t VALUES (4)")
        back = await meta(database(one), "SELECT 1")

    assert (seen.last_row_id, seen.changed_db, back.last_row_id) == (3, False, 4)


async def test_last_row_id_begins_at_zero_when_nobody_had_the_database_open(path: Path) -> None:
    async with open_engine(path) as engine:
        await database(engine).exec("CREATE TABLE t (a)\nINSERT INTO t VALUES (1)")

    async with open_engine(path) as engine:
        assert (await meta(database(engine), "SELECT 1")).last_row_id == 0
