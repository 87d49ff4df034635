"""A team to test: real bindings, one database, agents of each role on it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from pydantic import JsonValue

from edgestate.team import (
    Cycle,
    D1Record,
    Deadlines,
    Held,
    Role,
    Subtask,
    TeamMember,
    enrol,
)

PATIENT: Final = Deadlines(read_s=20, write_s=20)
"""What is tested here is not how busy the machine is."""


class Team:
    """A database and the agents on it."""

    def __init__(self, db: Any, record: D1Record, kv: Any = None) -> None:
        self.db = db
        self.record = record
        self.kv = kv

    async def member(self, agent_id: str, role: Role, *, lane: int = 0) -> TeamMember:
        """A new life of the agent, which is enrolled."""
        return TeamMember(
            self.record, await enrol(self.record, agent_id, role), kv=self.kv, lane=lane
        )

    async def planner(self) -> TeamMember:
        return await self.member("planner", "planner")

    async def worker(self, number: int = 1) -> TeamMember:
        return await self.member(f"worker-{number}", "worker", lane=number - 1)

    async def critic(self) -> TeamMember:
        return await self.member("critic", "critic")

    async def goal(
        self, *subtasks: Subtask | str, task_id: str = "goal", context: JsonValue = "as agreed"
    ) -> Cycle:
        """A goal that is split into `subtasks`."""
        planner = await self.planner()
        cycle = await planner.contexts.begin(task_id, "goal", context)
        plan = [
            subtask if isinstance(subtask, Subtask) else Subtask(subtask, "work")
            for subtask in subtasks
        ]
        if plan:
            await planner.planning.plan(cycle, plan, reason="each can be done alone")
        return cycle

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        """What `sql` selects, past the library."""
        statement = self.db.prepare(sql)
        answer = await (statement.bind(*values) if values else statement).all()
        return [dict(row) for row in answer["results"]]

    async def run(self, sql: str, *values: Any) -> None:
        """`sql` is carried out, past the library."""
        statement = self.db.prepare(sql)
        await (statement.bind(*values) if values else statement).run()

    async def counters(self) -> dict[str, int]:
        """What the database has counted."""
        return {row["name"]: row["value"] for row in await self.rows("SELECT * FROM team_counters")}


async def claimed(member: TeamMember, **options: Any) -> Held:
    """A task that `member` has."""
    held = await member.board.claim(**options)
    assert held is not None
    return held


class SlowDatabase:
    """A database that answers late, or not at all.

    Shape: the next `times` calls do their work, and answer after `delay_s`; with `is_down` every
    call fails before it does anything.
    """

    def __init__(self, db: Any) -> None:
        self._db = db
        self.delay_s = 0.0
        self.times = 0
        self.is_down = False
        self.calls = 0

    def prepare(self, sql: str) -> Any:
        return self._db.prepare(sql)

    async def batch(self, statements: Sequence[Any]) -> Any:
        self.calls += 1
        if self.is_down:
            raise TimeoutError("the database is gone")
        try:
            return await self._db.batch([*statements])
        finally:
            if self.times > 0:
                self.times -= 1
                await asyncio.sleep(self.delay_s)


async def finished(team: Team, *names: str) -> None:
    """These subtasks of a goal are completed."""
    await team.goal(*(Subtask(name, "work") for name in names))
    worker = await team.worker()
    for _ in names:
        held = await claimed(worker)
        await worker.board.complete(held, 1, summary=f"{held.task.task_id} is done")


async def damage(team: Team, version: int) -> None:
    """One byte of a snapshot is another."""
    await team.run(
        "UPDATE task_snapshots SET payload = replace(payload, 'goal', 'goaI') WHERE version = ?",
        version,
    )
