"""A shift: what an agent does each time that its cron wakes it, for a while."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from doc_team.judge import judge_of
from edgestate.errors import StateError
from edgestate.team import D1Record, Role, TeamMember, enrol, lane_of
from edgestate.team.tracing import logger_of

logger = logger_of(__name__)

SHIFT_S: Final = 50.0
IDLE_PAUSE_S: Final = 0.1

Once = Callable[[TeamMember], Awaitable[bool]]


async def seat(env: Any, agent_id: str, role: Role) -> TeamMember:
    """A new life of the agent. Who it is is said by the deployment, never by a request."""
    record = D1Record(env.DB)
    identity = await enrol(record, agent_id, role)
    member = TeamMember(record, identity, kv=getattr(env, "CACHE", None), lane=lane_of(agent_id))
    await member.settings.apply_deadlines(record)
    return member


async def norms_of(member: TeamMember) -> list[str]:
    """What the team has agreed on: every agent knows it before it begins."""
    begun = await member.bootstrap(member.id)
    return [str(fact.value) for fact in begun.knowledge if fact.kind == "norm"]


async def run_shift(member: TeamMember, once: Once, *, shift_s: float = SHIFT_S) -> int:
    """How many things were done until the shift was over.

    What the team's state refuses, or does not answer, is tried again: it is all still there.
    """
    ends_at = time.monotonic() + shift_s
    done = 0
    while time.monotonic() < ends_at:
        try:
            did = await once(member)
        except StateError as error:
            logger.warning("try again: %s", error)
            did = False
        done += did
        if not did:
            await member.desk.write_down()
            await asyncio.sleep(IDLE_PAUSE_S)
    return done


def seconds(env: Any, name: str, otherwise: float) -> float:
    """A number of seconds from the environment."""
    return float(getattr(env, name, otherwise))


__all__ = ["judge_of", "norms_of", "run_shift", "seat", "seconds"]
