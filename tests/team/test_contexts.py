"""Message zero, frozen contexts, work cycles, and writes that check the pointer."""

from __future__ import annotations

import pytest
from tests.team.world import Team, claimed

from edgestate.team import (
    AccessDenied,
    ContextConflictError,
    ContextExists,
    Cycle,
    Subtask,
    UnknownContext,
)
from localedge.errors import JsException

pytestmark = pytest.mark.anyio


async def test_a_goal_begins_with_a_context_and_message_zero(team: Team) -> None:
    cycle = await team.goal(context={"tone": "plain"})
    worker = await team.worker()

    (zero,) = await worker.messages.poll()
    context = await worker.contexts.begin_cycle("worker-1", cycle.context_id)

    assert zero.content == {"context_id": "task:goal:ctx:1", "task_id": "goal"}
    assert context.payload == {"tone": "plain"}


async def test_beginning_a_goal_twice_begins_it_once(team: Team) -> None:
    first = await team.goal()

    again = await team.goal()

    assert first == again
    assert len(await team.rows("SELECT * FROM agent_messages")) == 1


async def test_freezing_moves_the_pointer_by_one_and_keeps_the_older_context(team: Team) -> None:
    cycle = await team.goal()
    planner = await team.planner()

    version = await planner.contexts.draft(cycle, "new plan")
    frozen = await planner.contexts.freeze_context("goal", version)

    assert (version, frozen) == (2, 2)
    assert await planner.contexts.read_context("goal", 2) == "new plan"
    assert await planner.contexts.read_context("goal", 1, pinned=True) == "as agreed"


async def test_freezing_again_changes_nothing_and_another_content_is_refused(team: Team) -> None:
    await team.goal()
    planner = await team.planner()
    await planner.contexts.freeze_context("goal", 2, context="new plan")

    assert await planner.contexts.freeze_context("goal", 2, context="new plan") == 2
    with pytest.raises(ContextExists):
        await planner.contexts.freeze_context("goal", 2, context="another plan")

    assert await planner.contexts.read_context("goal", 2) == "new plan"


@pytest.mark.parametrize("version", [4, 17])
async def test_the_caller_cannot_choose_a_version_that_is_not_the_next(
    team: Team, version: int
) -> None:
    await team.goal()
    planner = await team.planner()

    with pytest.raises(ContextConflictError):
        await planner.contexts.freeze_context("goal", version, context="far away")

    assert await planner.contexts.current_version("goal") == 1
    assert len(await team.rows("SELECT * FROM contexts")) == 1


async def test_reading_another_version_is_refused_in_the_documents_words(team: Team) -> None:
    await team.goal()
    planner, worker = await team.planner(), await team.worker()
    await planner.contexts.freeze_context("goal", 2, context="new plan")

    with pytest.raises(ContextConflictError) as refused:
        await worker.contexts.read_context("goal", 1)

    assert str(refused.value) == "上下文版本不一致: expected 1, actual 2"


async def test_an_agent_that_lies_about_its_context_is_refused(team: Team) -> None:
    await team.goal("a")
    await team.goal(task_id="other")
    worker = await team.worker()

    with pytest.raises(UnknownContext):
        await worker.contexts.begin_cycle("worker-1", "task:goal:ctx:7")
    with pytest.raises(ContextConflictError):
        await worker.messages.send("planner", "note", 1, cycle=Cycle("goal", 7, "made up"))
    with pytest.raises(ContextConflictError):
        await worker.messages.send("planner", "note", 1, cycle=Cycle("a", 1, "no goal"))

    assert len(await team.rows("SELECT * FROM agent_messages")) == 2


async def test_an_agent_that_claims_to_be_another_is_refused_and_written_down(team: Team) -> None:
    cycle = await team.goal()
    worker = await team.worker()

    with pytest.raises(AccessDenied):
        await worker.contexts.begin_cycle("planner", cycle.context_id)
    with pytest.raises(AccessDenied):
        await worker.bootstrap("planner")

    denials = await team.rows("SELECT agent_id, object FROM access_denials")
    assert denials == [{"agent_id": "worker-1", "object": "as agent planner"}] * 2


async def test_only_the_planner_begins_drafts_and_freezes(team: Team) -> None:
    cycle = await team.goal()
    worker = await team.worker()

    with pytest.raises(AccessDenied):
        await worker.contexts.begin("mine", "goal", None)
    with pytest.raises(AccessDenied):
        await worker.contexts.draft(cycle, "my own idea")
    with pytest.raises(AccessDenied):
        await worker.contexts.freeze_context("goal", 2, context="my own idea")

    assert len(await team.rows("SELECT * FROM access_denials")) == 3


async def test_every_write_of_a_cycle_is_refused_once_the_context_is_newer(team: Team) -> None:
    cycle = await team.goal("a")
    planner, worker = await team.planner(), await team.worker()
    held = await claimed(worker)
    await planner.contexts.freeze_context("goal", 2, context="new plan")

    with pytest.raises(ContextConflictError):
        await worker.board.complete(held, 1, summary="one")
    with pytest.raises(ContextConflictError):
        await worker.messages.send("planner", "note", 1, cycle=cycle)
    with pytest.raises(ContextConflictError):
        await worker.memory.create(
            "k", 1, kind="note", visibility="private", scope="a", cycle=cycle
        )
    with pytest.raises(ContextConflictError):
        await planner.planning.plan(cycle, [Subtask("b", "work")], reason="late")


async def test_after_a_new_context_the_planner_rebases_and_the_work_begins_anew(team: Team) -> None:
    cycle = await team.goal("a", "b")
    planner, worker = await team.planner(), await team.worker()
    held = await claimed(worker)
    await planner.contexts.freeze_context("goal", 2, context="new plan")
    nothing_to_claim = await worker.board.claim()

    with pytest.raises(ContextConflictError) as conflict:
        await worker.board.complete(held, 1, summary="one")
    await worker.contexts.request_resync("planner", conflict.value, held.task.task_id)
    (request,) = await planner.messages.poll()
    newest = (await planner.board.task("goal")).cycle
    await planner.planning.rebase(newest, reason="asked for")
    again = await claimed(worker)
    await worker.board.complete(again, 2, summary="two")

    assert nothing_to_claim is None
    assert (request.message_type, request.content) == (
        "resync_requested",
        {"task_id": held.task.task_id, "seen": "1"},
    )
    assert (cycle.version, again.task.context_version) == (1, 2)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE contexts SET payload = '\"forged\"'",
        "DELETE FROM contexts",
        "REPLACE INTO contexts SELECT * FROM contexts",
        "UPDATE contexts SET frozen = 0",
    ],
)
async def test_the_database_refuses_every_change_of_a_frozen_context(team: Team, sql: str) -> None:
    await team.goal()

    with pytest.raises(JsException, match="agent_append_only"):
        await team.run(sql)
