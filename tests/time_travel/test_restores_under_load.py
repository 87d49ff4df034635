"""Restores of a database that a server writes to, while its isolates are killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.runtime.edge import LOCALEDGE, Edge, edge, worker, write_project
from tests.waiting import wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.processes, pytest.mark.long]

RESTORES = 15
WRITERS = 6
SOURCE = worker("""
    value = request.url.rpartition("/")[2]
    await self.env.DB.prepare("INSERT INTO t VALUES (?)").bind(value).run()
    return Response("written")
""")
CONFIG = '[[d1_databases]]\nbinding = "DB"\ndatabase_id = "d"\n'


async def _command(folder: Path, *arguments: str) -> Any:
    process = await asyncio.create_subprocess_exec(
        LOCALEDGE,
        *("d1", *arguments, "--json"),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return json.loads(output)


class _Load:
    """Clients that write, and somebody who kills the isolates under them."""

    def __init__(self, server: Edge) -> None:
        self._server = server
        self.acknowledged: list[str] = []
        self.failed = 0
        self.is_over = False

    async def write(self, writer: int) -> None:
        """Write one value after the other."""
        number = 0
        while not self.is_over:
            value = f"{writer}-{number}"
            number += 1
            try:
                answer = await self._server.get(f"/{value}")
            except httpx.HTTPError:
                self.failed += 1
                continue
            if answer.status_code == 200:
                self.acknowledged.append(value)
            else:
                self.failed += 1

    async def kill(self) -> None:
        """Kill the busiest isolate once for each hundred values."""
        wanted = 0

        def is_time() -> bool:
            return self.is_over or len(self.acknowledged) >= wanted

        while not self.is_over:
            wanted = len(self.acknowledged) + 100
            await wait_until(is_time, within_s=60)
            with contextlib.suppress(httpx.HTTPError):
                await self._server.order("kill")


def _kept(folder: Path) -> Iterator[str]:
    """All values in the database, and in the states that restores have replaced."""
    databases = folder / ".localedge" / "d1"
    ways_back = (databases / "d.sqlite-copies").glob("*.undo.sqlite")
    for file in [databases / "d.sqlite", *ways_back]:
        with closing(sqlite3.connect(file)) as connection:
            yield from (row[0] for row in connection.execute("SELECT x FROM t"))


async def test_nothing_acknowledged_is_lost_by_restores_and_kills(tmp_path: Path) -> None:
    write_project(tmp_path, SOURCE, config=CONFIG, local="time_travel_copies = 1000")
    async with edge(tmp_path) as server:
        await _command(tmp_path, "execute", "DB", "--command", "CREATE TABLE t (x)")
        begin = (await _command(tmp_path, "time-travel", "info", "DB"))["bookmark"]
        load = _Load(server)
        async with asyncio.TaskGroup() as tasks:
            for writer in range(WRITERS):
                tasks.create_task(load.write(writer))
            tasks.create_task(load.kill())
            for _ in range(RESTORES):
                await _command(tmp_path, "time-travel", "restore", "DB", f"--bookmark={begin}")
            load.is_over = True

    assert len(load.acknowledged) > 500
    assert load.failed > 0
    assert set(load.acknowledged) - set(_kept(tmp_path)) == set()
