"""Where a task goes on after its worker died, and what only a person can decide."""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic import JsonValue

from edgestate import clock
from edgestate.errors import (
    DecisionConflict,
    StepNeedsDecision,
    StepNotFound,
    StepNotWaiting,
    TaskNotFound,
    TaskQuarantined,
    VersionConflict,
)
from edgestate.models import StepResult, TaskState, VersionedTaskState
from edgestate.statuses import Decision
from edgestate.store import StateStore

TRIES: Final = 8


def find_resumable_step(task: TaskState) -> int | None:
    """The index of the step to run next, None if every step has its result.

    A step that was running is pending again if running it twice does no harm; the caller's next
    write stores that.
    Errors: StepNeedsDecision for a step that failed, or whose effect may have happened.
    """
    index = task.first_open_step()
    if index >= len(task.steps):
        return None
    step = task.steps[index]
    if step.status == "failed":
        raise StepNeedsDecision(task.task_id, index, "failed")
    if step.is_uncertain:
        raise StepNeedsDecision(task.task_id, index, "uncertain")
    if step.status == "running":
        step.status = "pending"
        step.started_at = None
    return index


async def find_resumable_task(store: StateStore, session_id: str) -> VersionedTaskState | None:
    """The session's oldest unfinished task, None if all are finished.

    Errors: TaskQuarantined if a record of the session cannot be read: nothing takes its place
    unasked.
    """
    tasks = await store.get_tasks_by_session(session_id)
    for task_id, reason in (await store.list_quarantined(session_id)).items():
        raise TaskQuarantined(task_id, reason)
    return next((task for task in tasks if not task.is_over), None)


async def resolve_step(
    store: StateStore,
    task: TaskState,
    step_index: int,
    decision: Decision,
    output: JsonValue = None,
) -> VersionedTaskState:
    """The task with the person's decision about one step, stored; it can be run again.

    Shape: `task` is the task as the person saw it. `retry`: the step runs again; `skip`: it
    counts as over without a result; `done`: it happened, with `output`. The same decision about
    the same attempt changes nothing when it arrives again.
    Errors: TaskNotFound, StepNotFound; StepNotWaiting if nothing is asked; DecisionConflict if
    the question was answered otherwise, or another attempt asks now.
    """
    if decision not in ("retry", "skip", "done"):
        raise ValueError(f'a decision is "retry", "skip" or "done", not {decision!r}')
    for attempt in range(TRIES):
        stored = await store.get_task(task.task_id)
        if stored is None:
            raise TaskNotFound(task.task_id)
        seen, step = _step(task, step_index), _step(stored, step_index)
        if not _asks(stored, step):
            _refuse_other_answer(stored, step, seen, decision)
            return stored
        if step.attempt != seen.attempt:
            raise DecisionConflict(task.task_id, step_index, None, decision)
        _decide(stored, step, decision, output)
        try:
            return await _store(store, stored, step_index)
        except VersionConflict:
            if attempt == TRIES - 1:
                raise
    raise AssertionError("unreachable")


def _step(task: TaskState, index: int) -> StepResult:
    if not 0 <= index < len(task.steps):
        raise StepNotFound(task.task_id, index)
    return task.steps[index]


def _asks(task: TaskState, step: StepResult) -> bool:
    if task.status == "waiting_tool":
        return step.is_uncertain
    # Somebody may have set the task to failed while a step of it was open.
    return task.status == "failed" and (step.status == "failed" or step.is_uncertain)


def _refuse_other_answer(
    task: TaskState, step: StepResult, seen: StepResult, decision: Decision
) -> None:
    """Return only if this very decision was taken about the attempt that the caller saw."""
    if step.resolution is None or step.resolved_attempt != seen.attempt:
        raise StepNotWaiting(task.task_id, step.step_index, step.status)
    if step.resolution != decision:
        raise DecisionConflict(task.task_id, step.step_index, step.resolution, decision)


def _decide(task: TaskState, step: StepResult, decision: Decision, output: JsonValue) -> None:
    step.resolution, step.resolved_attempt = decision, step.attempt
    step.intent_at = None
    step.error = step.error_code = None
    if decision == "retry":
        step.status = "pending"
        step.started_at = None
    else:
        for name, value in finished(step, output if decision == "done" else None).items():
            setattr(step, name, value)
    task.status = "running"
    task.outcome = task.error = task.error_code = None
    task.current_step = task.first_open_step()
    task.updated_at = clock.iso()


def finished(step: StepResult, output: JsonValue) -> dict[str, Any]:
    """The fields of `step` with its result; also its tool message, if the model asked for it."""
    fields: dict[str, Any] = {
        "output": output,
        "status": "success",
        "completed_at": clock.iso(),
        "intent_at": None,
    }
    if step.messages and step.messages[-1].get("role") == "tool":
        content = json.dumps(output, ensure_ascii=False)
        fields["messages"] = [*step.messages[:-1], {**step.messages[-1], "content": content}]
    return fields


async def _store(
    store: StateStore, task: VersionedTaskState, step_index: int
) -> VersionedTaskState:
    if store.traits.versions:
        task.version = await store.commit(task, [step_index])
    else:
        await store.save_task(task)
    return task
