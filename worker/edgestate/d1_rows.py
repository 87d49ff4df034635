"""Rows of D1 as records, and records as bound values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import JsonValue

from edgestate.errors import CorruptRecord, RecordTooLarge, SchemaTooNew, StoreRejected
from edgestate.models import (
    SCHEMA,
    SessionState,
    StepResult,
    TaskState,
    ToolState,
    VersionedTaskState,
)
from edgestate.records import validated

Row = Mapping[str, Any]

PLAIN_TASK_COLUMNS: Final = (
    "session_id",
    "goal",
    "status",
    "current_step",
    "total_steps",
    "created_at",
    "updated_at",
    "version",
    "fence",
    "request_id",
    "iteration",
    "outcome",
    "error",
    "error_code",
)

ROW_LIMIT_BYTES: Final = 2_000_000
"""Source: reference/kv-d1-contract.md (D1 row and text size), read 2026-12-01."""


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def text_of(value: JsonValue, where: str) -> str:
    """`value` as JSON text; StoreRejected if it is none (nan), which nothing could read back."""
    try:
        return _ENCODER.encode(value)
    except (ValueError, TypeError) as error:
        raise StoreRejected(f"{where} is not JSON: {error}") from error


def optional_text(value: JsonValue, where: str) -> str | None:
    """As `text_of`, with None as NULL."""
    return None if value is None else text_of(value, where)


def refuse_large(where: str, texts: Iterable[str | None]) -> None:
    """Return only if a row with `texts` is small enough; RecordTooLarge otherwise."""
    held = [text for text in texts if text]
    # A character has at most four bytes: most rows need no encoding to know that they fit.
    if sum(map(len, held)) * 4 < ROW_LIMIT_BYTES:
        return
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in held)
    if size > ROW_LIMIT_BYTES - 4096:
        raise RecordTooLarge(where, size, ROW_LIMIT_BYTES - 4096)


def value_of(text: object, where: str) -> Any:
    """The value of a JSON column; CorruptRecord if it holds none."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise CorruptRecord(where, "not a text")
    try:
        return json.loads(text)
    except ValueError as error:
        raise CorruptRecord(where, f"not JSON ({error})") from error


def _check_schema(row: Row, where: str) -> None:
    if row["schema_number"] > SCHEMA:
        raise SchemaTooNew(where, row["schema_number"], SCHEMA)


def session_from_row(row: Row) -> SessionState:
    """The session of a row of `agent_sessions`."""
    where = f"session {row['id']}"
    _check_schema(row, where)
    fields = {
        "session_id": row["id"],
        "user_id": row["user_id"],
        "status": row["status"],
        "message_count": row["message_count"],
        "created_at": row["created_at"],
        "last_active_at": row["last_active_at"],
        "version": row["version"],
    }
    return validated(SessionState, fields, where)


def task_from_rows(row: Row, step_rows: Iterable[Row]) -> VersionedTaskState:
    """The task of a row of `agent_tasks` and its rows of `agent_task_steps`."""
    where = f"task {row['id']}"
    _check_schema(row, where)
    fields: dict[str, Any] = {name: row[name] for name in PLAIN_TASK_COLUMNS}
    fields["task_id"] = row["id"]
    for name in ("prompt", "counters", "intermediate", "result"):
        fields[name] = value_of(row[name], f"{where}, {name}")
    fields["steps"] = [_step_fields(step, where) for step in step_rows]
    task = validated(VersionedTaskState, fields, where)
    _check_whole(task, where)
    return task


def _check_whole(task: VersionedTaskState, where: str) -> None:
    if [step.step_index for step in task.steps] != list(range(len(task.steps))):
        raise CorruptRecord(where, "a step is missing")
    if task.current_step > max(len(task.steps), task.total_steps):
        raise CorruptRecord(
            where, f"it is at step {task.current_step} and has {len(task.steps)} steps"
        )


def _step_fields(row: Row, task: str) -> dict[str, Any]:
    where = f"{task}, step {row['step_index']}"
    fields = dict(row)
    fields.pop("task_id", None)
    fields["group"] = fields.pop("step_group")
    for name in ("input", "output", "messages"):
        fields[name] = value_of(row[name], f"{where}, {name}")
    return fields


def tool_from_row(row: Row) -> ToolState:
    """The tool state of a row of `agent_tool_states`."""
    where = f"tool {row['tool_name']} of task {row['task_id']}"
    fields = dict(row)
    for name in ("last_result", "cursor", "extra"):
        fields[name] = value_of(row[name], f"{where}, {name}")
    return validated(ToolState, fields, where)


