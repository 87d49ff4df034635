"""Tasks in D1: every change is one statement or one batch, so a crash leaves none half done.

This is the thin version. It has no lease: two requests may drive one task at once, and what keeps
them from doing a non-idempotent step twice is that only one of them can write its intent.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from trip_agent.models import Step, Task
from trip_agent.moment import iso_now
from trip_agent.plan import PlannedStep
from trip_agent.refusal import not_found

INSERT_TASK = """
INSERT INTO agent_tasks (id, session_id, goal, total_steps, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT (id) DO NOTHING
"""
COUNT_MESSAGE = """
UPDATE agent_sessions SET message_count = message_count + 1 WHERE id = ? AND changes() = 1
"""
INSERT_STEPS = """
INSERT INTO agent_task_steps (task_id, step_index, action, input)
SELECT ?1, key, value ->> '$.action', value -> '$.input' FROM json_each(?2)
WHERE NOT EXISTS (SELECT 1 FROM agent_task_steps WHERE task_id = ?1)
"""
SELECT_TASK = "SELECT * FROM agent_tasks WHERE id = ?"
SELECT_STEPS = "SELECT * FROM agent_task_steps WHERE task_id = ? ORDER BY step_index"
SELECT_IDS = "SELECT id FROM agent_tasks WHERE session_id = ? ORDER BY created_at, id"

WRITE_INTENT = """
UPDATE agent_task_steps SET status = 'running', started_at = ?3, error = NULL
WHERE task_id = ?1 AND step_index = ?2 AND status = 'pending'
RETURNING id
"""
FINISH_STEP = """
UPDATE agent_task_steps
SET status = ?3, output = ?4, error = ?5, started_at = coalesce(started_at, ?6), completed_at = ?7
WHERE task_id = ?1 AND step_index = ?2 AND status IN ('pending', 'running')
"""
MOVE_POINTER = """
UPDATE agent_tasks SET current_step = ?2 + 1, updated_at = ?3,
  status = CASE WHEN ?2 + 1 >= total_steps THEN 'completed' ELSE 'running' END
WHERE id = ?1 AND current_step = ?2
"""
FAIL_TASK = """
UPDATE agent_tasks SET status = 'failed', updated_at = ?3 WHERE id = ?1 AND current_step = ?2
"""
NOTE_ERROR = """
UPDATE agent_task_steps SET error = coalesce(?3, error)
WHERE task_id = ?1 AND step_index = ?2 AND status IN ('pending', 'running')
"""
AWAIT_DECISION = """
UPDATE agent_tasks SET status = 'waiting_tool', updated_at = ?3
WHERE id = ?1 AND current_step = ?2 AND EXISTS (
  SELECT 1 FROM agent_task_steps WHERE task_id = ?1 AND step_index = ?2 AND status = 'running')
"""
WITHDRAW_INTENT = """
UPDATE agent_task_steps SET status = 'pending', started_at = NULL
WHERE task_id = ?1 AND step_index = ?2 AND status = 'running'
"""
RUN_AGAIN = """
UPDATE agent_tasks SET status = 'running', updated_at = ?3
WHERE id = ?1 AND current_step = ?2 AND status = 'waiting_tool'
"""


def task_id_of(session_id: str, request_id: str) -> str:
    """The id of the task that a request asks for: the same request means the same task."""
    return hashlib.sha256(f"{session_id}\n{request_id}".encode()).hexdigest()[:32]


class Tasks:
    """The tasks of one database."""

    def __init__(self, db: Any) -> None:
        self._db = db

    async def create(
        self, task_id: str, session_id: str, *, goal: str, plan: tuple[PlannedStep, ...]
    ) -> tuple[Task, bool]:
        """The task `task_id`, with its steps, and whether this call made it."""
        steps = json.dumps([{"action": step.action, "input": step.input} for step in plan])
        results = await self._db.batch(
            [
                self._bound(INSERT_TASK, task_id, session_id, goal, len(plan), iso_now()),
                self._bound(COUNT_MESSAGE, session_id),
                self._bound(INSERT_STEPS, task_id, steps),
            ]
        )
        return await self.get(task_id), results[0]["meta"]["changes"] == 1

    async def get(self, task_id: str) -> Task:
        """The task `task_id` as it is stored now, read in one transaction.

        Errors: Refusal 404 if there is none.
        """
        tasks, steps = await self._db.batch(
            [self._bound(SELECT_TASK, task_id), self._bound(SELECT_STEPS, task_id)]
        )
        for row in tasks["results"]:
            return Task(
                id=row["id"],
                session_id=row["session_id"],
                goal=row["goal"],
                status=row["status"],
                current_step=row["current_step"],
                total_steps=row["total_steps"],
                steps=tuple(Step.from_row(step) for step in steps["results"]),
                created_at=row["created_at"],
                updated_at=row["updated_at"],
            )
        raise not_found("task_unknown", "There is no task with this id.")

    async def of_session(self, session_id: str) -> list[Task]:
        """The tasks of a session, oldest first."""
        found = await self._bound(SELECT_IDS, session_id).all()
        return [await self.get(row["id"]) for row in found["results"]]

    async def write_intent(self, task: Task, step: Step) -> bool:
        """Say, before its effect, that `step` may have happened; False if another call did."""
        row = await self._bound(WRITE_INTENT, task.id, step.index, iso_now()).first()
        return row is not None

    async def succeed(self, task: Task, step: Step, output: Any, *, started_at: str) -> None:
        """The result of `step` and the pointer behind it are stored together.

        Nothing changes if the step has its result already.
        """
        now = iso_now()
        stored = json.dumps(output)
        await self._db.batch(
            [
                self._bound(
                    FINISH_STEP, task.id, step.index, "success", stored, None, started_at, now
                ),
                self._bound(MOVE_POINTER, task.id, step.index, now),
            ]
        )

    async def fail(self, task: Task, step: Step, error: str, *, started_at: str) -> None:
        """`step` and its task have failed for good."""
        now = iso_now()
        await self._db.batch(
            [
                self._bound(
                    FINISH_STEP, task.id, step.index, "failed", None, error, started_at, now
                ),
                self._bound(FAIL_TASK, task.id, step.index, now),
            ]
        )

    async def note_error(self, task: Task, step: Step, error: str) -> None:
        """`step` has no result yet, and `error` is why."""
        await self._bound(NOTE_ERROR, task.id, step.index, error).run()

    async def await_decision(self, task: Task, step: Step, error: str | None = None) -> None:
        """The task waits for someone to say what became of `step`, if that is still unknown."""
        await self._db.batch(
            [
                self._bound(NOTE_ERROR, task.id, step.index, error),
                self._bound(AWAIT_DECISION, task.id, step.index, iso_now()),
            ]
        )

    async def withdraw_intent(self, task: Task, step: Step) -> None:
        """`step` is pending again, as if it had not been begun."""
        await self._db.batch(
            [
                self._bound(WITHDRAW_INTENT, task.id, step.index),
                self._bound(RUN_AGAIN, task.id, step.index, iso_now()),
            ]
        )

    def _bound(self, sql: str, *values: object) -> Any:
        return self._db.prepare(sql).bind(*values)
