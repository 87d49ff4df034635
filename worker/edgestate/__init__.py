"""Durable state for one agent: sessions, tasks, steps, tools; correct under crashes and races.

Truth is in D1. Runs on Workers and on plain CPython; needs pydantic only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from pydantic import JsonValue


class Observe(Protocol):
    """Someone who sees every call of a tool."""

    async def __call__(
        self, name: str, arguments: JsonValue, operation: Callable[[], Awaitable[object]]
    ) -> object:
        """The value of `operation()`, which makes the call."""


observe: Observe | None = None
"""None on the edge; whoever looks at tool calls sets it (`edgestate.observe = …`)."""

request_trace: Callable[[], str | None] | None = None
"""None on the edge; whoever knows which trace the request came with sets it."""

from edgestate import keys  # noqa: E402  (what is below reads `observe`)
from edgestate.agent import Agent, PlannedStep  # noqa: E402
from edgestate.chat import (  # noqa: E402
    ChatModel,
    ChatReply,
    OpenAIModel,
    ScriptedModel,
    ToolRequest,
)
from edgestate.checkpoint import StateCheckpoint  # noqa: E402
from edgestate.d1 import D1StateStore  # noqa: E402
from edgestate.effects import idempotency_key  # noqa: E402
from edgestate.errors import (  # noqa: E402
    CorruptRecord,
    DecisionConflict,
    FenceLost,
    InvalidId,
    InvalidTransition,
    LeaseLost,
    LeaseTooShort,
    RecordTooLarge,
    SchemaTooNew,
    SessionNotFound,
    StateError,
    StepNeedsDecision,
    StepNotFound,
    StepNotWaiting,
    StoreRejected,
    StoreUnavailable,
    TaskBusy,
    TaskNotFound,
    TaskQuarantined,
    UnknownStatus,
    Unsupported,
    VersionConflict,
)
from edgestate.failures import (  # noqa: E402
    ModelFailed,
    RateLimited,
    StepFailed,
    TaskInterrupted,
    ToolFailed,
    ToolTimeout,
    ToolUnknown,
    UnknownTool,
)
from edgestate.kv import KVStateStore  # noqa: E402
from edgestate.locks import acquire_task_lock, release_task_lock  # noqa: E402
from edgestate.loop import (  # noqa: E402
    Answer,
    LockedRun,
    get_or_create_task,
    resume_abandoned_tasks,
    run_agent,
    run_agent_with_lock,
    run_agent_with_state,
    run_task,
)
from edgestate.memory import MemoryStateStore  # noqa: E402
from edgestate.models import (  # noqa: E402
    SessionState,
    StepResult,
    TaskState,
    ToolState,
    VersionedTaskState,
)
from edgestate.policy import CheckpointPolicy  # noqa: E402
from edgestate.recovery import (  # noqa: E402
    find_resumable_step,
    find_resumable_task,
    resolve_step,
)
from edgestate.sessions import (  # noqa: E402
    complete_session,
    load_or_reject_session,
    open_session,
    pause_session,
    resume_session,
    sweep_sessions,
)
from edgestate.store import StateStore  # noqa: E402
from edgestate.tools import Backoff, RateLimit, Tool, ToolCall, tool  # noqa: E402
from edgestate.traits import Lease, Lifetimes, Swept, Traits  # noqa: E402
from edgestate.versions import save_task_with_version, update_task  # noqa: E402

__all__ = [
    "Agent",
    "Answer",
    "Backoff",
    "ChatModel",
    "ChatReply",
    "CheckpointPolicy",
    "CorruptRecord",
    "D1StateStore",
    "DecisionConflict",
    "FenceLost",
    "InvalidId",
    "InvalidTransition",
    "KVStateStore",
    "Lease",
    "LeaseLost",
    "LeaseTooShort",
    "Lifetimes",
    "LockedRun",
    "MemoryStateStore",
    "ModelFailed",
    "Observe",
    "OpenAIModel",
    "PlannedStep",
    "RateLimit",
    "RateLimited",
    "RecordTooLarge",
    "SchemaTooNew",
    "ScriptedModel",
    "SessionNotFound",
    "SessionState",
    "StateCheckpoint",
    "StateError",
    "StateStore",
    "StepFailed",
    "StepNeedsDecision",
    "StepNotFound",
    "StepNotWaiting",
    "StepResult",
    "StoreRejected",
    "StoreUnavailable",
    "Swept",
    "TaskBusy",
    "TaskInterrupted",
    "TaskNotFound",
    "TaskQuarantined",
    "TaskState",
    "Tool",
    "ToolCall",
    "ToolFailed",
    "ToolRequest",
    "ToolState",
    "ToolTimeout",
    "ToolUnknown",
    "Traits",
    "UnknownStatus",
    "UnknownTool",
    "Unsupported",
    "VersionConflict",
    "VersionedTaskState",
    "acquire_task_lock",
    "complete_session",
    "find_resumable_step",
    "find_resumable_task",
    "get_or_create_task",
    "idempotency_key",
    "keys",
    "load_or_reject_session",
    "observe",
    "open_session",
    "pause_session",
    "release_task_lock",
    "resolve_step",
    "resume_abandoned_tasks",
    "resume_session",
    "run_agent",
    "run_agent_with_lock",
    "run_agent_with_state",
    "run_task",
    "save_task_with_version",
    "sweep_sessions",
    "tool",
    "update_task",
]
