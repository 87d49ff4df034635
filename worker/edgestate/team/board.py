"""The board: who has what, and what it came to. Each change is one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from edgestate import clock
from edgestate.d1_leases import positive_ttl
from edgestate.errors import FenceLost, LeaseLost, StateError, TaskNotFound, VersionConflict
from edgestate.keys import check_id
from edgestate.team.board_rows import LANES, BoardTask, Result, result_of, task_of
from edgestate.team.desk import Desk, Refused, pause
from edgestate.team.record import says
from edgestate.team.snapshots import Snapshots
from edgestate.team.sql import board as sql
from edgestate.team.sql.settings import SELECT_REVISION
from edgestate.team.writes import Cycle, Write, new_id, request_of, text_of

LEASE_S: Final = 30.0
MAX_CLAIMS: Final = 5
SNAPSHOT_TRIES: Final = 30


@dataclass(frozen=True, slots=True)
class Held:
    """A task that an agent has, until its lease ends or another fence begins.

    Units: `expires_at` in seconds since the epoch. `settings_revision` is how new the settings
    were when it was claimed: who works on it reads none that are older.
    """

    task: BoardTask
    holder: str
    expires_at: float
    ttl_s: float
    settings_revision: int = 0

    @property
    def cycle(self) -> Cycle:
        """The context that the work is done under."""
        return self.task.cycle


class Board:
    """The board, as one agent sees it."""

    def __init__(self, desk: Desk, *, lane: int = 0, lane_count: int = LANES) -> None:
        self._desk = desk
        self._lane = lane % lane_count
        self._lane_count = lane_count
        self._snapshots = Snapshots(desk)

    # --- reading ---

    async def task(self, task_id: str) -> BoardTask:
        """A task as it is now. Errors: TaskNotFound."""
        (rows,) = await self._desk.read(says(sql.SELECT_TASK, check_id("task", task_id)))
        if not rows:
            raise TaskNotFound(task_id)
        return task_of(rows[0])

    async def tasks(self, root_id: str) -> list[BoardTask]:
        """A goal and its subtasks, in the order in which they were planned."""
        (rows,) = await self._desk.read(says(sql.SELECT_TASKS, root_id))
        return [task_of(row) for row in rows]

    async def result(self, task_id: str) -> Result | None:
        """What the last attempt at a task came to; None while there is nothing."""
        (rows,) = await self._desk.read(says(sql.SELECT_RESULT, task_id))
        return result_of(rows[0]) if rows else None

    async def results(self, root_id: str) -> list[Result]:
        """The results of the completed tasks of a goal."""
        (rows,) = await self._desk.read(says(sql.SELECT_RESULTS, root_id))
        return [result_of(row) for row in rows]

    # --- claiming ---

    async def claim(
        self, *, root_id: str | None = None, ttl_s: float = LEASE_S, request_id: str | None = None
    ) -> Held | None:
        """A task that is this agent's alone now, from its own lane first; None if there is none.

        A task whose lease ran out is taken over; one that was claimed five times without a result
        is left alone (`set_aside`).
        """
        claim_id = new_id("claim") if request_id is None else check_id("request", request_id)
        now = clock.now()
        values = (
            self._desk.me,
            self._desk.identity.incarnation,
            int((now + positive_ttl(ttl_s)) * 1000),
            claim_id,
            int(now * 1000),
        )
        rows = await self._desk.send(
            says(sql.CLAIM, *values, self._lane, MAX_CLAIMS, root_id),
            says(sql.SELECT_CLAIM, claim_id),
            says(SELECT_REVISION),
        )
        return self._held(rows, now, ttl_s)

    async def look(self, *, limit: int = 16, own_lane: bool = False) -> list[tuple[str, int]]:
        """Tasks that may be taken, with their versions: for an agent that chooses for itself."""
        lane = self._lane if own_lane else None
        (rows,) = await self._desk.read(says(sql.LOOK, self._desk.me, lane, limit, MAX_CLAIMS))
        return [(row["task_id"], row["version"]) for row in rows]

    async def take(self, task_id: str, version: int, *, ttl_s: float = LEASE_S) -> Held:
        """The task that was seen at `version` is this agent's alone now.

        Errors: VersionConflict if it is another's, or was changed; that is counted.
        """
        claim_id, now = new_id("take"), clock.now()
        values = (
            self._desk.me,
            self._desk.identity.incarnation,
            int((now + positive_ttl(ttl_s)) * 1000),
            claim_id,
            int(now * 1000),
        )
        rows = await self._desk.send(
            says(sql.TAKE, *values, task_id, version, MAX_CLAIMS),
            says(sql.SELECT_CLAIM, claim_id),
            says(SELECT_REVISION),
        )
        held = self._held(rows, now, ttl_s)
        if held is None:
            await self._desk.count_refusal("version_conflict")
            raise VersionConflict(task_id, version, (await self.task(task_id)).version)
        return held

    def _held(self, rows: Sequence[Any], now: float, ttl_s: float) -> Held | None:
        if not rows[1]:
            return None
        self._desk.record.tally.update({"transactions": 1, "updates": 1})
        task = task_of(rows[1][0])
        revision: int = rows[2][0]["revision"]
        return Held(task, self._desk.identity.incarnation, now + ttl_s, ttl_s, revision)

    async def renew(self, held: Held, *, ttl_s: float | None = None) -> Held:
        """`held` lasts for its whole time from now. Errors: LeaseLost; nothing was written."""
        ttl_s = positive_ttl(held.ttl_s if ttl_s is None else ttl_s)
        now = clock.now()
        (rows,) = await self._desk.send(
            says(
                sql.RENEW,
                held.task.task_id,
                held.holder,
                held.task.fence,
                int((now + ttl_s) * 1000),
                int(now * 1000),
            )
        )
        if not rows:
            raise LeaseLost(held.task.task_id, held.holder)
        return Held(held.task, held.holder, now + ttl_s, ttl_s, held.settings_revision)

    async def release(self, held: Held, *, reason: str) -> None:
        """The task waits for somebody again. Errors: FenceLost."""
        task = held.task
        values = (task.task_id, self._desk.me, reason, clock.now_ms(), task.fence)
        statements = (says(sql.RELEASE, *values), self._guard(held))
        write = Write("release", task.task_id, [task.task_id, task.fence, reason], statements)
        await self._desk.write(write, refused=self.why(task.task_id, held))

    # --- finishing ---

    async def complete(
        self,
        held: Held,
        value: JsonValue,
        *,
        summary: str,
        effects: Sequence[Write] = (),
        request_id: str | None = None,
    ) -> None:
        """The task is completed: status, result, history, snapshot and `effects` in one batch.

        Errors: FenceLost if another has it by now, ContextConflictError if the goal's context is
        a newer one; nothing was written.
        """
        task = held.task
        request_id = request_id or request_of("complete", task.task_id, task.attempt, task.fence)
        for attempt in range(SNAPSHOT_TRIES):
            statements = [
                *self._result(held, summary, value),
                *await self._snapshots.taking(task),
            ]
            write = Write(
                "complete",
                task.task_id,
                [task.task_id, task.attempt, task.fence, summary, value],
                tuple(statements),
                answer=says(sql.ANSWER_COMPLETED, task.task_id),
                cycle=held.cycle,
                effects=tuple(effects),
            )
            try:
                await self._desk.write(
                    write, request_id=request_id, refused=self.why(task.task_id, held)
                )
                return
            except VersionConflict as conflict:
                if conflict.record_id != SNAPSHOT or attempt + 1 == SNAPSHOT_TRIES:
                    raise
                await pause(min(attempt, 3))

    def _result(self, held: Held, summary: str, value: JsonValue) -> list[Any]:
        task, now = held.task, clock.now_ms()
        head = (task.task_id, self._desk.me, task.fence, task.context_version)
        return [
            says(sql.PUT_RESULT, *head, summary, text_of(value), now),
            says(sql.COMPLETE, *head, now),
            self._guard(held),
        ]

    def _guard(self, held: Held) -> Any:
        task = held.task
        return says(sql.GUARD_HELD, task.task_id, task.fence, task.context_version, self._desk.me)

    async def fail(self, held: Held, reason: str) -> None:
        """The task has failed and lies among the dead letters. Errors: as for `complete`."""
        task, now = held.task, clock.now_ms()
        head = (task.task_id, self._desk.me, task.fence, task.context_version)
        write = Write(
            "fail",
            task.task_id,
            [task.task_id, task.attempt, task.fence, reason],
            (
                says(sql.FAIL, *head, reason, now),
                self._guard(held),
                says(sql.DEAD_TASK, task.task_id, reason, now),
            ),
            cycle=held.cycle,
        )
        await self._desk.write(write, refused=self.why(task.task_id, held))

    async def set_aside(self, *, max_claims: int = MAX_CLAIMS) -> list[str]:
        """The tasks that were claimed that often for nothing: failed now, and dead letters."""
        now = clock.now_ms()
        _, dead = await self._desk.send(
            says(sql.SET_ASIDE, now, max_claims, self._desk.me), says(sql.DEAD_ASIDE, now)
        )
        return [row["ref"] for row in dead]

    def why(self, task_id: str, held: Held | None = None) -> Refused:
        """What a refused change of a task means, with what is stored now."""

        async def why(reason: str) -> StateError:
            if reason == "snapshot_conflict":
                return VersionConflict(SNAPSHOT, 0, None)
            task = await self.task(task_id)
            if reason == "context_conflict":
                return await self._desk.behind(task.cycle if held is None else held.cycle)
            if held is not None and (reason == "fence_lost" or task.fence != held.task.fence):
                return FenceLost(task_id, held.task.fence, task.fence)
            return VersionConflict(task_id, held.task.version if held else 0, task.version)

        return why


SNAPSHOT: Final = "snapshot"
