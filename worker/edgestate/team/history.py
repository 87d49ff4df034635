"""What happened to tasks, and the state that follows from it: the two are compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from edgestate.team.record import Record, says
from edgestate.team.sql import inspecting as sql


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a task, as history has it; `seq` orders all of them.

    Units: `created_at` in ms since the epoch, for people.
    """

    seq: int
    task_id: str
    version: int
    old_status: str | None
    status: str
    review: str
    attempt: int
    fence: int
    lease_holder: str | None
    context_version: int
    agent_id: str
    reason: str
    created_at: int
    trace_id: str


@dataclass(frozen=True, slots=True)
class State:
    """A task's state: what history must lead to."""

    task_id: str
    version: int
    status: str
    review: str
    attempt: int
    fence: int
    lease_holder: str | None
    context_version: int
    agent_id: str
    reason: str


class HistoryBroken(ValueError):  # noqa: N818  (what it is)
    """History has a gap, or a change that does not follow from the one before."""


async def history(record: Record, task_id: str | None = None) -> list[Change]:
    """Every change of a task, or of all, in the order in which they happened."""
    (rows,) = await record.batch([says(sql.SELECT_HISTORY, task_id)], "read")
    return [_made(Change, row) for row in rows]


async def states(record: Record, task_id: str | None = None) -> dict[str, State]:
    """The stored state of a task, or of all."""
    (rows,) = await record.batch([says(sql.SELECT_STATES, task_id)], "read")
    return {row["task_id"]: _made(State, row) for row in rows}


def rebuild(changes: Iterable[Change]) -> dict[str, State]:
    """The state of each task that follows from its changes alone.

    Errors: HistoryBroken for a gap, or a change from a state that the task was not in.
    """
    built: dict[str, State] = {}
    for change in changes:
        before = built.get(change.task_id)
        version, status = (before.version, before.status) if before else (0, None)
        if (change.version, change.old_status) != (version + 1, status):
            raise HistoryBroken(
                f"task {change.task_id}: version {change.version} from {change.old_status} "
                f"follows version {version}, which is {status}"
            )
        if before is not None and change.fence < before.fence:
            raise HistoryBroken(f"task {change.task_id}: fence {change.fence} after {before.fence}")
        built[change.task_id] = State(
            **{name: getattr(change, name) for name in State.__dataclass_fields__}
        )
    return built


def _made(kind: Any, row: Any) -> Any:
    return kind(**{name: row[name] for name in kind.__dataclass_fields__})
