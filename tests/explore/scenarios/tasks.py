"""Tasks of `edgestate` on D1: steps of one kind, each with one effect outside."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import edgestate
from edgestate import (
    Agent,
    Backoff,
    CheckpointPolicy,
    D1StateStore,
    PlannedStep,
    Tool,
    ToolCall,
    VersionedTaskState,
    open_session,
    resolve_step,
    run_agent_with_lock,
    save_task_with_version,
)
from edgestate.statuses import Effect
from localedge.explore import (
    AgentState,
    Client,
    EffectsAtMostOnce,
    Outcome,
    Scenario,
    Setting,
    happen,
)

TABLES = Setting(d1=("DB",), migrations=(Path(edgestate.__file__).parent / "migrations",))
SESSION = "session-1"
HOLDS = (EffectsAtMostOnce(), AgentState())
Go = Callable[[Any], Awaitable[str]]


def task(
    steps: int, effect: Effect, *, takes_s: float = 0.0, policy: CheckpointPolicy | None = None
) -> Go:
    """Worker code that runs the task of one request as far as it goes."""

    async def act(call: ToolCall) -> dict[str, int]:
        if takes_s:
            await asyncio.sleep(takes_s)
        key = None if effect == "non_idempotent" or takes_s else call.idempotency_key
        happen(f"step {call.step_index}", key=key)
        return {"step": call.step_index}

    async def plan(_goal: str) -> list[PlannedStep]:
        return [PlannedStep("act", {"n": index}) for index in range(steps)]

    at_once = Backoff(first_s=0, cap_s=0)
    tool = Tool("act", act, effect, backoff=at_once, timeout_s=takes_s + 20)
    policy = policy or CheckpointPolicy.every_step()
    return going(Agent(tools={"act": tool}, plan=plan, policy=policy))


def going(agent: Agent) -> Go:
    """Worker code that runs what `agent` does for one request."""

    async def go(env: Any) -> str:
        done = await run_agent_with_lock("go", SESSION, env, agent=agent, request_id="request-1")
        return done["status"]

    return go


async def decide(env: Any, happened: Mapping[str, int]) -> None:
    """A person looks outside and answers what the task asks."""
    store = D1StateStore(env.DB)
    for one in await store.get_tasks_by_session(SESSION):
        index = one.current_step
        if happened.get(f"step {index}"):
            await resolve_step(store, one, index, "done", {"step": index})
        else:
            await resolve_step(store, one, index, "retry")


def client_of(go: Go) -> Callable[[Client], Awaitable[None]]:
    """A client that asks until the task is completed."""

    async def client(client: Client) -> None:
        while (status := await client.run(go)) != "completed":
            if status == "waiting_tool":
                client.asked()
                await client.once(client.call(decide, await client.effects()))
            else:
                await client.sleep(61)

    return client


def two_of(go: Go) -> Callable[[Client], Awaitable[None]]:
    """The same request from two devices at once, then until the task is completed."""
    later = client_of(go)

    async def client(client: Client) -> None:
        await client.at_once(client.call(go), client.call(go))
        await later(client)

    return client


async def opened(env: Any, _outside: Any) -> None:
    await open_session(SESSION, "user-1", D1StateStore(env.DB))


def scenario(steps: int, effect: Effect, policy: CheckpointPolicy | None = None) -> Scenario:
    """One task, one client."""
    return asking(task(steps, effect, policy=policy), f"{steps} steps, {effect}")


def asking(go: Go, name: str) -> Scenario:
    """One client of a task."""
    return Scenario(client_of(go), must=HOLDS, setting=TABLES, setup=opened, name=name)


def meeting(steps: int, effect: Effect) -> Scenario:
    """One task, two requests at once."""
    go = task(steps, effect)
    name = f"{steps} steps, {effect}, twice"
    return Scenario(two_of(go), must=HOLDS, setting=TABLES, setup=opened, name=name)


def overtaken(go: Go) -> Callable[[Client], Awaitable[None]]:
    """A second request when the first worker's lease of 60 s would be over without renewal."""
    later = client_of(go)

    async def second(env: Any) -> str:
        await asyncio.sleep(65)
        return await go(env)

    async def client(client: Client) -> None:
        await client.at_once(client.call(go), client.call(second))
        await later(client)

    return client


slow = Scenario(
    overtaken(task(4, "idempotent", takes_s=25.0)),
    must=HOLDS,
    setting=TABLES,
    setup=opened,
    name="4 slow steps, overtaken",
)


async def save(env: Any, goal: str) -> bool:
    """A device saves version 1 of the task with another goal."""
    store = D1StateStore(env.DB)
    draft = VersionedTaskState(task_id="task-1", session_id=SESSION, goal=goal, version=1)
    return (await save_task_with_version(store, draft))["success"]


async def two_devices(client: Client) -> None:
    answers = await client.at_once(client.call(save, "a"), client.call(save, "b"))
    winners = sum(bool(answer.value) for answer in answers)
    if winners > 1:
        client.broken(Outcome.LOST, f"{winners} writers of one version succeeded: one is lost")


async def with_task(env: Any, outside: Any) -> None:
    await opened(env, outside)
    store = D1StateStore(env.DB)
    draft = VersionedTaskState(task_id="task-1", session_id=SESSION, goal="first", version=0)
    await save_task_with_version(store, draft)


versions = Scenario(two_devices, setting=TABLES, setup=with_task, name="two devices")
two = scenario(2, "non_idempotent")
idempotent = scenario(4, "idempotent")
non_idempotent = scenario(4, "non_idempotent")
ten = scenario(10, "non_idempotent")
twice = meeting(2, "non_idempotent")
