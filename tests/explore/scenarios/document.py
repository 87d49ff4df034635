"""The first seed document's own code under exploration: each of its faults has a scenario."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from tests.edgestate import counterexample as document

from localedge.explore import (
    Broken,
    Client,
    EffectsAtMostOnce,
    Holds,
    IndexEqualsRows,
    Outcome,
    Scenario,
    Setting,
    View,
    act,
)

KV = Setting(kv=("KV",))
TASK = {"taskId": "t", "sessionId": "s", "version": 1}
STEPS = 4


async def locked_work(env: Any, holder: str) -> str:
    """Work under the document's lock: it must be alone between the two effects."""
    if not await document.acquire_task_lock(env.KV, "t", holder, 60):
        return "busy"
    await act(f"{holder} enters")
    await act(f"{holder} leaves")
    await document.release_task_lock(env.KV, "t", holder)
    return "done"


async def two_holders(client: Client) -> None:
    await client.at_once(client.call(locked_work, "a"), client.call(locked_work, "b"))


async def one_at_a_time(view: View) -> None:
    inside = ""
    for effect in view.outside.happened:
        holder, _, verb = effect.name.partition(" ")
        if inside and holder != inside:
            raise Broken(Outcome.DIVERGED, f"{holder} has the lock while {inside} has it")
        inside = holder if verb == "enters" else ""


async def save(env: Any, who: str) -> dict[str, Any]:
    """One writer of version 1; the document tells it whether it has won."""
    return await document.save_task_with_version(env.KV, {**TASK, "by": who})


async def two_writers(client: Client) -> None:
    answers = await client.at_once(client.call(save, "a"), client.call(save, "b"))
    winners = sum(answer.value["success"] for answer in answers)
    if winners > 1:
        client.broken(Outcome.LOST, f"{winners} writers of one version succeeded: one is lost")


async def prepared(env: Any, _outside: Any) -> None:
    await env.KV.put("agent:task:t", json.dumps(TASK))


async def add(env: Any, task_id: str) -> None:
    """A task is saved, and with it its session's index."""
    task = {**document.create_new_task("s", "go", 1), "taskId": task_id}
    await document.KVStateStore(env.KV).save_task(task)


async def two_tasks(client: Client) -> None:
    await client.at_once(client.call(add, "one"), client.call(add, "two"))


async def tasks_later(client: Client) -> None:
    """One task after the other, a few seconds apart: KV may still answer from before."""
    await client.run(add, "one")
    await client.sleep(5)
    await client.run(add, "two")


async def index(view: View) -> list[str]:
    found: list[str] = json.loads(view.entry("agent:session:s:tasks") or "[]")
    return found


async def rows(view: View) -> list[str]:
    store = next(iter(view.stores.namespaces.values()))
    names = [key.decode() for key in store.snapshot().entries]
    return [n.removeprefix("agent:task:") for n in names if n.startswith("agent:task:")]


def loop_of(steps: int) -> Callable[[Any], Awaitable[None]]:
    """The document's agent: `steps` steps that each have one effect outside."""

    async def loop(env: Any) -> None:
        async def execute_step(step: dict[str, Any]) -> Any:
            return await act(f"step {step['stepIndex']}", answer={"done": True})

        store = document.KVStateStore(env.KV)
        await document.run_agent_with_state("go", "s", store, execute_step, steps)

    return loop


def one_task(steps: int) -> Callable[[Client], Awaitable[None]]:
    """A client that asks for a task of so many steps."""
    loop = loop_of(steps)

    async def client(client: Client) -> None:
        await client.run(loop)

    return client


def completing(steps: int, name: str = "completion") -> Scenario:
    """A task whose completion has to be stored."""
    return Scenario(one_task(steps), must=[Holds(is_completed)], setting=KV, name=name)


def acting(steps: int, name: str = "effects") -> Scenario:
    """A task whose effects have to happen once."""
    return Scenario(one_task(steps), must=[EffectsAtMostOnce()], setting=KV, name=name)


async def is_completed(view: View) -> None:
    task = json.loads(view.entry("agent:task:task-of-s") or "{}")
    if task.get("status") != "completed":
        raise Broken(Outcome.LOST, f"the task is done and stored as {task.get('status')}")


lock = Scenario(two_holders, must=[Holds(one_at_a_time)], setting=KV, name="lock")
version = Scenario(two_writers, setting=KV, setup=prepared, name="version")
task_index = Scenario(two_tasks, must=[IndexEqualsRows(index, rows)], setting=KV, name="index")
index_later = Scenario(
    tasks_later, must=[IndexEqualsRows(index, rows)], setting=KV, name="index later"
)
completion = completing(STEPS)
effects = acting(STEPS)
