"""Mixed load while isolates and Valkey are killed: acknowledged writes are there, nothing leaks."""

from __future__ import annotations

import asyncio
import time
from itertools import count
from pathlib import Path

import pytest
from tests.runtime.edge import Edge, children, edge, gone, kill, worker, write_project
from tests.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

BINDINGS = """
[[kv_namespaces]]
binding = "KV"
id = "n"
[[d1_databases]]
binding = "DB"
database_name = "db"
database_id = "db"
"""
STORING = worker("""
    kind, key = request.url.rsplit("/", 2)[1:]
    if kind == "kv":
        if request.method == "PUT":
            await self.env.KV.put(key, key)
        return Response(await self.env.KV.get(key) or "lost")
    table = "CREATE TABLE IF NOT EXISTS t (k TEXT PRIMARY KEY) STRICT"
    await self.env.DB.prepare(table).run()
    if request.method == "PUT":
        await self.env.DB.prepare("INSERT OR IGNORE INTO t VALUES (?)").bind(key).run()
    row = await self.env.DB.prepare("SELECT k FROM t WHERE k = ?").bind(key).first()
    return Response(row["k"] if row else "lost")
""")
CLIENTS = 8


class Load:
    """Clients that write, each request with a deadline; `kept` is what was acknowledged."""

    def __init__(self, server: Edge) -> None:
        self._server = server
        self._numbers = count()
        self.kept: list[str] = []
        self.failed = 0
        self.is_over = False

    async def write(self) -> None:
        """Write new keys until it is over."""
        while not self.is_over:
            number = next(self._numbers)
            path = f"/{('kv', 'd1')[number % 2]}/key-{number}"
            answer = await self._server.http.put(path, timeout=10)
            if answer.status_code == 200:
                self.kept.append(path)
            else:
                self.failed += 1

    async def lost(self) -> list[str]:
        """What was acknowledged and is not there."""
        missing: list[str] = []
        left = iter(self.kept)

        async def look() -> None:
            for path in left:
                answer = await self._server.get(path)
                if answer.text != path.rpartition("/")[2]:
                    missing.append(path)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(CLIENTS):
                tasks.create_task(look())
        return missing


def descriptors(pid: int) -> int:
    """How many descriptors a process has open."""
    return len([*Path(f"/proc/{pid}/fd").iterdir()])


async def soak(folder: Path, *, seconds: float, kill_every_s: float) -> None:
    """Load for that long, an isolate killed every so often and Valkey once in the middle."""
    write_project(folder, STORING, config=BINDINGS)
    async with edge(folder) as server:
        await server.wait_full()
        before = descriptors(server.process.pid)
        load = Load(server)
        started = time.monotonic()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(CLIENTS):
                tasks.create_task(load.write())
            has_valkey = True
            while time.monotonic() - started < seconds:
                await asyncio.sleep(kill_every_s)  # the pace of the kills is what is tested
                kill((await server.wait_full())[0])
                if has_valkey and time.monotonic() - started > seconds / 2:
                    has_valkey = False
                    kill(valkey_of(server))
            load.is_over = True
        await server.wait_full()
        missing = await load.lost()
        after = await wait_until(lambda: _settled(server, before))
        everything = children(server.process.pid)

    assert missing == []
    assert len(load.kept) > 50 * seconds
    assert load.failed > 0
    assert after
    await gone(everything)


async def _settled(server: Edge, before: int) -> bool:
    idle = all(isolate["in_flight"] == 0 for isolate in (await server.status())["isolates"])
    return idle and descriptors(server.process.pid) <= before + 4


def valkey_of(server: Edge) -> int:
    """The pid of the server's Valkey."""
    (found,) = [pid for pid in children(server.process.pid) if _name(pid).startswith("valkey")]
    return found


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text("ascii")
    except FileNotFoundError:
        return ""


@pytest.mark.timeout(60)
async def test_a_sample_of_the_soak_keeps_every_acknowledged_write(tmp_path: Path) -> None:
    await soak(tmp_path, seconds=4, kill_every_s=0.4)


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_the_soak_keeps_every_acknowledged_write(tmp_path: Path) -> None:
    await soak(tmp_path, seconds=180, kill_every_s=1.0)
