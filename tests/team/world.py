"""A team to test: real bindings, one database, agents of each role on it."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from pydantic import JsonValue
from tests.edgestate.world import d1_binding

from edgestate.team.board import Board, Held
from edgestate.team.board_rows import Subtask
from edgestate.team.contexts import Contexts
from edgestate.team.desk import Cycle, Desk, Identity, Role
from edgestate.team.messages import Decisions, Messages
from edgestate.team.planning import Planning
from edgestate.team.record import D1Record, Deadlines
from edgestate.team.reviews import Reviews
from edgestate.team.roster import enrol

PATIENT: Final = Deadlines(read_s=20, write_s=20)
"""What is tested here is not how busy the machine is."""


class Member:
    """One life of an agent, with everything that it can do."""

    def __init__(self, desk: Desk, *, lane: int = 0) -> None:
        self.desk = desk
        self.messages = Messages(desk)
        self.decisions = Decisions(desk)
        self.contexts = Contexts(desk)
        self.board = Board(desk, lane=lane)
        self.planning = Planning(desk)
        self.reviews = Reviews(desk)

    @property
    def id(self) -> str:
        return self.desk.me

    def born_again(self) -> Member:
        """Another life of the same agent: what the process knew is gone."""
        identity = dataclasses.replace(
            self.desk.identity, incarnation=self.desk.identity.incarnation + "'"
        )
        return Member(Desk(self.desk.record, identity))


class Team:
    """A database and the agents on it."""

    def __init__(self, db: Any, record: D1Record) -> None:
        self.db = db
        self.record = record

    async def member(self, agent_id: str, role: Role, *, lane: int = 0) -> Member:
        """The agent, enrolled."""
        identity: Identity = await enrol(self.record, agent_id, role)
        return Member(Desk(self.record, identity), lane=lane)

    async def planner(self) -> Member:
        return await self.member("planner", "planner")

    async def worker(self, number: int = 1) -> Member:
        return await self.member(f"worker-{number}", "worker", lane=number - 1)

    async def critic(self) -> Member:
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


async def claimed(member: Member, **options: Any) -> Held:
    """A task that `member` has."""
    held = await member.board.claim(**options)
    assert held is not None
    return held


@asynccontextmanager
async def team_on(path: Path, *, deadlines: Deadlines = PATIENT) -> AsyncIterator[Team]:
    """A team on the new database `path`."""
    async with d1_binding(path) as db:
        yield Team(db, D1Record(db, deadlines=deadlines))
