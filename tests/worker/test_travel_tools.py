"""What the agent's tools make of a travel service that does not answer as it should."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
from tests.demo.travel_control import TravelControl
from tests.worker.edge import Edge

if TYPE_CHECKING:
    from trip_agent.models import Task

pytestmark = pytest.mark.anyio


def searching_task() -> Task:
    """A task at its first step. The worker's modules can be imported once an `edge` is there."""
    from trip_agent.models import Step, Task

    query = {"origin": "ZRH", "destination": "LIS", "date": "2026-12-24"}
    step = Step(0, "search_flights", "pending", query, None, None, None, None)
    return Task("t", "s", "goal", "planned", 0, 1, (step,), "", "")


async def test_an_answer_that_does_not_come_in_time_is_unclear(
    edge: Edge, travel: TravelControl
) -> None:
    from trip_agent.travel import Travel, Unclear

    task = searching_task()
    await travel.hold_back("search_flights")

    with pytest.raises(Unclear, match=r"did not answer in 0\.05 s"):
        await Travel(travel.url, answer_s=0.05).do(task, task.steps[0])


async def test_a_service_that_is_not_there_is_unclear(edge: Edge) -> None:
    from trip_agent.travel import Travel, Unclear

    task = searching_task()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(Unclear, match="did not answer"):
        await Travel(f"http://127.0.0.1:{port}").do(task, task.steps[0])


async def test_an_answer_that_is_not_json_is_unclear(edge: Edge, travel: TravelControl) -> None:
    from trip_agent.travel import Travel, Unclear

    task = searching_task()

    # This path of the service answers 204 with no body to a POST, and 405 in plain text to a GET.
    with pytest.raises(Unclear, match="not JSON"):
        await Travel(f"{travel.url}/control/release?").do(task, task.steps[0])
