"""What time travel costs a database of 100 MB: `python -m bench.time_travel`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from localedge.d1.copies import Budget
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.d1.time_travel import TimeTravel

T = TypeVar("T")
_ROWS: Final = 100_000
_FILL: Final = (
    "INSERT INTO t WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n "
    f"WHERE i < {_ROWS}) SELECT randomblob(1000) FROM n"
)


async def _timed(what: str, work: Callable[[], Awaitable[T]]) -> T:
    began = time.perf_counter()
    done = await work()
    print(f"{what}: {time.perf_counter() - began:.3f} s")
    return done


async def main() -> None:
    """Print how long each part takes."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "d1.sqlite"
        travel = TimeTravel(file, Budget(10**10, 100))
        async with open_engine(file) as engine:
            database = D1Database(engine)
            await database.exec("CREATE TABLE t (x)")
            await database.exec(_FILL)
            print(f"The database has {file.stat().st_size / 1e6:.0f} MB.")
            first = await _timed("The first copy", lambda: travel.keep("asked"))
            await _timed("Nothing has changed", lambda: travel.keep("asked"))
            await database.exec("INSERT INTO t VALUES (1)")
            await _timed("A row has changed", lambda: travel.keep("asked"))
            await _timed("A restore", lambda: travel.restore(first))


if __name__ == "__main__":
    asyncio.run(main())
