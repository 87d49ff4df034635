"""Our own `edgestate` on D1's engine: a step for each step."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import time_machine
from bench.foreign.lives import STEPS, Life

import edgestate
from edgestate import (
    Agent,
    Backoff,
    D1StateStore,
    PlannedStep,
    Tool,
    ToolCall,
    clock,
    open_session,
    resolve_step,
    run_agent_with_lock,
)
from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.migrations import run_batch, split
from localedge.d1.sqlite import open_engine
from localedge.probe import Call, Outcome, Probe

MIGRATIONS = Path(edgestate.__file__).parent / "migrations"
LEASE_S = 61.0


class _Points:
    """An observer: each call of the store is a point of the life."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._open: dict[int, Any] = {}

    async def before(self, call: Call) -> None:
        """The point begins."""
        self._open[call.number] = point = self._life.point()
        point.__enter__()

    async def after(self, call: Call, outcome: Outcome) -> None:
        """The point ends."""
        self._open.pop(call.number).__exit__(None, None, None)


class Edgestate:
    """The store as its documentation has it; a person is asked where the outcome is unknown."""

    name = "edgestate, D1 on SQLite"

    def live(self, life: Life) -> bool:
        """Begin, or go on a lease later; whether the task is completed."""
        if (life.folder / "begun").exists():
            with time_machine.travel(clock.now() + LEASE_S):
                return asyncio.run(self._live(life))
        return asyncio.run(self._live(life))

    async def _live(self, life: Life) -> bool:
        async with open_engine(life.folder / "state.sqlite") as engine:
            database = D1Database(engine)
            if not (life.folder / "begun").exists():
                for file in sorted(MIGRATIONS.glob("*.sql")):
                    await run_batch(database, split(file.read_text("utf-8")))
                plain = D1StateStore(EnvWrapper({"DB": database}, Probe()).DB)
                await open_session("session", "user", plain)
                (life.folder / "begun").touch()
            probe = Probe()
            probe.attach(_Points(life))
            env = EnvWrapper({"DB": database}, probe)
            for _ in range(STEPS + 1):
                done = await run_agent_with_lock(
                    "go", "session", env, agent=_agent(life), request_id="request"
                )
                if done["status"] != "waiting_tool":
                    return done["status"] == "completed"
                await _decide(D1StateStore(env.DB), life)
        return False


def _agent(life: Life) -> Agent:
    async def act(call: ToolCall) -> int:
        life.effect(call.step_index)
        return call.step_index

    async def plan(_goal: str) -> list[PlannedStep]:
        return [PlannedStep("act", {"n": step}) for step in range(STEPS)]

    effect: Any = "idempotent" if life.is_keyed else "non_idempotent"
    tool = Tool("act", act, effect, backoff=Backoff(first_s=0, cap_s=0))
    return Agent(tools={"act": tool}, plan=plan)


async def _decide(store: D1StateStore, life: Life) -> None:
    life.ask()
    for task in await store.get_tasks_by_session("session"):
        step = task.current_step
        if life.happened()[step]:
            await resolve_step(store, task, step, "done", step)
        else:
            await resolve_step(store, task, step, "retry")
