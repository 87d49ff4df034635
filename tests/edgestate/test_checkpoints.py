"""When progress is stored, how much a crash can repeat, and that no change is lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from tests.conformance.state_store import a_task
from tests.edgestate.world import Effects, plan_of

from edgestate import (
    Agent,
    CheckpointPolicy,
    D1StateStore,
    InvalidTransition,
    MemoryStateStore,
    StateCheckpoint,
    StateStore,
    StepNotFound,
    Tool,
    ToolCall,
    VersionedTaskState,
    open_session,
    run_agent_with_state,
)
from edgestate.statuses import Effect

pytestmark = pytest.mark.anyio

STEPS = 7


class Died(BaseException):
    """The worker is gone."""


class Mortal(Effects):
    """An outside world in which the worker dies at a chosen call, before or after its effect."""

    def __init__(self, dies_at: int, *, after_effect: bool) -> None:
        super().__init__()
        self._left = dies_at
        self._after_effect = after_effect

    def tool(self, name: str, effect: Effect, **options: Any) -> Tool:
        inner = super().tool(name, effect, **options)

        async def run(call: ToolCall) -> object:
            self._left -= 1
            if self._left == 0 and not self._after_effect:
                raise Died
            result = await inner.run(call)
            if self._left == 0:
                raise Died
            return result

        return Tool(name, run, effect, **options)


@pytest.mark.parametrize("after_effect", [False, True])
@pytest.mark.parametrize("dies_at", range(1, STEPS + 1))
@pytest.mark.parametrize(
    "policy",
    [
        CheckpointPolicy.every_step(),
        CheckpointPolicy.every_n(3),
        CheckpointPolicy.key_points(),
        CheckpointPolicy.at_end(),
    ],
    ids=lambda value: getattr(value, "name", None),
)
async def test_a_crash_repeats_no_more_than_the_policy_says(
    policy: CheckpointPolicy, dies_at: int, after_effect: bool
) -> None:
    outside = Mortal(dies_at, after_effect=after_effect)
    store = MemoryStateStore()
    await open_session("s", "u", store)
    agent = Agent(
        tools={"look": outside.tool("look", "idempotent")},
        plan=plan_of(*["look"] * STEPS),
        policy=policy,
    )
    with pytest.raises(Died):
        await run_agent_with_state("go", "s", store, agent=agent, request_id="r")

    task = await run_agent_with_state("go", "s", store, agent=agent, request_id="r")

    repeated = sum(count - 1 for count in Counter(outside.log).values())
    bound = STEPS if policy.redo_bound is None else policy.redo_bound
    assert task.status == "completed"
    assert repeated <= bound


async def test_the_policies_write_as_often_as_they_say(d1: D1StateStore) -> None:
    versions = {}
    for policy in (
        CheckpointPolicy.every_step(),
        CheckpointPolicy.every_n(3),
        CheckpointPolicy.key_points(),
        CheckpointPolicy.at_end(),
    ):
        agent = Agent(
            tools={"look": Effects().tool("look", "read")},
            plan=plan_of(*["look"] * STEPS),
            policy=policy,
        )
        task = await run_agent_with_state("go", "s", d1, agent=agent, request_id=policy.name)
        versions[policy.name] = task.version - 2

    assert versions == {"every_step": 7, "every_3": 3, "key_points": 1, "at_end": 1}


@pytest.mark.parametrize("policy", [CheckpointPolicy.at_end(), CheckpointPolicy.every_n(9)])
async def test_no_policy_delays_the_intent_or_the_result_of_a_charge(
    d1: D1StateStore, policy: CheckpointPolicy
) -> None:
    stored_at_effect: list[tuple[str, str]] = []

    async def charge(call: ToolCall) -> None:
        task = await d1.get_task(call.task_id)
        assert task is not None
        stored_at_effect.append((task.steps[0].status, task.steps[call.step_index].status))

    outside = Effects()
    agent = Agent(
        tools={"look": outside.tool("look", "read"), "charge": Tool("charge", charge)},
        plan=plan_of("look", "charge", "look"),
        policy=policy,
    )

    task = await run_agent_with_state("go", "s", d1, agent=agent, request_id="r")

    assert stored_at_effect == [("success", "running")]
    assert task.version == 5


def test_a_policy_of_no_steps_is_refused() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        CheckpointPolicy.every_n(0)


# --- StateCheckpoint ---


async def test_a_new_task_is_stored_by_the_first_flush(versioned_store: StateStore) -> None:
    checkpoint = StateCheckpoint(versioned_store, a_task())

    await checkpoint.flush()

    assert await versioned_store.get_task("t") is not None


async def test_a_flush_without_a_change_writes_nothing(versioned_store: StateStore) -> None:
    checkpoint = StateCheckpoint(versioned_store, a_task())
    await checkpoint.flush()

    await checkpoint.flush()

    assert checkpoint.get_task().version == 1


async def test_a_completion_that_is_set_directly_is_stored(versioned_store: StateStore) -> None:
    checkpoint = StateCheckpoint(versioned_store, a_task(steps=0))
    await checkpoint.flush()

    checkpoint.get_task().status = "completed"
    checkpoint.mark_dirty()
    await checkpoint.flush()

    stored = await versioned_store.get_task("t")
    assert stored is not None
    assert stored.status == "completed"


async def test_the_pointer_moves_with_the_results(versioned_store: StateStore) -> None:
    checkpoint = StateCheckpoint(versioned_store, a_task(steps=3))
    for index in (0, 2, 1):
        checkpoint.update_step(index, {"status": "success"})
        await checkpoint.flush()

        stored = await versioned_store.get_task("t")
        assert stored is not None
        assert stored.current_step == {0: 1, 2: 1, 1: 3}[index]


class Slow(MemoryStateStore):
    """A store whose commits wait until they are let go."""

    def __init__(self) -> None:
        super().__init__()
        self.is_writing, self.go = asyncio.Event(), asyncio.Event()

    async def commit(self, task: VersionedTaskState, *args: Any, **options: Any) -> int:
        version = await super().commit(task, *args, **options)
        self.is_writing.set()
        await self.go.wait()
        return version


async def test_a_change_made_while_another_is_stored_is_not_lost() -> None:
    store = Slow()
    await open_session("s", "u", store)
    checkpoint = StateCheckpoint(store, a_task())
    await checkpoint.flush()
    checkpoint.update_step(0, {"status": "success"})
    flushing = asyncio.ensure_future(checkpoint.flush())
    async with asyncio.timeout(10):
        await store.is_writing.wait()

    checkpoint.update_step(1, {"status": "success", "output": "late"})
    store.go.set()
    await flushing
    was_dirty = checkpoint.is_dirty
    await checkpoint.flush()

    stored = await store.get_task("t")
    assert was_dirty
    assert stored is not None
    assert stored.steps[1].output == "late"


async def test_twenty_steps_that_end_together_are_all_stored(versioned_store: StateStore) -> None:
    checkpoint = StateCheckpoint(versioned_store, a_task(steps=20))
    await checkpoint.flush()

    async def end(index: int) -> None:
        await asyncio.sleep(0)
        checkpoint.update_step(index, {"status": "success", "output": index})
        await checkpoint.flush()

    await asyncio.gather(*map(end, range(20)))

    stored = await versioned_store.get_task("t")
    assert stored is not None
    assert [step.output for step in stored.steps] == list(range(20))
    assert stored.current_step == 20


async def test_a_step_that_is_not_there_or_cannot_change_so_is_refused(
    versioned_store: StateStore,
) -> None:
    checkpoint = StateCheckpoint(versioned_store, a_task(steps=1))
    checkpoint.update_step(0, {"status": "success"})

    with pytest.raises(StepNotFound):
        checkpoint.update_step(1, {"status": "success"})
    with pytest.raises(InvalidTransition):
        checkpoint.update_step(0, {"output": "other", "status": "pending"})

    assert checkpoint.get_task().steps[0].output is None


async def test_a_checkpoint_on_kv_saves_for_one_writer(store: StateStore) -> None:
    await open_session("s", "u", store)
    checkpoint = StateCheckpoint(store, a_task())

    checkpoint.update_step(0, {"status": "success", "output": 1})
    await checkpoint.flush()

    stored = await store.get_task("t")
    assert stored is not None
    assert (stored.current_step, stored.steps[0].output) == (1, 1)
