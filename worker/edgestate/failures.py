"""Failures of the agent's own work: steps, tools and the model, each with its retryable flag."""

# ruff: noqa: N818  (the names are the design's: what happened, not "…Error")

from __future__ import annotations

from edgestate.errors import StateError


class StepFailed(StateError):
    """A step ended without its result; the task is stored as failed."""

    code = "step_failed"

    def __init__(self, task_id: str, step_index: int, message: str) -> None:
        super().__init__(f"step {step_index} of task {task_id} failed: {message}")
        self.task_id = task_id
        self.step_index = step_index
        self.message = message


class TaskInterrupted(StateError):
    """Someone else ended the task while it ran; what was done is stored."""

    code = "task_interrupted"

    def __init__(self, task_id: str, status: str) -> None:
        super().__init__(f"task {task_id} was set to {status} while it ran.")
        self.task_id = task_id
        self.status = status


class UnknownTool(StateError):
    """No tool with that name was given to the agent."""

    code = "unknown_tool"

    def __init__(self, tool_name: str) -> None:
        super().__init__(f"there is no tool {tool_name!r}.")
        self.tool_name = tool_name


class ToolFailed(StateError):
    """Raised by a tool that knows that its effect did not happen.

    Shape: `may_retry` says whether to call it again; `retry_after_s` when, if the other side
    said so. Any other exception of a tool leaves open whether the effect happened.
    """

    code = "tool_failed"

    def __init__(
        self, message: str, *, may_retry: bool = False, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.may_retry = may_retry
        self.retry_after_s = retry_after_s


class ToolUnknown(StateError):
    """A call ended without saying whether its effect happened (a timeout, a lost connection)."""

    retryable = True
    code = "tool_unknown"

    def __init__(self, tool_name: str, message: str) -> None:
        super().__init__(f"whether {tool_name} took effect is unknown: {message}")
        self.tool_name = tool_name


class ToolTimeout(ToolUnknown):
    """A call took longer than its tool allows: unknown, not failed."""

    code = "tool_timeout"

    def __init__(self, tool_name: str, timeout_s: float) -> None:
        super().__init__(tool_name, f"no answer within {timeout_s} s")
        self.timeout_s = timeout_s


class RateLimited(StateError):
    """The tool's window is full; nothing was called.

    Shape: `reset_at` in seconds since the epoch.
    """

    retryable = True
    code = "rate_limited"

    def __init__(self, tool_name: str, reset_at: float) -> None:
        super().__init__(f"tool {tool_name} is rate limited until {reset_at:.3f}.")
        self.tool_name = tool_name
        self.reset_at = reset_at


class ModelFailed(StateError):
    """The model gave no usable answer.

    Shape: `may_retry` is true for outages and limits, false for refusals; `retry_after_s` when
    the provider named a time.
    """

    code = "model_failed"

    def __init__(
        self, message: str, *, may_retry: bool, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.may_retry = may_retry
        self.retry_after_s = retry_after_s
