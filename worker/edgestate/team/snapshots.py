"""How far a goal has come, kept whole after each finished subtask, to go back to."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

from edgestate import clock
from edgestate.errors import StateError, VersionConflict
from edgestate.team.board_rows import BoardTask
from edgestate.team.desk import Desk
from edgestate.team.errors import NoSnapshot
from edgestate.team.messages import Decisions
from edgestate.team.record import Statement, says
from edgestate.team.sql import contexts as sql
from edgestate.team.writes import Cycle, Write

SCHEMA: Final = 1
KEPT: Final = 16
"""Older snapshots of a goal are forgotten."""


@dataclass(frozen=True, slots=True)
class Restored:
    """The newest snapshot that is whole.

    Shape: `completed` maps each finished subtask to its attempt; `broken` has the newer versions
    that are not whole, each with what is wrong with it.
    """

    task_id: str
    version: int
    completed: dict[str, int]
    broken: tuple[tuple[int, str], ...] = ()


class Snapshots:
    """Taking snapshots, and going back to one."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def taking(self, task: BoardTask) -> list[Statement]:
        """The statements that keep the goal's progress with `task` completed."""
        root = task.root_id
        ((row,),) = await self._desk.read(says(sql.SELECT_PROGRESS, root))
        completed = json.loads(row["completed"]) | {task.task_id: task.attempt}
        payload = json.dumps({"task_id": root, "completed": completed}, sort_keys=True)
        version = row["version"] + 1
        values = (SCHEMA, _checksum(payload), payload, task.task_id, clock.now_ms())
        return [
            says(sql.TAKE_SNAPSHOT, root, version, *values),
            says(sql.GUARD_SNAPSHOT),
            says(sql.FORGET_SNAPSHOTS, root, version - KEPT),
        ]

    async def restore(self, task_id: str) -> Restored:
        """The newest whole snapshot of a goal: it says which, and what is wrong with newer ones.

        Errors: NoSnapshot if none is whole.
        """
        broken: list[tuple[int, str]] = []
        below = 2**53 - 2
        while True:
            (rows,) = await self._desk.read(says(sql.SELECT_SNAPSHOTS, task_id, below))
            if not rows:
                raise NoSnapshot(task_id, tuple(broken))
            below = rows[0]["version"]
            why = what_is_wrong(rows[0])
            if why is None:
                completed = json.loads(rows[0]["payload"])["completed"]
                return Restored(task_id, below, completed, tuple(broken))
            broken.append((below, why))

    async def roll_back(self, cycle: Cycle, restored: Restored, *, reason: str) -> None:
        """What was completed after the snapshot is to be done again; only the planner may.

        Errors: AccessDenied; ContextConflictError.
        """
        values = (json.dumps(restored.completed), self._desk.me, reason, clock.now_ms())
        decision = Decisions(self._desk).deciding(
            restored.task_id, f"rolled back to snapshot {restored.version}", reason
        )
        write = Write(
            "roll back",
            restored.task_id,
            [restored.task_id, restored.version, reason],
            (says(sql.ROLL_BACK, restored.task_id, *values), *decision.statements),
            roles=("planner",),
            cycle=cycle,
        )

        async def why(_reason: str) -> StateError:
            return VersionConflict(restored.task_id, 0, None)

        await self._desk.write(write, refused=why)


def what_is_wrong(row: Any) -> str | None:
    """Why a stored snapshot is not whole; None if it is."""
    if row["schema_number"] > SCHEMA:
        return f"its schema is {row['schema_number']}"
    if _checksum(row["payload"]) != row["sha256"]:
        return "its checksum is wrong"
    try:
        completed = json.loads(row["payload"])["completed"]
    except (ValueError, KeyError, TypeError):
        return "it is no snapshot"
    return None if isinstance(completed, dict) else "it is no snapshot"


def _checksum(payload: Any) -> str:
    return hashlib.sha256(str(payload).encode("utf-8", "surrogatepass")).hexdigest()
