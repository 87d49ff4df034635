"""The four records: session, task, step, tool. Attributes in Python's case, JSON in camelCase."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from edgestate import clock
from edgestate.keys import check_id
from edgestate.statuses import (
    Decision,
    Effect,
    SessionStatus,
    StepStatus,
    TaskStatus,
    ToolStatus,
    refuse_impossible,
)

SCHEMA: Final = 2
"""The number of the form that records are written in; 1 is the document's own (no number)."""

Count = Annotated[int, Field(ge=0)]
Message = dict[str, JsonValue]


class Record(BaseModel):
    """What the records have in common: checked assignment, and a status that moves by its table."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        validate_assignment=True,
        ser_json_inf_nan="null",
    )
    kind: ClassVar[str] = ""

    def _named(self) -> str:
        return ""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "status":
            refuse_impossible(self.kind, self._named(), self.__dict__["status"], value)
        super().__setattr__(name, value)


class SessionState(Record):
    """One conversation of a user.

    Shape: dates are ISO texts; `version` is the stored version that this copy was read at.
    """

    kind: ClassVar[str] = "session"

    session_id: str
    user_id: str
    status: SessionStatus = "active"
    created_at: str = Field(default_factory=clock.iso)
    last_active_at: str = Field(default_factory=clock.iso)
    message_count: Count = 0
    version: Count = 0

    def _named(self) -> str:
        return self.session_id

    def model_post_init(self, _context: Any, /) -> None:
        check_id("session", self.session_id)
        check_id("user", self.user_id)


class StepResult(Record):
    """One step of a task and what came of it.

    Shape: `effect` says what running it again may do; `attempt` counts the started attempts of a
    non-idempotent step; `intent_at` is set while such an attempt is under way; `resolution` is
    what a person decided about attempt `resolved_attempt`; `messages` is what the step added to
    the conversation; `group` names steps that may run at the same time.
    """

    kind: ClassVar[str] = "step"

    step_index: Count
    action: str
    input: JsonValue = None
    output: JsonValue = None
    status: StepStatus = "pending"
    error: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    effect: Effect = "non_idempotent"
    attempt: Count = 0
    idempotency_key: str | None = None
    intent_at: str | None = None
    fence: Count = 0
    error_code: str | None = None
    resolution: Decision | None = None
    resolved_attempt: Count = 0
    messages: list[Message] = Field(default_factory=list)
    group: str | None = None

    def _named(self) -> str:
        return str(self.step_index)

    @property
    def is_uncertain(self) -> bool:
        """Whether an effect may have happened that must not happen again unasked."""
        return self.status == "running" and self.effect == "non_idempotent"


class TaskState(Record):
    """One job of a session, with its steps.

    Shape: `current_step` is the first step without a result; `prompt` is the conversation before
    the first step; `iteration` counts the model's turns; `counters` and `intermediate` are the
    agent's own numbers and partial results; `outcome` names how the task ended
    ("answered", "done", "iteration_limit", "degraded", "step_failed"), `result` with what.
    """

    kind: ClassVar[str] = "task"

    task_id: str
    session_id: str
    goal: str
    status: TaskStatus = "planned"
    current_step: Count = 0
    total_steps: Count = 0
    steps: list[StepResult] = Field(default_factory=list)
    created_at: str = Field(default_factory=clock.iso)
    updated_at: str = Field(default_factory=clock.iso)
    request_id: str | None = None
    prompt: list[Message] = Field(default_factory=list)
    iteration: Count = 0
    counters: dict[str, float] = Field(default_factory=dict)
    intermediate: dict[str, JsonValue] = Field(default_factory=dict)
    outcome: str | None = None
    result: JsonValue = None
    error: str | None = None
    error_code: str | None = None

    def _named(self) -> str:
        return self.task_id

    def model_post_init(self, _context: Any, /) -> None:
        check_id("task", self.task_id)
        check_id("session", self.session_id)
        if self.request_id is not None:
            check_id("request", self.request_id)

    @property
    def transcript(self) -> list[Message]:
        """The whole conversation so far: the prompt and what each step added."""
        return [*self.prompt, *(m for step in self.steps for m in step.messages)]

    @property
    def is_over(self) -> bool:
        """Whether no step will run any more unless a person decides so."""
        return self.status in ("completed", "failed")

    def first_open_step(self) -> int:
        """The index of the first step without a result, `len(steps)` if all have one."""
        return next((s.step_index for s in self.steps if s.status != "success"), len(self.steps))


class VersionedTaskState(TaskState):
    """A task with the stored version that this copy was read at (0: never stored).

    Shape: `fence` is the token of the task's last lease when it was read.
    """

    version: Count = 0
    fence: Count = 0


class ToolState(Record):
    """What is known of one tool within one task.

    Shape: `cursor` is where the next page begins; `rate_count` calls were made since
    `rate_window_start`; `extra` holds the tool's intermediate results.
    """

    kind: ClassVar[str] = "tool"

    tool_name: str
    task_id: str
    status: ToolStatus = "idle"
    retry_count: Count = 0
    max_retries: Count = 3
    last_result: JsonValue = None
    last_error: str | None = None
    rate_limit_reset_at: str | None = None
    cursor: JsonValue = None
    rate_count: Count = 0
    rate_window_start: str | None = None
    extra: dict[str, JsonValue] = Field(default_factory=dict)

    def _named(self) -> str:
        return f"{self.tool_name} of task {self.task_id}"

    def model_post_init(self, _context: Any, /) -> None:
        check_id("task", self.task_id)
        check_id("tool", self.tool_name)

    def should_retry(self) -> bool:
        """Whether the last call failed and another one is allowed."""
        return self.status == "retrying" and self.retry_count <= self.max_retries

    def is_rate_limited(self, now: float) -> bool:
        """Whether the tool must not be called at `now` (seconds since the epoch)."""
        if self.rate_limit_reset_at is None:
            return False
        reset_at = clock.parse(self.rate_limit_reset_at)
        return reset_at is not None and now < reset_at
