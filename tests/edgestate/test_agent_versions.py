"""Two who change one task at once: one wins, the other knows, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from freezegun.api import FrozenDateTimeFactory
from tests.conformance.state_store import a_task
from tests.edgestate.world import Effects, plan_of

from edgestate import (
    Agent,
    D1StateStore,
    StateCheckpoint,
    StateStore,
    TaskNotFound,
    VersionConflict,
    VersionedTaskState,
    load_or_reject_session,
    run_agent_with_state,
    save_task_with_version,
    update_task,
)

pytestmark = pytest.mark.anyio

Freeze = Callable[[str], FrozenDateTimeFactory]


async def test_of_two_writers_of_one_version_one_succeeds(versioned_store: StateStore) -> None:
    await versioned_store.save_task(a_task())
    copies = [await versioned_store.get_task("t") for _ in range(2)]
    first, second = copies
    assert first is not None
    assert second is not None
    first.goal, second.goal = "first", "second"

    won = await save_task_with_version(versioned_store, first)
    lost = await save_task_with_version(versioned_store, second)

    assert won == {"success": True, "currentVersion": 2}
    assert lost == {"success": False, "currentVersion": 2}
    assert (first.version, second.version) == (2, 1)
    stored = await versioned_store.get_task("t")
    assert stored is not None
    assert stored.goal == "first"


async def test_a_task_that_is_gone_is_a_conflict_and_not_resurrected(
    versioned_store: StateStore,
) -> None:
    task = a_task()
    task.version = 3

    assert await save_task_with_version(versioned_store, task) == {"success": False}
    assert await versioned_store.get_task("t") is None


async def test_a_new_task_is_stored_with_version_one(versioned_store: StateStore) -> None:
    task = a_task()

    result = await save_task_with_version(versioned_store, task)

    assert result == {"success": True, "currentVersion": 1}


async def test_a_new_task_does_not_replace_a_stored_one(versioned_store: StateStore) -> None:
    await versioned_store.save_task(a_task())

    result = await save_task_with_version(versioned_store, a_task())

    assert result == {"success": False, "currentVersion": 1}


async def test_twenty_updates_at_once_all_count(versioned_store: StateStore) -> None:
    await versioned_store.save_task(a_task())

    def count(task: VersionedTaskState) -> None:
        task.counters["n"] = task.counters.get("n", 0) + 1

    await asyncio.gather(*(update_task(versioned_store, "t", count, retries=30) for _ in range(20)))

    stored = await versioned_store.get_task("t")
    assert stored is not None
    assert stored.counters == {"n": 20}
    assert stored.version == 21


async def test_an_update_gives_up_after_its_retries(versioned_store: StateStore) -> None:
    await versioned_store.save_task(a_task())

    async def always_too_late(task: VersionedTaskState) -> None:
        other = await versioned_store.get_task("t")
        assert other is not None
        await versioned_store.save_task(other)

    with pytest.raises(VersionConflict) as refusal:
        await update_task(versioned_store, "t", always_too_late, retries=1)
    assert (refusal.value.expected, refusal.value.actual) == (2, 3)


async def test_an_update_of_nothing_says_so(versioned_store: StateStore) -> None:
    with pytest.raises(TaskNotFound):
        await update_task(versioned_store, "nothing", lambda task: None)


# --- the document's three cases (section 8) ---


async def test_what_the_page_changes_while_the_worker_runs_is_kept(d1: D1StateStore) -> None:
    effects = Effects()

    async def change_goal() -> None:
        await update_task(d1, "t", lambda task: setattr(task, "goal", "the page's"))

    look = effects.tool("look", "read")

    async def while_running(call: object) -> dict[str, str]:
        await change_goal()
        return {"seen": "it"}

    agent = Agent(
        tools={"look": type(look)("look", while_running, "read")}, plan=plan_of("look", "look")
    )
    task = a_task(steps=2, request_id="r")
    await d1.create_task(task)

    done = await run_agent_with_state("go", "s", d1, agent=agent, request_id="r")

    stored = await d1.get_task("t")
    assert stored is not None
    assert (stored.goal, stored.status) == ("the page's", "completed")
    assert [step.output for step in stored.steps] == [{"seen": "it"}] * 2
    assert done.version == stored.version


async def test_a_second_device_reads_every_step_as_it_is_stored(d1: D1StateStore) -> None:
    seen: list[tuple[int, int]] = []

    async def look(call: object) -> None:
        other_device = D1StateStore(d1._d1._db)
        task = await other_device.get_task("t")
        assert task is not None
        seen.append((task.current_step, task.version))

    tool = Effects().tool("look", "read")
    agent = Agent(tools={"look": type(tool)("look", look, "read")}, plan=plan_of("look"))
    await d1.create_task(a_task(steps=3, request_id="r"))

    await run_agent_with_state("go", "s", d1, agent=agent, request_id="r")

    assert seen == [(0, 2), (1, 3), (2, 4)]


async def test_cron_and_a_user_touch_one_session_without_losing_either(
    d1: D1StateStore, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    clock.tick(3601)

    swept, loaded = await asyncio.gather(d1.sweep(), load_or_reject_session("s", d1))

    session = await d1.get_session("s")
    assert session is not None
    was_swept = "s" in swept.expired
    assert (session.status == "expired") == was_swept
    assert ("error" in loaded) or not was_swept


async def test_a_checkpoint_without_a_lease_reports_the_conflict(
    versioned_store: StateStore,
) -> None:
    await versioned_store.save_task(a_task())
    mine, other = await versioned_store.get_task("t"), await versioned_store.get_task("t")
    assert mine is not None
    assert other is not None
    checkpoint = StateCheckpoint(versioned_store, mine)
    await versioned_store.save_task(other)

    checkpoint.update_step(0, {"status": "success"})
    with pytest.raises(VersionConflict):
        await checkpoint.flush()

    assert checkpoint.is_dirty
