"""Errors for users of the library: each is built from ids and carries them as attributes."""

# ruff: noqa: N818  (the names are the design's: what happened, not "…Error")

from __future__ import annotations

from typing import ClassVar


class StateError(Exception):
    """Something about stored state that the caller has to know.

    Shape: `retryable` says whether the same call may succeed later; `code` is stable text.
    """

    retryable: ClassVar[bool] = False
    code: ClassVar[str] = "state_error"


class InvalidId(StateError):
    """An id cannot be a part of a key: empty, over 512 bytes, or punctuation only."""

    code = "invalid_id"

    def __init__(self, kind: str, value: object, why: str) -> None:
        super().__init__(
            f"{kind} id {_short(value)} {why}.  "
            "An id is a text of 1 to 512 UTF-8 bytes that are not all punctuation."
        )
        self.kind = kind
        self.value = value


class UnknownStatus(StateError):
    """A status that no record of this kind can have."""

    code = "unknown_status"

    def __init__(self, kind: str, status: object, allowed: tuple[str, ...]) -> None:
        super().__init__(
            f"{kind} status {_short(status)} does not exist.  Allowed: {', '.join(allowed)}."
        )
        self.kind = kind
        self.status = status
        self.allowed = allowed


class InvalidTransition(StateError):
    """A change of status that cannot happen; nothing was changed."""

    code = "invalid_transition"

    def __init__(self, kind: str, record_id: str, old: str, new: str) -> None:
        super().__init__(f"{kind} {record_id} cannot go from {old} to {new}.")
        self.kind = kind
        self.record_id = record_id
        self.old = old
        self.new = new


class CorruptRecord(StateError):
    """A stored record cannot be read; it was left as it is."""

    code = "corrupt_record"

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where} cannot be read: {reason}")
        self.where = where
        self.reason = reason


class SchemaTooNew(CorruptRecord):
    """A record was written by a newer version of this library; it is not misread as an old one."""

    code = "schema_too_new"

    def __init__(self, where: str, found: int, known: int) -> None:
        super().__init__(where, f"its schema is {found} and this library knows up to {known}")
        self.found = found
        self.known = known


class TaskQuarantined(StateError):
    """A task's record is not whole: it is set aside until a person has looked at it."""

    code = "task_quarantined"

    def __init__(self, task_id: str, reason: str) -> None:
        super().__init__(f"task {task_id} is quarantined: {reason}")
        self.task_id = task_id
        self.reason = reason


class SessionNotFound(StateError):
    """There is no such session, or its lifetime is over."""

    code = "session_not_found"

    def __init__(self, session_id: str) -> None:
        super().__init__(f"session {session_id} does not exist or has expired.")
        self.session_id = session_id


class TaskNotFound(StateError):
    """There is no such task."""

    code = "task_not_found"

    def __init__(self, task_id: str) -> None:
        super().__init__(f"task {task_id} does not exist.")
        self.task_id = task_id


class StepNotFound(StateError):
    """The task has no step with that index."""

    code = "step_not_found"

    def __init__(self, task_id: str, step_index: int) -> None:
        super().__init__(f"task {task_id} has no step {step_index}.")
        self.task_id = task_id
        self.step_index = step_index


class VersionConflict(StateError):
    """Someone else changed the record first; nothing was written.

    Shape: `actual` is the stored version, None when there is no such record.
    """

    retryable = True
    code = "version_conflict"

    def __init__(self, record_id: str, expected: int, actual: int | None) -> None:
        found = "no record" if actual is None else f"version {actual}"
        super().__init__(f"{record_id}: expected version {expected}, found {found}.")
        self.record_id = record_id
        self.expected = expected
        self.actual = actual


class FenceLost(StateError):
    """A later holder has begun with the task; nothing was written, and the caller must stop."""

    code = "fence_lost"

    def __init__(self, task_id: str, fence: int, actual: int | None = None) -> None:
        super().__init__(f"task {task_id}: fence {fence} is over, the task is at {actual}.")
        self.task_id = task_id
        self.fence = fence
        self.actual = actual


class LeaseLost(StateError):
    """The lease expired or another holder has it; nothing was written."""

    code = "lease_lost"

    def __init__(self, task_id: str, holder: str) -> None:
        super().__init__(f"task {task_id} is no longer leased to {holder}.")
        self.task_id = task_id
        self.holder = holder


class TaskBusy(StateError):
    """Another holder has the task's lease."""

    retryable = True
    code = "task_busy"

    def __init__(self, task_id: str) -> None:
        super().__init__(f"task {task_id} is being worked on by someone else.")
        self.task_id = task_id


class LeaseTooShort(StateError):
    """A tool may take longer than the lease lasts, so its effect could outlive the lease."""

    code = "lease_too_short"

    def __init__(self, tool_name: str, timeout_s: float, ttl_s: float) -> None:
        super().__init__(
            f"tool {tool_name} may take {timeout_s} s and the lease lasts {ttl_s} s.  "
            "Make the lease longer than every tool's timeout."
        )
        self.tool_name = tool_name
        self.timeout_s = timeout_s
        self.ttl_s = ttl_s


class Unsupported(StateError):
    """The store cannot promise what was asked; the text says why and what to use."""

    code = "unsupported"

    def __init__(self, store: str, capability: str, why: str) -> None:
        super().__init__(f"{store} has no {capability}: {why}")
        self.store = store
        self.capability = capability


class RecordTooLarge(StateError):
    """A value is larger than the store takes; nothing was written."""

    code = "record_too_large"

    def __init__(self, where: str, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(
            f"{where} has {size_bytes} bytes, allowed are {limit_bytes}.  "
            "Keep large results elsewhere, or give the store a KV binding as `blobs`."
        )
        self.where = where
        self.size_bytes = size_bytes
        self.limit_bytes = limit_bytes


class StoreRejected(StateError):
    """The store refused a write for a reason of its own; nothing was written."""

    code = "store_rejected"

    def __init__(self, message: str) -> None:
        super().__init__(message)


class StoreUnavailable(StateError):
    """The store did not answer properly: a write may have happened or not."""

    retryable = True
    code = "store_unavailable"

    def __init__(self, message: str) -> None:
        super().__init__(f"the outcome is unknown: {message}")


class StepNeedsDecision(StateError):
    """Only a person can say how the task goes on: `resolve_step` takes the answer.

    Shape: `why` is "uncertain" (an effect may have happened) or "failed".
    """

    code = "step_needs_decision"

    def __init__(self, task_id: str, step_index: int, why: str) -> None:
        super().__init__(
            f"step {step_index} of task {task_id} is {why}.  "
            'Decide with resolve_step: "retry", "skip" or "done".'
        )
        self.task_id = task_id
        self.step_index = step_index
        self.why = why


class StepNotWaiting(StateError):
    """The step waits for no decision, so none was taken."""

    code = "step_not_waiting"

    def __init__(self, task_id: str, step_index: int, status: str) -> None:
        super().__init__(f"step {step_index} of task {task_id} is {status} and asks nothing.")
        self.task_id = task_id
        self.step_index = step_index
        self.status = status


class DecisionConflict(StateError):
    """The question was answered before, or is no longer the one that the caller saw."""

    code = "decision_conflict"

    def __init__(self, task_id: str, step_index: int, taken: str | None, given: str) -> None:
        was = f"was answered with {taken!r}" if taken else "is no longer the question you saw"
        super().__init__(f"step {step_index} of task {task_id} {was}; {given!r} was not taken.")
        self.task_id = task_id
        self.step_index = step_index
        self.taken = taken
        self.given = given


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
