"""Durable steps on edgestate: D1 on SQLite, through the binding that worker code has."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from bench.steps import Counted, Job, Measured, measured

from edgestate import Agent, D1StateStore, PlannedStep, Tool, ToolCall, open_session
from edgestate import run_agent_with_state as run_task
from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.migrations import split
from localedge.d1.sqlite import open_engine
from localedge.probe import Probe

MIGRATIONS = Path(__file__).parents[1] / "worker" / "edgestate" / "migrations"


async def _work(call: ToolCall) -> dict[str, Any]:
    return {"text": "y" * call.input}


async def measure(job: Job, file: Path) -> Measured:
    """The steps of `job`, each stored with its pointer before the next one begins."""
    tool = Tool(name="work", run=_work, effect=job.effect)

    async def plan(_goal: str) -> list[PlannedStep]:
        return [PlannedStep("work", job.output_bytes) for _ in range(job.steps)]

    agent = Agent(tools={"work": tool}, plan=plan)
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(open_engine(file, durability=job.durability))
        database = D1Database(engine)
        for migration in sorted(MIGRATIONS.glob("*.sql")):
            for statement in split(migration.read_text("utf-8")):
                await database.prepare(statement).run()
        env = EnvWrapper({"DB": database}, Probe())
        store = D1StateStore(env.DB)
        await open_session("bench", "bench", store)

        async def task(name: str) -> None:
            done = await run_task("go", "bench", store, agent=agent, request_id=name)
            assert done.status == "completed"

        for number in range(job.warm_up):
            await task(f"warm {number}")
        began, cpu = time.perf_counter(), time.process_time()
        for number in range(job.tasks):
            await task(f"timed {number}")
        took_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        counted = Counted()
        await engine._connection.set_trace_callback(counted)  # type: ignore[attr-defined]
        await task("counted")
        return measured(job, took_s, cpu_s, counted)
