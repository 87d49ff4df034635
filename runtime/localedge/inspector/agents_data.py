"""An agent's sessions, tasks, questions and leases, read from D1; and what a person decides.

For the page and for `localedge agent`. Looking never changes a record, not even one that cannot
be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from edgestate import D1StateStore, d1_rows, resolve_step
from edgestate.bindings import D1Binding
from edgestate.blobs import PREFIX
from edgestate.d1_call import D1Calls, Rows
from edgestate.errors import StateError, StepNotFound, TaskNotFound, TaskQuarantined
from edgestate.models import VersionedTaskState
from edgestate.statuses import Decision
from localedge.errors import OperatorError
from localedge.inspector import agents_sql as sql
from localedge.inspector.agents_models import (
    LeaseShown,
    Question,
    SessionPage,
    SessionShown,
    StepShown,
    TaskPage,
    TaskShown,
    TaskWhole,
    ToolShown,
)

UNFINISHED = ("planned", "running", "waiting_tool")


async def rows_of(db: D1Binding, statement: str, *values: Any) -> Rows:
    """The rows of `statement`. Errors: OperatorError when the tables are not there."""
    (rows,) = await batch_of(db, (statement, values))
    return rows


async def batch_of(db: D1Binding, *statements: tuple[str, tuple[Any, ...]]) -> list[Rows]:
    """The rows of each statement, all of one moment.

    Errors: OperatorError when the tables are not there, or are of an older library.
    """
    calls = D1Calls(db)
    try:
        return await calls.batch([calls.bound(text, *values) for text, values in statements])
    except StateError as error:
        missing = without_tables(error)
        if missing is None:
            raise
        raise missing from error


def without_tables(error: StateError) -> OperatorError | None:
    """What to do, when `error` comes of tables that are not there, or of an older library."""
    if not any(missing in str(error) for missing in ("no such table", "no such column")):
        return None
    return OperatorError(
        "agent/no-tables",
        "the database has not the tables of this edgestate.",
        "Apply its migrations: localedge d1 migrations apply DATABASE.",
    )


async def kinds(db: D1Binding) -> dict[str, bool]:
    """Which state the database keeps: `agent` for single agents, `team` for several."""
    names = {row["name"] for row in await rows_of(db, sql.TABLES)}
    return {
        "agent": {"agent_tasks", "agent_guard"} <= names,
        "team": {"task_status", "team_events"} <= names,
    }


async def sessions(
    db: D1Binding, *, now_ms: int, text: str | None = None, limit: int = 50, skip: int = 0
) -> SessionPage:
    """Sessions whose id or user has `text`, the last active first."""
    rows = await rows_of(db, sql.SESSIONS, text, limit + 1, skip)
    return SessionPage(
        sessions=tuple(
            SessionShown(**_without(row, "expires_at"), expires_in_ms=row["expires_at"] - now_ms)
            for row in rows[:limit]
        ),
        more=len(rows) > limit,
    )


async def tasks(
    db: D1Binding,
    *,
    now_ms: int,
    session_id: str | None = None,
    statuses: Sequence[str] | None = None,
    text: str | None = None,
    limit: int = 50,
    skip: int = 0,
) -> TaskPage:
    """Tasks of one session or of all, in `statuses`, whose id or goal has `text`; newest first."""
    wanted = None if statuses is None else json.dumps(list(statuses))
    rows = await rows_of(db, sql.TASKS, session_id, wanted, text, limit + 1, skip)
    return TaskPage(
        tasks=tuple(task_shown(row, now_ms) for row in rows[:limit]), more=len(rows) > limit
    )


async def task(db: D1Binding, task_id: str, *, now_ms: int) -> TaskWhole:
    """A task with its steps, and what it asks. Errors: TaskNotFound."""
    found, steps, tools, asking = await batch_of(
        db,
        (sql.TASK, (task_id,)),
        (sql.STEPS, (task_id,)),
        (sql.TOOLS, (task_id,)),
        (sql.QUESTIONS, (task_id,)),
    )
    if not found:
        raise TaskNotFound(task_id)
    row = found[0]
    return TaskWhole(
        task=task_shown(_without(row, "result", "iteration", "counters"), now_ms),
        steps=tuple(StepShown(**_json(step, "input", "output")) for step in steps),
        tools=tuple(ToolShown(**tool) for tool in tools),
        questions=tuple(_questions(asking)),
        result=_value(row["result"]),
        iteration=row["iteration"],
        counters=_object(row["counters"]),
    )


async def questions(db: D1Binding) -> tuple[Question, ...]:
    """What people have to decide, the longest waiting first."""
    return tuple(_questions(await rows_of(db, sql.QUESTIONS, None)))


async def leases(db: D1Binding, *, now_ms: int) -> tuple[LeaseShown, ...]:
    """The leases that somebody has, the first to end first."""
    rows = await rows_of(db, sql.LEASES, now_ms)
    return tuple(lease_shown(row, now_ms) for row in rows)


async def resolve(
    db: D1Binding,
    task_id: str,
    step_index: int,
    decision: Decision,
    *,
    output: JsonValue = None,
    attempt: int | None = None,
) -> VersionedTaskState:
    """The decision about a step is stored, once; the task can go on.

    Shape: `attempt` is the one that the person was asked about, the stored one if None.
    Errors: TaskNotFound, StepNotFound, TaskQuarantined; StepNotWaiting, DecisionConflict.
    """
    store = OperatorStore(db)
    seen = await store.get_task(task_id)
    if seen is None:
        raise TaskNotFound(task_id)
    if not 0 <= step_index < len(seen.steps):
        raise StepNotFound(task_id, step_index)
    if attempt is not None:
        seen.steps[step_index].attempt = attempt
    return await resolve_step(store, seen, step_index, decision, output)


async def free(db: D1Binding, task_id: str) -> bool:
    """Nobody has the task's lease any more; whether somebody had.

    A holder that lives all the same loses nothing: its next write is refused by its fence once
    somebody else has the task.
    Errors: TaskNotFound.
    """
    rows = await rows_of(db, sql.HOLDER, task_id)
    if not rows:
        raise TaskNotFound(task_id)
    holder = rows[0]["lease_holder"]
    return holder is not None and await OperatorStore(db).release_lease(task_id, holder)


class OperatorStore(D1StateStore):
    """The store as a person uses it: what cannot be read is told, and not set aside.

    Shape: an output that lies in KV stays the text "blob:<its key>".
    """

    def __init__(self, db: D1Binding) -> None:
        super().__init__(db)

    async def _whole_task(self, row: Any, steps: Rows) -> VersionedTaskState:
        if row["quarantine_reason"] is not None:
            raise TaskQuarantined(row["id"], row["quarantine_reason"])
        return d1_rows.task_from_rows(row, [_unfetched(step) for step in steps])


def _unfetched(step: Mapping[str, Any]) -> dict[str, Any]:
    output = step["output"]
    is_elsewhere = isinstance(output, str) and output.startswith(PREFIX)
    return {**step, "output": json.dumps(output) if is_elsewhere else output}


def task_shown(row: Mapping[str, Any], now_ms: int) -> TaskShown:
    """The task of a row as it is at `now_ms`."""
    expires_at_ms = row["lease_expires_at"]
    left_ms = max(0, expires_at_ms - now_ms) if row["lease_holder"] is not None else 0
    return TaskShown(
        **_without(row, "lease_expires_at"),
        lease_expires_at_ms=expires_at_ms,
        lease_left_ms=left_ms,
        is_abandoned=row["status"] in ("planned", "running")
        and left_ms == 0
        and row["quarantine_reason"] is None,
    )


def lease_shown(row: Mapping[str, Any], now_ms: int) -> LeaseShown:
    """The lease of a row as it is at `now_ms`."""
    expires_at_ms = row["lease_expires_at"]
    return LeaseShown(
        **_without(row, "lease_expires_at"),
        expires_at_ms=expires_at_ms,
        left_ms=max(0, expires_at_ms - now_ms),
    )


def _questions(rows: Iterable[Mapping[str, Any]]) -> Iterable[Question]:
    return (Question(**_json(row, "input")) for row in rows)


def _without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _json(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: _value(value) if name in names else value for name, value in row.items()}


def _value(text: Any) -> Any:
    """The value of a JSON column; what is no JSON is shown as it is."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _object(text: Any) -> dict[str, JsonValue]:
    value = _value(text)
    return value if isinstance(value, dict) else {}
