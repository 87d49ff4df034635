"""Splitting a goal into subtasks, and moving them under a newer context."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from edgestate import clock
from edgestate.errors import StateError, TaskNotFound, VersionConflict
from edgestate.keys import check_id
from edgestate.team.board import Board
from edgestate.team.board_rows import LANES, Subtask, in_order, lane_of
from edgestate.team.desk import Desk
from edgestate.team.errors import CyclicPlan
from edgestate.team.messages import Decisions
from edgestate.team.record import says
from edgestate.team.sql import board as sql
from edgestate.team.writes import Cycle, Write, text_of


class Planning:
    """What the planner does with the board."""

    def __init__(self, desk: Desk, *, lane_count: int = LANES) -> None:
        self._desk = desk
        self._board = Board(desk, lane_count=lane_count)
        self._decisions = Decisions(desk)
        self._lane_count = lane_count

    async def plan(
        self,
        cycle: Cycle,
        subtasks: Sequence[Subtask],
        *,
        reason: str,
        request_id: str | None = None,
    ) -> None:
        """`subtasks` are on the board, the goal waits for them all, and why is written down.

        Only the planner plans, under the context that `cycle` says, and before the goal begins.
        Errors: CyclicPlan, also for an id that exists; AccessDenied; ContextConflictError.
        """
        stored = {task.task_id for task in await self._board.tasks(cycle.task_id)}
        new = {subtask.task_id for subtask in subtasks}
        ordered = in_order(subtasks, frozenset(stored - new))
        first = max(len(stored - new), 1)
        rows = [self._row(subtask, first + n) for n, subtask in enumerate(ordered)]
        waits: list[JsonValue] = [[s.task_id, other] for s in ordered for other in s.after]
        waits += [[cycle.task_id, s.task_id] for s in ordered]
        decision = f"split into {len(rows)} subtasks"
        plan = (text_of([*rows]), cycle.task_id, self._lane_count, self._desk.me, clock.now_ms())
        write = Write(
            "plan",
            cycle.task_id,
            [cycle.task_id, [row[:5] for row in rows], waits, reason],
            (
                says(sql.PLAN, *plan),
                says(sql.GUARD_PLAN, len(rows)),
                says(sql.DEPEND, text_of(waits)),
                *self._decisions.deciding(cycle.task_id, decision, reason).statements,
            ),
            roles=("planner",),
            cycle=cycle,
        )

        async def why(reason: str) -> StateError:
            if reason == "append_only":
                return CyclicPlan(tuple(sorted(new)), "exist already")
            return VersionConflict(cycle.task_id, 0, None)

        await self._desk.write(write, request_id=request_id, refused=why)

    def _row(self, subtask: Subtask, ordinal: int) -> list[JsonValue]:
        task_id = check_id("task", subtask.task_id)
        review = "open" if subtask.needs_review else "none"
        lane = lane_of(task_id, self._lane_count)
        text = text_of(subtask.input)
        return [task_id, subtask.role, subtask.kind, text, review, lane, ordinal]

    async def rebase(self, cycle: Cycle, *, reason: str, request_id: str | None = None) -> None:
        """The goal's unfinished subtasks begin anew under the newest context.

        Whoever works on one under the older context is fenced off.
        Errors: AccessDenied for all but the planner; ContextConflictError.
        """
        write = Write(
            "rebase",
            cycle.task_id,
            [cycle.task_id, cycle.version, reason],
            (
                says(sql.REBASE, cycle.task_id, self._desk.me, clock.now_ms()),
                *self._decisions.deciding(cycle.task_id, "rebase", reason).statements,
            ),
            roles=("planner",),
            cycle=cycle,
        )

        async def why(_reason: str) -> StateError:
            return TaskNotFound(cycle.task_id)

        await self._desk.write(write, request_id=request_id, refused=why)
