"""What the worker has of its environment: the store, the agent, and how long a lease lasts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from edgestate import Agent, Backoff, D1StateStore, PlannedStep, Tool
from trip_agent.plan import EFFECTS
from trip_agent.travel import Travel

DEFAULT_LEASE_S = 15.0


def store_of(env: Any) -> D1StateStore:
    """All state of the service; step outputs too large for a row go to KV."""
    return D1StateStore(env.DB, blobs=env.SESSIONS)


def lease_s_of(env: Any) -> float:
    """For how long a task belongs to the worker that runs it, in seconds."""
    return float(getattr(env, "LEASE_S", DEFAULT_LEASE_S))


def agent_of(env: Any, steps: Sequence[PlannedStep] = ()) -> Agent:
    """The travel agent; `steps` are those of a new task (a stored task has its own).

    Shape: a call outside may take two thirds of the lease, so that it ends before the lease does.
    """
    lease_s = lease_s_of(env)
    travel = Travel(env.TRAVEL_URL, answer_s=lease_s * 2 / 3)

    async def plan(_goal: str) -> Sequence[PlannedStep]:
        return steps

    tools = {name: _tool(name, travel, timeout_s=lease_s * 0.8) for name in EFFECTS}
    return Agent(tools=tools, plan=plan, lease_ttl_s=lease_s)


def _tool(name: str, travel: Travel, *, timeout_s: float) -> Tool:
    return Tool(
        name=name,
        run=travel.tool(name),
        effect=EFFECTS[name],
        timeout_s=timeout_s,
        max_retries=2,
        backoff=Backoff(first_s=0.2, cap_s=2.0),
    )
