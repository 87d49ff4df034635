"""`edgestate.team`: two workers share a goal's subtasks through D1, with KV as a cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import edgestate
from edgestate.team import D1Record, Subtask, TeamMember, enrol
from localedge.explore import (
    Broken,
    Client,
    EffectsAtMostOnce,
    Grows,
    Holds,
    Outcome,
    Scenario,
    Setting,
    View,
    act,
)

TABLES = Setting(
    kv=("KV",), d1=("DB",), migrations=(Path(edgestate.__file__).parent / "migrations",)
)
TASKS = ("a", "b")


async def member(env: Any, name: str, role: Any = "worker", lane: int = 0) -> TeamMember:
    record = D1Record(env.DB)
    return TeamMember(record, await enrol(record, name, role), kv=env.KV, lane=lane)


async def planned(env: Any, _outside: Any) -> None:
    planner = await member(env, "planner", "planner")
    cycle = await planner.contexts.begin("goal", "goal", "as agreed")
    plan = [Subtask(name, "work") for name in TASKS]
    await planner.planning.plan(cycle, plan, reason="each can be done alone")
    await planner.contexts.freeze_context("goal", 1)


async def work(env: Any, number: int) -> str | None:
    """A worker does one task, if there is one; its effect has the task's key."""
    me = await member(env, f"worker-{number}", lane=number - 1)
    held = await me.board.claim()
    if held is None:
        return None
    done = await act(f"effect of {held.task.task_id}", key=held.task.task_id, answer={"ok": True})
    await me.board.complete(held, done, summary="done")
    return held.task.task_id


async def left(env: Any) -> int:
    """How many tasks have no result yet."""
    me = await member(env, "worker-1")
    results = [await me.board.result(name) for name in TASKS]
    return results.count(None)


async def until_done(client: Client) -> None:
    while await client.run(left):
        if await client.run(work, 1) is None:
            await client.sleep(61)


async def together(client: Client) -> None:
    await client.at_once(client.call(work, 1), client.call(work, 2))
    await until_done(client)


async def numbers(view: View) -> dict[str, int]:
    rows = await view.sql("SELECT task_id, version, fence FROM task_status")
    found = {f"the version of {row[0]}": row[1] for row in rows}
    return {**found, **{f"the fence of {row[0]}": row[2] for row in rows}}


async def one_result_each(view: View) -> None:
    rows = await view.sql("SELECT task_id, COUNT(*) FROM task_results GROUP BY task_id")
    counts = dict(rows)
    if counts != dict.fromkeys(TASKS, 1):
        raise Broken(Outcome.DUPLICATE, f"results: {counts}")


HOLDS = (EffectsAtMostOnce(), Grows(numbers, "it"), Holds(one_result_each))
team = Scenario(until_done, must=HOLDS, setting=TABLES, setup=planned, name="team")
team_at_once = Scenario(
    together, must=HOLDS, setting=TABLES, setup=planned, name="team, two workers at once"
)
