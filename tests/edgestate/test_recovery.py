"""Where a task goes on, what only a person can decide, and that a decision counts once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.conformance.state_store import a_task
from tests.edgestate.world import Effects, plan_of

from edgestate import (
    Agent,
    D1StateStore,
    DecisionConflict,
    StateStore,
    StepFailed,
    StepNeedsDecision,
    StepNotFound,
    StepNotWaiting,
    StepResult,
    TaskNotFound,
    TaskQuarantined,
    TaskState,
    Tool,
    ToolCall,
    ToolFailed,
    VersionedTaskState,
    find_resumable_step,
    find_resumable_task,
    open_session,
    resolve_step,
    resume_abandoned_tasks,
    run_agent_with_state,
    run_task,
    update_task,
)
from edgestate.statuses import Decision, StepStatus

pytestmark = pytest.mark.anyio


def steps_of(*statuses: StepStatus, **fields: Any) -> TaskState:
    steps = [
        StepResult(step_index=n, action="a", status=s, **fields) for n, s in enumerate(statuses)
    ]
    return TaskState(task_id="t", session_id="s", goal="go", steps=steps)


def test_the_first_step_without_a_result_is_next() -> None:
    assert find_resumable_step(steps_of("success", "pending", "pending")) == 1


def test_nothing_is_next_when_all_steps_have_results() -> None:
    assert find_resumable_step(steps_of("success", "success")) is None
    assert find_resumable_step(steps_of()) is None


def test_a_running_step_that_may_be_repeated_is_pending_again() -> None:
    task = steps_of("running", effect="idempotent", started_at="2026-12-01T00:00:00.000Z")

    assert find_resumable_step(task) == 0
    assert (task.steps[0].status, task.steps[0].started_at) == ("pending", None)


def test_a_running_step_that_must_not_be_repeated_asks() -> None:
    task = steps_of("success", "running")

    with pytest.raises(StepNeedsDecision) as question:
        find_resumable_step(task)

    assert (question.value.step_index, question.value.why) == (1, "uncertain")
    assert task.steps[1].status == "running"


def test_a_failed_step_is_not_skipped() -> None:
    with pytest.raises(StepNeedsDecision) as question:
        find_resumable_step(steps_of("success", "failed", "pending"))

    assert question.value.why == "failed"


# --- decisions ---


@pytest.fixture
async def waiting(versioned_store: StateStore) -> VersionedTaskState:
    """A task whose second step may or may not have charged a card."""
    task = a_task(steps=3)
    task.steps[0].status = "success"
    task.steps[1] = StepResult(step_index=1, action="charge", status="running", attempt=1)
    task.status, task.current_step = "waiting_tool", 1
    await versioned_store.save_task(task)
    return task


@pytest.mark.parametrize(
    ("decision", "status", "output"),
    [("retry", "pending", None), ("skip", "success", None), ("done", "success", {"paid": 5})],
)
async def test_a_decision_is_stored_and_the_task_runs_on(
    versioned_store: StateStore,
    waiting: VersionedTaskState,
    decision: Decision,
    status: str,
    output: Any,
) -> None:
    await resolve_step(versioned_store, waiting, 1, decision, output)

    stored = await versioned_store.get_task("t")
    assert stored is not None
    step = stored.steps[1]
    assert (stored.status, step.status, step.output) == ("running", status, output)
    assert (step.resolution, step.resolved_attempt) == (decision, 1)
    assert stored.current_step == (1 if decision == "retry" else 2)


@pytest.mark.parametrize("decision", ["retry", "skip", "done"])
async def test_a_task_set_to_failed_while_it_asked_can_still_be_decided(
    versioned_store: StateStore, waiting: VersionedTaskState, decision: Decision
) -> None:
    given_up = await update_task(
        versioned_store, "t", lambda task: setattr(task, "status", "failed")
    )

    decided = await resolve_step(versioned_store, given_up, 1, decision, {"paid": 5})

    assert decided.status == "running"
    assert decided.steps[1].resolution == decision
    assert decided.steps[1].status == ("pending" if decision == "retry" else "success")


@pytest.mark.parametrize("decision", ["retry", "skip", "done"])
async def test_the_same_decision_again_changes_nothing(
    versioned_store: StateStore, waiting: VersionedTaskState, decision: Decision
) -> None:
    first = await resolve_step(versioned_store, waiting, 1, decision, 1)
    again = await resolve_step(versioned_store, waiting, 1, decision, 1)

    assert again.version == first.version


async def test_another_decision_afterwards_is_refused(
    versioned_store: StateStore, waiting: VersionedTaskState
) -> None:
    await resolve_step(versioned_store, waiting, 1, "done", 1)

    with pytest.raises(DecisionConflict) as refusal:
        await resolve_step(versioned_store, waiting, 1, "retry")
    assert (refusal.value.taken, refusal.value.given) == ("done", "retry")


async def test_of_ten_different_decisions_at_once_one_counts(
    versioned_store: StateStore, waiting: VersionedTaskState
) -> None:
    decisions: list[Decision] = ["retry", "skip", "done", "retry", "skip"] * 2

    results = await asyncio.gather(
        *(resolve_step(versioned_store, waiting, 1, d) for d in decisions), return_exceptions=True
    )

    stored = await versioned_store.get_task("t")
    assert stored is not None
    taken = stored.steps[1].resolution
    agreed = [isinstance(result, VersionedTaskState) for result in results]
    assert agreed == [decision == taken for decision in decisions]
    assert stored.version == waiting.version + 1


async def test_a_decision_about_an_earlier_attempt_is_refused(
    versioned_store: StateStore, waiting: VersionedTaskState
) -> None:
    again = await resolve_step(versioned_store, waiting, 1, "retry")
    again.steps[1].status = "running"
    again.steps[1].attempt = 2
    again.status = "waiting_tool"
    await versioned_store.save_task(again)

    with pytest.raises(DecisionConflict, match="no longer the question you saw"):
        await resolve_step(versioned_store, waiting, 1, "retry")


async def test_a_step_that_asks_nothing_takes_no_decision(
    versioned_store: StateStore, waiting: VersionedTaskState
) -> None:
    with pytest.raises(StepNotWaiting):
        await resolve_step(versioned_store, waiting, 0, "skip")
    with pytest.raises(StepNotWaiting):
        await resolve_step(versioned_store, waiting, 2, "skip")
    with pytest.raises(StepNotFound):
        await resolve_step(versioned_store, waiting, 3, "skip")
    with pytest.raises(StepNotFound):
        await resolve_step(versioned_store, waiting, -1, "skip")
    with pytest.raises(TaskNotFound):
        await resolve_step(versioned_store, a_task("nothing"), 0, "skip")


async def test_a_decision_that_does_not_exist_is_refused(
    versioned_store: StateStore, waiting: VersionedTaskState
) -> None:
    with pytest.raises(ValueError, match='"retry", "skip" or "done"'):
        await resolve_step(versioned_store, waiting, 1, "maybe")  # type: ignore[arg-type]


# --- a whole question, asked and answered ---


def charging(outside: Effects, *, loses_answer: bool) -> Agent:
    """An agent that charges a card, and may not learn whether it did."""
    inner = outside.tool("charge", "non_idempotent")
    lost = [loses_answer]

    async def charge(call: ToolCall) -> object:
        result = await inner.run(call)
        if lost.pop() if lost else False:
            raise ConnectionError("the line went dead")
        return result

    return Agent(
        tools={"charge": Tool("charge", charge), "look": outside.tool("look", "read")},
        plan=plan_of("look", "charge", "look"),
    )


async def test_a_lost_answer_to_a_charge_asks_and_done_charges_once(d1: D1StateStore) -> None:
    outside = Effects()
    agent = charging(outside, loses_answer=True)

    asked = await run_agent_with_state("go", "s", d1, agent=agent, request_id="r")
    again = await run_agent_with_state("go", "s", d1, agent=agent, request_id="r")
    await resolve_step(d1, asked, 1, "done", {"paid": True})
    ended = await run_agent_with_state("go", "s", d1, agent=agent, request_id="r")

    assert (asked.status, again.status, ended.status) == (
        "waiting_tool",
        "waiting_tool",
        "completed",
    )
    assert "the line went dead" in (asked.steps[1].error or "")
    assert outside.log == ["look 0", "charge 1", "look 2"]
    assert ended.steps[1].output == {"paid": True}


async def test_retry_charges_again_with_the_same_key(d1: D1StateStore) -> None:
    outside = Effects()
    agent = charging(outside, loses_answer=True)
    asked = await run_agent_with_state("go", "s", d1, agent=agent, request_id="r")

    await resolve_step(d1, asked, 1, "retry")
    ended = await run_agent_with_state("go", "s", d1, agent=agent, request_id="r")

    assert ended.status == "completed"
    assert outside.count("charge 1") == 2
    assert outside.keys[1] == outside.keys[2]
    assert ended.steps[1].attempt == 2


async def test_a_failed_task_runs_again_only_when_somebody_says_so(d1: D1StateStore) -> None:
    refusals = [ToolFailed("no seats")]

    async def hold(call: ToolCall) -> str:
        if refusals:
            raise refusals.pop()
        return "held"

    agent = Agent(tools={"hold": Tool("hold", hold, "idempotent")}, plan=plan_of("hold"))
    with pytest.raises(StepFailed):
        await run_agent_with_state("go", "s", d1, agent=agent, request_id="r")
    with pytest.raises(StepFailed):
        await run_agent_with_state("go", "s", d1, agent=agent, request_id="r")

    (failed,) = await d1.get_failed_tasks("s")
    await resolve_step(d1, failed, 0, "retry")
    ended = await run_agent_with_state("go", "s", d1, agent=agent, request_id="r")

    assert (failed.error, failed.error_code, failed.outcome) == (
        "no seats",
        "tool_failed",
        "step_failed",
    )
    assert (ended.status, ended.error, ended.result) == ("completed", None, "held")


# --- finding what to go on with ---


async def test_the_oldest_unfinished_task_goes_on(store: StateStore) -> None:
    await open_session("s", "u", store)
    done = a_task("t1", created_at="2026-12-01T00:00:01.000Z", status="completed")
    for task in (
        a_task("t3", created_at="2026-12-01T00:00:03.000Z"),
        a_task("t2", created_at="2026-12-01T00:00:02.000Z", status="running"),
        done,
    ):
        await store.save_task(task)

    found = await find_resumable_task(store, "s")

    assert found is not None
    assert found.task_id == "t2"


async def test_a_task_that_cannot_be_read_is_not_replaced_by_a_new_one(store: StateStore) -> None:
    await open_session("s", "u", store)
    await store.save_task(a_task())
    await store.quarantine_task("t", "torn")
    agent = Agent(tools={"look": Effects().tool("look", "read")}, plan=plan_of("look"))

    with pytest.raises(TaskQuarantined):
        await run_agent_with_state("go", "s", store, agent=agent)

    assert await store.get_tasks_by_session("s") == []


async def test_abandoned_tasks_go_on_without_a_client_and_one_failure_stops_no_other(
    versioned_store: StateStore,
) -> None:
    outside = Effects()

    async def poison(call: ToolCall) -> None:
        raise ToolFailed("always")

    agent = Agent(
        tools={"look": outside.tool("look", "read"), "poison": Tool("poison", poison)},
        plan=plan_of("look"),
    )
    bad = a_task("bad", steps=1, updated_at="2026-12-01T00:00:00.000Z")
    bad.steps[0].action = "poison"
    bad.steps[0].effect = "idempotent"
    await versioned_store.save_task(bad)
    for number in range(3):
        await versioned_store.save_task(a_task(f"good{number}", steps=2))

    result = await resume_abandoned_tasks(versioned_store, agent=agent)

    assert sorted(result["resumed"]) == ["good0", "good1", "good2"]
    assert list(result["failed"]) == ["bad"]
    assert len(outside.log) == 6
    again = await resume_abandoned_tasks(versioned_store, agent=agent)
    assert again == {"resumed": [], "failed": {}}


async def test_a_paused_sessions_tasks_are_not_resumed(versioned_store: StateStore) -> None:
    from edgestate import pause_session

    await versioned_store.save_task(a_task())
    await pause_session("s", versioned_store)
    agent = Agent(tools={"look": Effects().tool("look", "read")}, plan=plan_of("look"))

    result = await resume_abandoned_tasks(versioned_store, agent=agent)

    assert result["resumed"] == []


async def test_a_run_of_a_finished_task_is_its_answer(versioned_store: StateStore) -> None:
    outside = Effects()
    agent = Agent(tools={"look": outside.tool("look", "read")}, plan=plan_of("look"))
    task = await run_agent_with_state("go", "s", versioned_store, agent=agent, request_id="r")

    again = await run_task(task, versioned_store, agent=agent)

    assert again.result == {"done": 0}
    assert outside.log == ["look 0"]
