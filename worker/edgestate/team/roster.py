"""Who is in the team, and how they are."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from edgestate import clock
from edgestate.d1_call import GuardRefused
from edgestate.errors import StoreRejected
from edgestate.keys import check_id
from edgestate.team.desk import Desk, sent
from edgestate.team.errors import AccessDenied, RoleTaken
from edgestate.team.record import Record, says
from edgestate.team.sql import writing
from edgestate.team.tracing import trace_id
from edgestate.team.writes import ROLES, Identity, Role

BEAT_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the team and its last sign of life.

    Units: `heartbeat_at` in ms since the epoch, None before the first.
    """

    agent_id: str
    role: Role
    task_id: str | None
    context_id: str | None
    load: float
    heartbeat_at: int | None


async def enrol(record: Record, agent_id: str, role: Role) -> Identity:
    """`agent_id` is in the team as `role`; called by the server, for a new life of the agent.

    Errors: RoleTaken if it has another role, or another agent is the planner or the critic; that
    is written down as a refusal.
    """
    if agent_id == "*" or role not in ROLES:
        raise RoleTaken(check_id("agent", agent_id), role)
    check_id("agent", agent_id)
    try:
        _, rows = await sent(
            record,
            [
                says(writing.ENROL, agent_id, role, clock.now_ms(), trace_id()),
                says(writing.SELECT_ROLE, agent_id),
            ],
        )
    except (StoreRejected, GuardRefused) as error:
        await _refused(record, agent_id, role)
        raise RoleTaken(agent_id, role) from error
    if rows[0]["role"] != role:
        await _refused(record, agent_id, role)
        raise RoleTaken(agent_id, role)
    return Identity(agent_id, role, uuid.uuid4().hex, is_confirmed=True)


async def _refused(record: Record, agent_id: str, role: str) -> None:
    values = (agent_id, "enrol", f"as {role}", clock.now_ms(), trace_id())
    await sent(record, [says(writing.DENY, *values)])


async def take_seat(record: Record, agent_id: str) -> Identity:
    """The identity of an agent that is enrolled already, its role as the database has it.

    Errors: AccessDenied for everyone else.
    """
    check_id("agent", agent_id)
    (rows,) = await record.batch([says(writing.SELECT_ROLE, agent_id)], "read")
    if not rows:
        await _refused(record, agent_id, "a member")
        raise AccessDenied(agent_id, "act", "without being enrolled")
    return Identity(agent_id, rows[0]["role"], uuid.uuid4().hex, is_confirmed=True)


class Roster:
    """The team, as an agent sees it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._beaten_at = 0.0

    async def beat(
        self, *, task_id: str | None = None, context_id: str | None = None, load: float = 0.0
    ) -> None:
        """Others can see that the agent lives; at most one a second is written.

        It decides nothing: who may work on a task is decided by leases.
        """
        now = clock.now()
        if 0 <= now - self._beaten_at < BEAT_EVERY_S:
            return
        self._beaten_at = now
        who = self._desk.identity
        values = (task_id, context_id, load, int(now * 1000), trace_id())
        await self._desk.send(says(writing.BEAT, who.agent_id, who.incarnation, *values))

    async def agents(self) -> list[Agent]:
        """Everyone in the team."""
        (rows,) = await self._desk.read(says(writing.SELECT_AGENTS))
        return [
            Agent(
                row["agent_id"],
                row["role"],
                row["task_id"],
                row["context_id"],
                row["load"] or 0.0,
                row["heartbeat_at"],
            )
            for row in rows
        ]
