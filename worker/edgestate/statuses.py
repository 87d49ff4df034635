"""Statuses of the four records, and which may follow which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from edgestate.errors import InvalidTransition, UnknownStatus

SessionStatus = Literal["active", "paused", "completed", "expired"]
TaskStatus = Literal["planned", "running", "waiting_tool", "completed", "failed"]
StepStatus = Literal["pending", "running", "success", "failed"]
ToolStatus = Literal["idle", "calling", "success", "retrying", "failed"]
Effect = Literal["read", "idempotent", "non_idempotent"]
Decision = Literal["retry", "skip", "done"]

Transitions = Mapping[str, frozenset[str]]

SESSION: Final[Transitions] = {
    "active": frozenset({"paused", "completed", "expired"}),
    "paused": frozenset({"active", "completed", "expired"}),
    "completed": frozenset(),
    "expired": frozenset(),
}
# A failed task runs again only by a person's decision; a completed one never.
TASK: Final[Transitions] = {
    "planned": frozenset({"running", "waiting_tool", "completed", "failed"}),
    "running": frozenset({"waiting_tool", "completed", "failed"}),
    "waiting_tool": frozenset({"running", "completed", "failed"}),
    "completed": frozenset(),
    "failed": frozenset({"running"}),
}
STEP: Final[Transitions] = {
    "pending": frozenset({"running", "success", "failed"}),
    "running": frozenset({"pending", "success", "failed"}),
    "success": frozenset(),
    "failed": frozenset({"pending", "success"}),
}
TOOL: Final[Transitions] = {
    "idle": frozenset({"calling", "success", "retrying", "failed"}),
    "calling": frozenset({"idle", "success", "retrying", "failed"}),
    "success": frozenset({"idle", "calling", "retrying", "failed"}),
    "retrying": frozenset({"idle", "calling", "success", "failed"}),
    "failed": frozenset({"idle", "calling", "success", "retrying"}),
}

TABLES: Final[Mapping[str, Transitions]] = {
    "session": SESSION,
    "task": TASK,
    "step": STEP,
    "tool": TOOL,
}


def refuse_impossible(kind: str, record_id: str, old: str, new: object) -> None:
    """Return only if a `kind` in status `old` may have the status `new` next, or has it already.

    Errors: UnknownStatus if there is no such status, InvalidTransition otherwise.
    """
    table = TABLES[kind]
    if new not in table:
        raise UnknownStatus(kind, new, tuple(table))
    if new != old and new not in table[old]:
        raise InvalidTransition(kind, record_id, old, str(new))
