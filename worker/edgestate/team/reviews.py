"""The critic's part: results are accepted, or go back to be done again."""

from __future__ import annotations

from typing import Final

from edgestate import clock
from edgestate.team.board import Board
from edgestate.team.board_rows import BoardTask, task_of
from edgestate.team.desk import Desk
from edgestate.team.messages import Decisions
from edgestate.team.record import says
from edgestate.team.sql import board as sql
from edgestate.team.writes import Write, request_of

MAX_ATTEMPTS: Final = 5


class Reviews:
    """Judging completed tasks; only the critic may."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._board = Board(desk)
        self._decisions = Decisions(desk)

    async def open(self, *, root_id: str | None = None, limit: int = 20) -> list[BoardTask]:
        """Completed tasks that nobody has judged, the oldest first."""
        (rows,) = await self._desk.read(says(sql.SELECT_REVIEWABLE, root_id, limit))
        return [task_of(row) for row in rows]

    async def accept(
        self, task: BoardTask, *, reason: str, effects: tuple[Write, ...] = ()
    ) -> None:
        """The result stands. Errors: VersionConflict if the task was changed; AccessDenied."""
        await self._judge(task, "accepted", sql.ACCEPT, reason, effects)

    async def reject(
        self,
        task: BoardTask,
        *,
        reason: str,
        effects: tuple[Write, ...] = (),
        max_attempts: int = MAX_ATTEMPTS,
    ) -> None:
        """The task is to be done again; after `max_attempts` it has failed, a dead letter.

        Errors: VersionConflict if the task was changed; AccessDenied.
        """
        is_last = task.attempt >= max_attempts
        text = sql.REJECT_FOR_GOOD if is_last else sql.REJECT
        await self._judge(task, "rejected", text, reason, effects, is_last=is_last)

    async def _judge(
        self,
        task: BoardTask,
        verdict: str,
        text: str,
        reason: str,
        effects: tuple[Write, ...],
        *,
        is_last: bool = False,
    ) -> None:
        now = clock.now_ms()
        statements = [
            says(text, task.task_id, task.version, self._desk.me, reason, now),
            says(sql.GUARD_VERSION),
            *self._decisions.deciding(task.task_id, verdict, reason).statements,
        ]
        if is_last:
            why = f"rejected {task.attempt} times: {reason}"
            statements.append(says(sql.DEAD_TASK, task.task_id, why, now))
        write = Write(
            verdict,
            task.task_id,
            [task.task_id, task.version, verdict, reason],
            tuple(statements),
            roles=("critic",),
            effects=effects,
        )
        request_id = request_of("review", task.task_id, task.version)
        await self._desk.write(write, request_id=request_id, refused=self._board.why(task.task_id))
