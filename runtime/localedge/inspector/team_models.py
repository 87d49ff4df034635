"""What the page and its API show of a team's shared state."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue


class Shown(BaseModel):
    """What is shown: read once, never written back."""

    model_config = ConfigDict(frozen=True)


class MemberShown(Shown):
    """An agent of the team. Units: `seen_ms_ago` since its last sign of life, None before any."""

    agent_id: str
    role: str
    task_id: str | None
    load: float
    seen_ms_ago: int | None


class BoardShown(Shown):
    """A task on the board. Shape: a goal has itself as its `root_id`."""

    task_id: str
    root_id: str
    role: str
    kind: str
    status: str
    review: str
    attempt: int
    version: int
    fence: int
    lease_holder: str | None
    lease_left_ms: int
    context_version: int
    agent_id: str
    reason: str
    created_at: int
    updated_at: int
    trace_id: str


class SagaStepShown(Shown):
    """A step of a saga: how far forward, and how far back."""

    seq: int
    name: str
    status: str
    compensation: str | None
    condition: str | None
    forward: str
    attempts: int
    compensation_attempts: int
    result: JsonValue
    error: str | None


class SagaShown(Shown):
    """A saga with its steps. Units: `due_in_ms` until its next try, 0 when that may be now."""

    saga_id: str
    name: str
    status: str
    failure: str | None
    version: int
    fence: int
    lease_holder: str | None
    lease_left_ms: int
    due_in_ms: int
    updated_at: int
    trace_id: str
    steps: tuple[SagaStepShown, ...]


class DeadLetterShown(Shown):
    """What nobody could get done. Shape: `step` is -1 for a task."""

    id: int
    kind: Literal["task", "saga"]
    ref: str
    step: int
    reason: str
    attempts: int
    created_at: int
    requeued_at: int | None
    trace_id: str


class TeamShown(Shown):
    """The whole team at one moment; the newest goals and sagas."""

    members: tuple[MemberShown, ...]
    board: tuple[BoardShown, ...]
    sagas: tuple[SagaShown, ...]
    dead_letters: tuple[DeadLetterShown, ...]


class EventShown(Shown):
    """Something that happened in a trace; `seq` orders all of them."""

    seq: int
    trace_id: str
    kind: str
    ref: str
    agent_id: str | None
    detail: dict[str, JsonValue]
    created_at: int


class LifeShown(Shown):
    """The life of a trace, goal, subtask, saga or correlation, across agents.

    Shape: `agents` in the order of their first event; `is_cut` when there were too many events.
    """

    id: str
    agents: tuple[str, ...]
    events: tuple[EventShown, ...]
    is_cut: bool
