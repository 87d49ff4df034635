"""Sessions, tasks and steps as the database has them and as clients see them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trip_agent.plan import EFFECTS, Effect

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Session:
    """A row of `agent_sessions`. Times are ISO 8601 in UTC."""

    id: str
    user_id: str
    status: str
    message_count: int
    created_at: str
    last_active_at: str

    @classmethod
    def from_row(cls, row: Row) -> Session:
        """The session that a row of the table is."""
        return cls(**{name: row[name] for name in cls.__slots__})

    def to_json(self) -> dict[str, Any]:
        """The session with the key names of clients and of the copy in KV."""
        return {
            "sessionId": self.id,
            "userId": self.user_id,
            "status": self.status,
            "createdAt": self.created_at,
            "lastActiveAt": self.last_active_at,
            "messageCount": self.message_count,
        }


@dataclass(frozen=True, slots=True)
class Step:
    """A row of `agent_task_steps`: pending, running, success or failed.

    Shape: `running` is stored for non-idempotent steps only: it is the intent, and says that the
    effect may have happened.
    """

    index: int
    action: str
    status: str
    input: Any
    output: Any
    error: str | None
    started_at: str | None
    completed_at: str | None

    @classmethod
    def from_row(cls, row: Row) -> Step:
        """The step that a row of the table is."""
        return cls(
            index=row["step_index"],
            action=row["action"],
            status=row["status"],
            input=_loads(row["input"]),
            output=_loads(row["output"]),
            error=row["error"],
            started_at=row["started_at"],
            completed_at=row["completed_at"],
        )

    @property
    def effect(self) -> Effect:
        """What doing the step again would mean."""
        return EFFECTS[self.action]

    def to_json(self) -> dict[str, Any]:
        """The step as clients see it."""
        return {
            "stepIndex": self.index,
            "action": self.action,
            "effect": self.effect.value,
            "status": self.status,
            "input": self.input,
            "output": self.output,
            "error": self.error,
            "startedAt": self.started_at,
            "completedAt": self.completed_at,
        }


@dataclass(frozen=True, slots=True)
class Task:
    """A row of `agent_tasks` with its steps: planned, running, waiting_tool, completed, failed.

    Shape: steps before `current_step` have a result, later ones have none.
    """

    id: str
    session_id: str
    goal: str
    status: str
    current_step: int
    total_steps: int
    steps: tuple[Step, ...]
    created_at: str
    updated_at: str

    @property
    def next_step(self) -> Step | None:
        """The step that the pointer is at; None once every step has its result."""
        return self.steps[self.current_step] if self.current_step < self.total_steps else None

    def output_of(self, action: str) -> dict[str, Any]:
        """What the step `action` has stored."""
        for step in self.steps:
            if step.action == action and isinstance(step.output, dict):
                return step.output
        raise LookupError(f"task {self.id}: no output of {action}")

    def to_json(self) -> dict[str, Any]:
        """The task as clients see it, with the question if it waits for a decision."""
        body: dict[str, Any] = {
            "taskId": self.id,
            "sessionId": self.session_id,
            "goal": self.goal,
            "status": self.status,
            "currentStep": self.current_step,
            "totalSteps": self.total_steps,
            "steps": [step.to_json() for step in self.steps],
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
        }
        if self.status == "waiting_tool":
            body["decision"] = {
                "stepIndex": self.current_step,
                "question": "The step was begun and its outcome is not known; another request may "
                "still be at it. Find out, then decide.",
                "options": ["retry", "skip", "done"],
            }
        return body


def _loads(stored: str | None) -> Any:
    return None if stored is None else json.loads(stored)
