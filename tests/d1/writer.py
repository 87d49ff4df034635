"""A process of its own that writes to a database, for the tests of several and of killed ones.

Run as `python writer.py batches PATH COUNT` or `python writer.py inserts PATH DURABILITY`.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from pathlib import Path
from typing import Any, cast

from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.sqlite import Durability, open_engine
from localedge.probe import Probe

CREATE = "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY)"


async def _batches(db: Any, times: int) -> None:
    """`times` batches that each read and then write; all processes began together."""
    await db.batch(
        [
            db.prepare("CREATE TABLE IF NOT EXISTS counter (n)"),
            db.prepare("INSERT INTO counter SELECT 0 WHERE NOT EXISTS (SELECT * FROM counter)"),
        ]
    )
    read, write = db.prepare("SELECT n FROM counter"), db.prepare("UPDATE counter SET n = n + 1")
    for _ in range(times):
        await db.batch([read, write])
    print(times, flush=True)


async def _inserts(db: Any) -> None:
    """Inserts without end, each told on standard output once it is acknowledged."""
    await db.prepare(CREATE).run()
    for number in count():
        await db.prepare("INSERT INTO t VALUES (?)").bind(number).run()
        print(number, flush=True)


async def main(job: str, path: str, argument: str) -> None:
    durability = cast(Durability, argument) if job == "inserts" else "process"
    async with open_engine(Path(path), durability=durability) as engine:
        db = EnvWrapper({"DB": D1Database(engine)}, Probe()).DB
        await (_inserts(db) if job == "inserts" else _batches(db, int(argument)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
