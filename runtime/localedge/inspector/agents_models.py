"""What the page, its API and the command line show of an agent's durable state."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

Why = Literal["uncertain", "failed"]


class Shown(BaseModel):
    """What is shown: read once, never written back."""

    model_config = ConfigDict(frozen=True)


class SessionShown(Shown):
    """A session and how much belongs to it.

    Units: `expires_in_ms` from the workers' now, negative once it is over.
    """

    session_id: str
    user_id: str
    status: str
    message_count: int
    created_at: str
    last_active_at: str
    expires_in_ms: int
    tasks: int
    unfinished: int
    waiting: int


class SessionPage(Shown):
    """Some sessions, the last active first; `more` when others follow."""

    sessions: tuple[SessionShown, ...]
    more: bool


class LeaseShown(Shown):
    """Who may work on something, and for how long.

    Shape: `kind` is "task" (of one agent), "team task" or "saga". Units: `left_ms` from the
    workers' now, never negative.
    """

    kind: Literal["task", "team task", "saga"]
    id: str
    what: str
    holder: str
    fence: int
    expires_at_ms: int
    left_ms: int


class Question(Shown):
    """What a person has to decide: may a step run again, did it happen, is it left out.

    Shape: `why` is "uncertain" when its effect may have happened, "failed" when it failed;
    `attempt` is the attempt that asks, and goes along with the answer.
    """

    task_id: str
    goal: str
    step_index: int
    action: str
    why: Why
    effect: str
    attempt: int
    input: JsonValue
    error: str | None
    since: str | None
    idempotency_key: str | None


class TaskShown(Shown):
    """A task in a list.

    Shape: `is_abandoned` when it is unfinished and nobody has its lease. Units: `lease_left_ms`
    from the workers' now; 0 without a lease.
    """

    task_id: str
    session_id: str
    goal: str
    status: str
    current_step: int
    total_steps: int
    created_at: str
    updated_at: str
    version: int
    fence: int
    claims: int
    lease_holder: str | None
    lease_expires_at_ms: int
    lease_left_ms: int
    is_abandoned: bool
    request_id: str | None
    outcome: str | None
    error: str | None
    error_code: str | None
    quarantine_reason: str | None


class TaskPage(Shown):
    """Some tasks, the newest first; `more` when others follow."""

    tasks: tuple[TaskShown, ...]
    more: bool


class StepShown(Shown):
    """One step of a task as it is stored."""

    step_index: int
    action: str
    status: str
    effect: str
    input: JsonValue
    output: JsonValue
    error: str | None
    error_code: str | None
    started_at: str | None
    completed_at: str | None
    intent_at: str | None
    attempt: int
    fence: int
    idempotency_key: str | None
    resolution: str | None
    resolved_attempt: int
    group: str | None


class ToolShown(Shown):
    """What is known of one tool within one task."""

    tool_name: str
    status: str
    retry_count: int
    max_retries: int
    last_error: str | None
    rate_limit_reset_at: str | None


class TaskWhole(Shown):
    """A task with everything that is stored of it."""

    task: TaskShown
    steps: tuple[StepShown, ...]
    tools: tuple[ToolShown, ...]
    questions: tuple[Question, ...]
    result: JsonValue
    iteration: int
    counters: dict[str, JsonValue]