def insert_values(task: TaskState) -> list[Any]:
    """?1 to ?17 of `sql.CREATE_TASK` and `sql.PUT_TASK`."""
    where = f"task {task.task_id}"
    prompt = text_of([*task.prompt], f"{where}, prompt")
    counters, intermediate, result = _own_texts(task, where)
    refuse_large(where, (task.goal, prompt, counters, intermediate, result, task.error))
    return [
        task.task_id,
        task.session_id,
        task.goal,
        task.status,
        task.current_step,
        task.total_steps,
        task.created_at,
        task.updated_at,
        task.request_id,
        task.iteration,
        prompt,
        counters,
        intermediate,
        task.outcome,
        result,
        task.error,
        task.error_code,
    ]


def commit_values(task: VersionedTaskState) -> list[Any]:
    """?1 to ?14 of `sql.COMMIT_TASK`."""
    where = f"task {task.task_id}"
    counters, intermediate, result = _own_texts(task, where)
    refuse_large(where, (task.goal, counters, intermediate, result, task.error))
    return [
        task.task_id,
        task.version,
        task.goal,
        task.status,
        task.current_step,
        task.total_steps,
        task.updated_at,
        task.iteration,
        counters,
        intermediate,
        task.outcome,
        result,
        task.error,
        task.error_code,
    ]


def _own_texts(task: TaskState, where: str) -> tuple[str, str, str | None]:
    return (
        text_of({**task.counters}, f"{where}, counters"),
        text_of(task.intermediate, f"{where}, intermediate"),
        optional_text(task.result, f"{where}, result"),
    )


def step_values(step: StepResult, task_id: str, output: str | None) -> list[Any]:
    """The columns of `sql.STEP_COLUMNS`, with `output` as it is to be stored."""
    where = f"task {task_id}, step {step.step_index}"
    given = optional_text(step.input, f"{where}, input")
    messages = text_of([*step.messages], f"{where}, messages") if step.messages else "[]"
    refuse_large(where, (given, output, messages, step.error))
    return [
        step.step_index,
        step.action,
        given,
        output,
        step.status,
        step.error,
        step.started_at,
        step.completed_at,
        step.effect,
        step.attempt,
        step.idempotency_key,
        step.intent_at,
        step.fence,
        step.error_code,
        step.resolution,
        step.resolved_attempt,
        messages,
        step.group,
    ]


def is_untouched(step: StepResult) -> bool:
    """Whether nobody began `step`: all that is to be stored of it is what was planned."""
    return (
        step.status == "pending"
        and step.output is None
        and step.attempt == 0
        and step.error is None
        and step.started_at is None
        and step.resolution is None
    )


def planned_values(step: StepResult, task_id: str) -> list[Any]:
    """The columns of `sql.CREATE_STEPS`."""
    where = f"task {task_id}, step {step.step_index}"
    given = optional_text(step.input, f"{where}, input")
    messages = text_of([*step.messages], f"{where}, messages") if step.messages else "[]"
    refuse_large(where, (given, messages))
    return [step.step_index, step.action, given, step.effect, messages, step.group]


def result_values(step: StepResult, task_id: str, output: str | None) -> list[Any]:
    """?2 to ?13 of `sql.SET_RESULT`."""
    where = f"task {task_id}, step {step.step_index}"
    messages = text_of([*step.messages], f"{where}, messages") if step.messages else "[]"
    changing = len(output or "") + len(messages) + len(step.error or "")
    # Mostly all is so small that the input, which is stored already, need not be encoded again.
    if (changing + len(str(step.input))) * 8 > ROW_LIMIT_BYTES:
        refuse_large(where, (optional_text(step.input, where), output, messages, step.error))
    return [
        step.step_index,
        step.status,
        output,
        step.error,
        step.error_code,
        step.started_at,
        step.completed_at,
        step.attempt,
        step.idempotency_key,
        step.intent_at,
        step.fence,
        messages,
    ]


def tool_values(state: ToolState) -> list[Any]:
    """The columns of `sql.TOOL_COLUMNS`."""
    where = f"tool {state.tool_name} of task {state.task_id}"
    texts = [
        optional_text(state.last_result, f"{where}, last result"),
        optional_text(state.cursor, f"{where}, cursor"),
        text_of(state.extra, f"{where}, extra"),
    ]
    refuse_large(where, (*texts, state.last_error))
    return [
        state.task_id,
        state.tool_name,
        state.status,
        state.retry_count,
        state.max_retries,
        texts[0],
        state.last_error,
        state.rate_limit_reset_at,
        texts[1],
        state.rate_count,
        state.rate_window_start,
        texts[2],
    ]
