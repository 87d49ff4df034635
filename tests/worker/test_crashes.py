"""The worker dies at each binding call in turn; the same request is sent again until it ends."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from tests.conftest import Freeze
from tests.demo.travel_control import TravelControl
from tests.worker.edge import LEASE_S, Answer, Crash, Death, Edge
from tests.worker.orders import TRIP

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

NOON = "2026-12-01T12:00:00Z"
POINTS = 15
"""Calls that a task makes; checked below, so that none is forgotten when the worker changes."""


async def post_until_it_stops(
    edge: Edge, clock: FrozenDateTimeFactory, target: str, death: Death
) -> Answer:
    """Send the order, once to a worker that dies and, its lease over, once to a fresh one."""
    detach = edge.probe.attach(death)
    try:
        with pytest.raises(Crash):
            await edge.post(target, TRIP)
    finally:
        detach()
    clock.tick(LEASE_S + 1)
    return await edge.post(target, TRIP)


async def effects(travel: TravelControl) -> Counter[str]:
    """How often each action had its effect."""
    counted: Counter[str] = Counter()
    for effect in await travel.effects():
        counted[effect["action"]] += effect["count"]
    return counted


async def test_a_task_makes_as_many_calls_as_are_crashed_below(edge: Edge) -> None:
    session_id = await edge.session()
    watch = Death(point=0, after=True)
    detach = edge.probe.attach(watch)

    await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    detach()
    assert watch.seen == POINTS


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", range(1, POINTS + 1))
async def test_no_effect_happens_twice_wherever_the_worker_dies(
    edge: Edge, travel: TravelControl, frozen: Freeze, point: int, after: bool
) -> None:
    clock = frozen(NOON)
    session_id = await edge.session()
    target = f"/sessions/{session_id}/tasks"

    answer = await post_until_it_stops(edge, clock, target, Death(point, after=after))
    if answer.body["status"] == "waiting_tool":
        answer = await settle(edge, travel, answer.body)

    assert answer.body["status"] == "completed"
    assert await effects(travel) == {"hold_seat": 1, "charge_card": 1, "send_email": 1}


async def settle(edge: Edge, travel: TravelControl, task: dict[str, Any]) -> Answer:
    """Look outside, as a person would, and decide: done if it happened, else retry."""
    index = task["decision"]["stepIndex"]
    action = task["steps"][index]["action"]
    happened = (await effects(travel))[action] > 0
    decision = "done" if happened else "retry"
    return await edge.post(
        f"/tasks/{task['taskId']}/steps/{index}/decision", {"decision": decision}
    )
