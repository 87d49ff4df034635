"""Tasks as the board has them, and what is needed to plan and to hold one."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import JsonValue

from edgestate.team.context_keys import context_key
from edgestate.team.errors import CyclicPlan
from edgestate.team.writes import Cycle, Role

Status = Literal["pending", "running", "completed", "failed"]
LANES: Final = 4


def lane_of(task_id: str, lane_count: int = LANES) -> int:
    """The claim lane of a task: a stable hash, the same everywhere and always."""
    return zlib.crc32(task_id.encode()) % lane_count


@dataclass(frozen=True, slots=True)
class Subtask:
    """A subtask to be planned.

    Shape: `after` names subtasks that must be completed, and accepted if they are reviewed,
    before this one begins; `needs_review` if the critic looks at its result.
    """

    task_id: str
    kind: str
    input: JsonValue = None
    after: tuple[str, ...] = ()
    needs_review: bool = True
    role: Role = "worker"


@dataclass(frozen=True, slots=True)
class BoardTask:
    """A task as it is stored.

    Units: times in ms since the epoch.
    """

    task_id: str
    root_id: str
    role: Role
    kind: str
    status: Status
    review: str
    attempt: int
    version: int
    fence: int
    lease_holder: str | None
    lease_expires_at: int
    claims: int
    lane: int
    lane_count: int
    ordinal: int
    context_version: int
    agent_id: str
    reason: str
    created_at: int
    updated_at: int
    trace_id: str
    input: JsonValue = field(default=None)

    @property
    def cycle(self) -> Cycle:
        """The cycle of whoever works on it as it is."""
        key = context_key(self.root_id, self.context_version)
        return Cycle(self.root_id, self.context_version, key)


@dataclass(frozen=True, slots=True)
class Result:
    """What an attempt at a task came to."""

    task_id: str
    attempt: int
    summary: str
    value: JsonValue
    agent_id: str
    created_at: int


def task_of(row: Any) -> BoardTask:
    """The task of a row."""
    names = BoardTask.__dataclass_fields__
    return BoardTask(**{name: row[name] for name in names} | {"input": json.loads(row["input"])})


def result_of(row: Any) -> Result:
    """The result of a row."""
    return Result(
        row["task_id"],
        row["attempt"],
        row["result_summary"],
        json.loads(row["result"]),
        row["agent_id"],
        row["created_at"],
    )


def in_order(subtasks: Sequence[Subtask], known: frozenset[str] = frozenset()) -> list[Subtask]:
    """`subtasks` with each behind those that it waits for.

    Errors: CyclicPlan if there is no such order, an id is there twice, or one waits for a subtask
    that is neither planned with it nor `known`.
    """
    waiting = {subtask.task_id: subtask for subtask in subtasks}
    if len(waiting) < len(subtasks):
        ids = [subtask.task_id for subtask in subtasks]
        twice = sorted({task_id for task_id in ids if ids.count(task_id) > 1})
        raise CyclicPlan(tuple(twice), "are planned twice")
    missing = {
        subtask.task_id for subtask in subtasks if set(subtask.after) - waiting.keys() - known
    }
    if missing:
        raise CyclicPlan(tuple(sorted(missing)), "wait for subtasks that are not planned")
    ordered: list[Subtask] = []
    while waiting:
        free = [s for s in waiting.values() if not waiting.keys() & set(s.after)]
        if not free:
            raise CyclicPlan(tuple(sorted(waiting)))
        ordered += free
        for subtask in free:
            del waiting[subtask.task_id]
    return ordered
