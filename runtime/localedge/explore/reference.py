"""The reference task: steps of one kind, run by `edgestate` on D1."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import edgestate
from edgestate import (
    Agent,
    Backoff,
    CheckpointPolicy,
    D1StateStore,
    PlannedStep,
    Tool,
    ToolCall,
    open_session,
    resolve_step,
    run_agent_with_lock,
)
from edgestate.statuses import Effect
from localedge.d1.database import D1Database
from localedge.d1.engine import Query
from localedge.d1.migrations.applying import run_batch
from localedge.d1.migrations.splitting import split
from localedge.d1.statements import parse
from localedge.explore.death import tool_call
from localedge.explore.scenario import Answer, Stored
from localedge.explore.world import World
from localedge.probe import Call, Probe

MIGRATIONS: Final = Path(edgestate.__file__).parent / "migrations"
REQUEST: Final = "request-1"
SESSION: Final = "session-1"
_STATUS: Final = Query(parse("SELECT status FROM agent_tasks"))
_SUCCESSES: Final = Query(
    parse("SELECT step_index, output FROM agent_task_steps WHERE status = 'success'")
)
_FENCE: Final = Query(parse("SELECT fence FROM agent_tasks"))
_TASK: Final = Query(parse("SELECT version, status, current_step FROM agent_tasks"))
_STEPS: Final = Query(parse("SELECT step_index, status, attempt, output FROM agent_task_steps"))


async def create_tables(database: D1Database) -> None:
    """The library's tables are there."""
    for file in sorted(MIGRATIONS.glob("*.sql")):
        await run_batch(database, split(file.read_text("utf-8")))


Happen = Callable[[str, str | None], None]


def agent_of(
    steps: int, effect: Effect, happen: Happen, policy: CheckpointPolicy | None = None
) -> Agent:
    """An agent whose task has `steps` steps that each make one effect outside."""

    async def act(call: ToolCall) -> dict[str, int]:
        happen(
            f"step {call.step_index}", call.idempotency_key if effect != "non_idempotent" else None
        )
        return {"step": call.step_index}

    async def plan(_goal: str) -> Sequence[PlannedStep]:
        return [PlannedStep("act", {"n": index}) for index in range(steps)]

    tool = Tool("act", act, effect, backoff=Backoff(first_s=0, cap_s=0))
    policy = policy or CheckpointPolicy.every_step()
    return Agent(tools={"act": tool}, plan=plan, policy=policy)


@dataclass(frozen=True, slots=True)
class ReferenceTask:
    """A `Scenario`: a task of `steps` steps of one `effect`."""

    steps: int
    effect: Effect
    lease_s: float = 61.0
    policy: CheckpointPolicy | None = None

    @property
    def name(self) -> str:
        return f"{self.steps} steps, {self.effect}"

    async def prepare(self, world: World) -> None:
        await create_tables(world.database)
        await open_session(SESSION, "user-1", D1StateStore(world.env(Probe()).DB))

    async def request(self, env: Any, probe: Probe, world: World) -> Answer:
        def happen(name: str, key: str | None) -> None:
            world.effects.happen(name, key=key, worker=world.worker)

        agent = self.agent(happen)
        edgestate.observe = observing(probe)
        try:
            result = await run_agent_with_lock("go", SESSION, env, agent=agent, request_id=REQUEST)
        finally:
            edgestate.observe = None
        return ANSWERS[result["status"]]

    def agent(self, happen: Happen) -> Agent:
        """What runs the task; `happen` is the outside world."""
        return agent_of(self.steps, self.effect, happen, self.policy)

    async def decide(self, env: Any, world: World) -> None:
        store = D1StateStore(env.DB)
        for task in await store.get_tasks_by_session(SESSION):
            index = task.current_step
            has_happened = any(e.name == f"step {index}" for e in world.effects.happened)
            if has_happened:
                await resolve_step(store, task, index, "done", {"step": index})
            else:
                await resolve_step(store, task, index, "retry")

    async def stored(self, world: World) -> Stored:
        statuses, steps = await world.engine.run([_STATUS, _SUCCESSES])
        successes = frozenset((int(str(i)), json.dumps(output)) for i, output in steps.rows)
        return Stored(successes, [row[0] for row in statuses.rows] == ["completed"])

    async def committed(self, world: World) -> tuple[int, object]:
        fences, tasks, steps = await world.engine.run([_FENCE, _TASK, _STEPS])
        return (int(str(fences.rows[0][0])) if fences.rows else 0), (tasks.rows, steps.rows)

    def step_of(self, call: Call) -> int:
        arguments: Any = call.arguments[0]
        return int(arguments["n"])


ANSWERS: Final = {
    "completed": Answer.DONE,
    "waiting_tool": Answer.ASKED,
    "conflict": Answer.BUSY,
}


def observing(probe: Probe) -> edgestate.Observe:
    """What `edgestate.observe` is for a worker behind `probe`."""

    async def observe(
        name: str, arguments: Any, operation: Callable[[], Awaitable[object]]
    ) -> object:
        return await probe.run(tool_call(name, arguments), operation)

    return observe
