"""What tests of the library run on: real bindings, as worker code holds them."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from edgestate import PlannedStep, Tool, ToolCall
from edgestate.statuses import Effect
from localedge.binding import BindingWrapper
from localedge.d1.database import D1Database
from localedge.d1.migrations.applying import run_batch
from localedge.d1.migrations.splitting import split
from localedge.d1.sqlite import open_engine
from localedge.kv.namespace import KvNamespace
from localedge.kv.redis import connect
from localedge.probe import Probe

MIGRATIONS: Final = Path(__file__).parents[2] / "worker" / "edgestate" / "migrations"
_numbers = itertools.count()


async def migrate(database: D1Database, *names: str) -> None:
    """The named migrations of the library (all, if none is named) are applied."""
    files = sorted(MIGRATIONS.glob("*.sql"))
    for file in files:
        if not names or file.name in names:
            await run_batch(database, split(file.read_text("utf-8")))


@asynccontextmanager
async def d1_binding(
    path: Path, *, probe: Probe | None = None, is_migrated: bool = False
) -> AsyncIterator[Any]:
    """`env.DB` on the file `path`, which has the library's tables."""
    async with open_engine(path) as engine:
        database = D1Database(engine)
        if not is_migrated:
            await migrate(database)
        yield BindingWrapper(database, "DB", probe or Probe())


@asynccontextmanager
async def kv_binding(url: str, *, probe: Probe | None = None) -> AsyncIterator[Any]:
    """`env.KV`: a namespace of its own on a real server."""
    async with connect(url) as connection:
        namespace = KvNamespace(connection.store(f"edgestate {next(_numbers)} {id(connection)}"))
        yield BindingWrapper(namespace, "KV", probe or Probe())


class Effects:
    """The outside world: what happened, however often; it survives every worker."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.keys: list[str] = []

    def count(self, name: str) -> int:
        return self.log.count(name)

    def tool(self, name: str, effect: Effect, **options: Any) -> Tool:
        """A tool whose calls are seen here."""

        async def run(call: ToolCall) -> dict[str, Any]:
            self.log.append(f"{name} {call.step_index}")
            self.keys.append(call.idempotency_key)
            return {"done": call.step_index}

        return Tool(name, run, effect, **options)


def plan_of(*actions: str, group: str | None = None) -> Any:
    """A planner that always plans these tools."""

    async def plan(_goal: str) -> list[PlannedStep]:
        return [PlannedStep(action, {"n": n}, group) for n, action in enumerate(actions)]

    return plan
