"""A worker that stores what it is told to in KV and D1, and the way to read all of it back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tests.runtime.edge import Edge, children, worker

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
_READERS = 8


async def lost(server: Edge, paths: Sequence[str]) -> list[str]:
    """The paths, acknowledged when they were written, that do not give back what was written."""
    missing: list[str] = []
    left = iter(paths)

    async def look() -> None:
        for path in left:
            answer = await server.get(path)
            if answer.text != path.rpartition("/")[2]:
                missing.append(path)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(_READERS):
            tasks.create_task(look())
    return missing


def valkey_of(pid: int) -> int:
    """The pid of the Valkey of the server `pid`."""
    (found,) = [child for child in children(pid) if _name(child).startswith("valkey")]
    return found


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text("ascii")
    except FileNotFoundError:
        return ""
