"""The document's own code fails where the ⚠ rows say, and the harness is what notices."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest
from tests.edgestate import counterexample

from localedge.errors import JsException
from localedge.explore.crash import Ending, Explorer
from localedge.explore.death import tool_call
from localedge.explore.scenario import Answer, Stored
from localedge.explore.world import World
from localedge.probe import Call, Probe

pytestmark = pytest.mark.anyio


@dataclass(frozen=True, slots=True)
class DocumentTask:
    """A `Scenario`: the document's loop on its KV store."""

    steps: int
    lease_s: float = 61.0

    @property
    def name(self) -> str:
        return f"the document's loop, {self.steps} steps"

    async def prepare(self, world: World) -> None:
        return None

    async def request(self, env: Any, probe: Probe, world: World) -> Answer:
        async def execute_step(step: dict[str, Any]) -> dict[str, int]:
            index = step["stepIndex"]

            async def effect() -> dict[str, int]:
                world.effects.happen(f"step {index}", key=None, worker=world.worker)
                return {"step": index}

            return await probe.run(tool_call("act", index), effect)

        store = counterexample.KVStateStore(env.KV)
        await counterexample.run_agent_with_state("go", "s", store, execute_step, self.steps)
        return Answer.DONE

    async def decide(self, env: Any, world: World) -> None:
        raise AssertionError("the document asks nobody")

    async def stored(self, world: World) -> Stored:
        text = await world.env(Probe()).KV.get("agent:task:task-of-s")
        if text is None:
            return Stored(frozenset(), False)
        task = json.loads(text)
        done = [s for s in task["steps"] if s["status"] == "success"]
        successes = frozenset((s["stepIndex"], json.dumps(s["output"])) for s in done)
        return Stored(successes, task["status"] == "completed")

    async def committed(self, world: World) -> tuple[int, object]:
        return 0, None

    def step_of(self, call: Call) -> int:
        return int(str(call.arguments[0]))


async def _undisturbed(steps: int) -> Ending:
    with World() as world:
        explorer = Explorer(DocumentTask(steps), world)
        ending, _ = await explorer.run(await explorer.begin(), {}, label="undisturbed")
    return ending


async def _singles(steps: int) -> list[Ending]:
    with World() as world:
        explorer = Explorer(DocumentTask(steps), world)
        start = await explorer.begin()
        return [ending async for ending, _, _, _ in explorer.singles(start)]


@pytest.mark.parametrize("steps", [1, 4, 7, 10])
async def test_the_completion_is_never_stored_when_the_last_step_flushed(steps: int) -> None:
    ending = await _undisturbed(steps)

    assert ending.lost[:1] == ["the completion"]


@pytest.mark.parametrize("steps", [2, 3, 5, 6])
async def test_the_completion_is_stored_otherwise(steps: int) -> None:
    ending = await _undisturbed(steps)

    assert ending.is_clean


async def test_most_deaths_repeat_effects() -> None:
    endings = [e for e in await _singles(6) if e.label.endswith(("before", "after"))]

    assert sum(bool(e.twice) for e in endings) > len(endings) * 2 / 3
    assert max(len(e.twice) for e in endings) >= 4


async def test_finished_steps_run_again_because_the_pointer_never_moves() -> None:
    endings = await _singles(6)

    assert any(0 in ending.rerun for ending in endings)


async def test_a_task_that_dies_before_its_first_step_ended_was_never_stored() -> None:
    with World() as world:
        explorer = Explorer(DocumentTask(3), world)
        _, trace = await explorer.run(await explorer.begin(), {}, label="", is_recording=True)

    first_effect = min(point for point, call in trace.calls.items() if call.kind == "tool")
    assert trace.before[first_effect].entries == {}


# --- races, by hand: two workers whose calls take turns ---


async def test_the_document_lock_is_given_to_everybody(kv: Any) -> None:
    first = await counterexample.acquire_task_lock(kv, "t", "a", 60)
    second = await counterexample.acquire_task_lock(kv, "t", "b", 60)

    assert (first, second) == (True, True)


async def test_the_document_lock_throws_with_its_own_default(kv: Any) -> None:
    with pytest.raises(JsException, match="at least 60"):
        await counterexample.acquire_task_lock(kv, "t", "a")


async def test_both_writers_of_one_version_succeed_and_one_is_lost(kv: Any) -> None:
    task = {"taskId": "t", "version": 1}
    await kv.put("agent:task:t", json.dumps(task))

    results = await asyncio.gather(
        counterexample.save_task_with_version(kv, {**task, "by": "a"}),
        counterexample.save_task_with_version(kv, {**task, "by": "b"}),
    )

    assert [result["success"] for result in results] == [True, True]


async def test_a_task_that_expired_is_resurrected_by_any_version(kv: Any) -> None:
    result = await counterexample.save_task_with_version(kv, {"taskId": "t", "version": 99})

    assert result["success"]


async def test_tasks_saved_at_once_drop_out_of_the_index(kv: Any) -> None:
    store = counterexample.KVStateStore(kv)
    tasks = [{**counterexample.create_new_task("s", "go", 1), "taskId": f"t{n}"} for n in range(5)]

    await asyncio.gather(*(store.save_task(task) for task in tasks))

    assert len(await store.get_tasks_by_session("s")) < 5


async def test_a_session_named_like_an_index_is_the_index(kv: Any) -> None:
    assert counterexample.session_key("x:tasks") == counterexample.session_tasks_key("x")
