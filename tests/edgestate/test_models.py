"""Records: their statuses, their one JSON form, and older forms read as what they were."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from edgestate import (
    CorruptRecord,
    InvalidTransition,
    SchemaTooNew,
    SessionState,
    StepResult,
    TaskState,
    ToolState,
    UnknownStatus,
    VersionedTaskState,
)
from edgestate.records import session_from_json, task_from_json, to_json, tool_from_json
from edgestate.statuses import TABLES, refuse_impossible


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [(kind, old, new) for kind, table in TABLES.items() for old in table for new in table],
)
def test_only_what_the_table_allows_may_follow(kind: str, old: str, new: str) -> None:
    if new == old or new in TABLES[kind][old]:
        refuse_impossible(kind, "x", old, new)
    else:
        with pytest.raises(InvalidTransition):
            refuse_impossible(kind, "x", old, new)


def test_a_completed_task_is_over_for_good() -> None:
    task = TaskState(task_id="t", session_id="s", goal="go", status="completed")

    with pytest.raises(InvalidTransition) as refusal:
        task.status = "running"

    assert task.status == "completed"
    assert (refusal.value.old, refusal.value.new) == ("completed", "running")


def test_a_status_that_does_not_exist_is_refused() -> None:
    task = TaskState(task_id="t", session_id="s", goal="go")

    with pytest.raises(UnknownStatus, match="planned, running, waiting_tool, completed, failed"):
        task.status = "done"  # type: ignore[assignment]
    with pytest.raises(ValidationError):
        TaskState(task_id="t", session_id="s", goal="go", status="done")  # type: ignore[arg-type]


def test_a_task_has_one_json_form() -> None:
    step = StepResult(step_index=0, action="look", input={"a": 1}, effect="read")
    task = VersionedTaskState(
        task_id="t",
        session_id="s",
        goal="去",
        steps=[step],
        total_steps=1,
        created_at="2026-12-01T00:00:00.000Z",
        updated_at="2026-12-01T00:00:00.000Z",
    )

    assert to_json(task) == (
        '{"schema":2,"taskId":"t","sessionId":"s","goal":"去","status":"planned","currentStep":0,'
        '"totalSteps":1,"steps":[{"stepIndex":0,"action":"look","input":{"a":1},"output":null,'
        '"status":"pending","error":null,"startedAt":null,"completedAt":null,"effect":"read",'
        '"attempt":0,"idempotencyKey":null,"intentAt":null,"fence":0,"errorCode":null,'
        '"resolution":null,"resolvedAttempt":0,"messages":[],"group":null}],'
        '"createdAt":"2026-12-01T00:00:00.000Z","updatedAt":"2026-12-01T00:00:00.000Z",'
        '"requestId":null,"prompt":[],"iteration":0,"counters":{},"intermediate":{},'
        '"outcome":null,"result":null,"error":null,"errorCode":null,"version":0,"fence":0}'
    )
    assert task_from_json(to_json(task), "here") == task


def test_session_and_tool_come_back_from_their_json() -> None:
    session = SessionState(session_id="s", user_id="u", message_count=4)
    tool = ToolState(tool_name="x", task_id="t", cursor={"after": 3}, extra={"rows": [1]})

    assert session_from_json(to_json(session), "here") == session
    assert tool_from_json(to_json(tool), "here") == tool


DOCUMENT_TASK = {
    "taskId": "t",
    "sessionId": "s",
    "goal": "go",
    "status": "planned",
    "currentStep": 0,
    "totalSteps": 3,
    "steps": [
        {"stepIndex": 0, "action": "a", "input": {}, "output": 1, "status": "success"},
        {"stepIndex": 1, "action": "b", "input": {}, "output": None, "status": "running"},
        {"stepIndex": 2, "action": "c", "input": {}, "status": "pending"},
    ],
    "createdAt": "2026-01-01T00:00:00.000Z",
    "updatedAt": "2026-01-01T00:00:00.000Z",
}


def test_a_record_of_the_document_is_migrated_and_its_unknown_effects_ask() -> None:
    task = task_from_json(json.dumps(DOCUMENT_TASK), "here")

    assert task.current_step == 1
    assert [step.effect for step in task.steps] == ["non_idempotent"] * 3
    assert task.steps[1].is_uncertain


def test_a_session_of_the_document_is_read() -> None:
    text = json.dumps(
        {
            "sessionId": "s",
            "userId": "u",
            "status": "active",
            "createdAt": "2026-01-01T00:00:00.000Z",
            "lastActiveAt": "2026-01-01T00:00:00.000Z",
            "messageCount": 2,
        }
    )

    assert session_from_json(text, "here").message_count == 2


def test_a_newer_record_is_not_misread_as_an_old_one() -> None:
    with pytest.raises(SchemaTooNew) as refusal:
        task_from_json(json.dumps({"schema": 3, **DOCUMENT_TASK}), "agent:task:t")

    assert (refusal.value.found, refusal.value.known) == (3, 2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema":0}',
        '{"schema":true}',
        '{"schema":2}',
        json.dumps({**DOCUMENT_TASK, "status": "done"}),
        json.dumps({**DOCUMENT_TASK, "taskId": ""}),
        json.dumps({**DOCUMENT_TASK, "steps": [{"stepIndex": -1, "action": "a"}]}),
        json.dumps({**DOCUMENT_TASK, "surprise": 1}),
    ],
)
def test_what_is_no_record_is_called_corrupt_with_its_place(text: str) -> None:
    with pytest.raises(CorruptRecord) as refusal:
        task_from_json(text, "agent:task:t")

    assert refusal.value.where == "agent:task:t"


def test_the_transcript_is_the_prompt_and_what_each_step_added() -> None:
    task = TaskState(
        task_id="t",
        session_id="s",
        goal="go",
        prompt=[{"role": "user", "content": "go"}],
        steps=[
            StepResult(step_index=0, action="model", messages=[{"role": "assistant"}]),
            StepResult(step_index=1, action="look", messages=[{"role": "tool"}]),
        ],
    )

    assert [message["role"] for message in task.transcript] == ["user", "assistant", "tool"]


def test_a_tool_state_answers_the_documents_questions() -> None:
    state = ToolState(
        tool_name="x",
        task_id="t",
        status="retrying",
        retry_count=1,
        rate_limit_reset_at="2026-12-01T00:00:10.000Z",
    )
    reset_at = 1796083210.0

    assert state.should_retry()
    assert state.is_rate_limited(reset_at - 0.001)
    assert not state.is_rate_limited(reset_at)
    assert not ToolState(tool_name="x", task_id="t").should_retry()
