"""What the agent's tools make of a travel service that does not answer as it should."""

from __future__ import annotations

import socket

import pytest
from tests.demo.travel_control import TravelControl
from tests.worker.edge import Edge

from edgestate import ToolCall, ToolState

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def _forget(state: ToolState) -> None:
    """These calls have no pages to save."""


def searching() -> ToolCall:
    """The call of a task's first step."""
    query = {"origin": "ZRH", "destination": "LIS", "date": "2026-12-24"}
    state = ToolState(tool_name="search_flights", task_id="t")
    return ToolCall("t", "s", 0, query, "key", 1, [], state, _forget)


# The worker's modules can be imported once an `edge` is there.


async def test_an_answer_that_does_not_come_in_time_is_unclear(
    edge: Edge, travel: TravelControl
) -> None:
    from trip_agent.travel import Travel, Unclear

    await travel.hold_back("search_flights")

    with pytest.raises(Unclear, match=r"did not answer in 0\.05 s"):
        await Travel(travel.url, answer_s=0.05).search_flights(searching())


async def test_a_service_that_is_not_there_is_unclear(edge: Edge) -> None:
    from trip_agent.travel import Travel, Unclear

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(Unclear, match="did not answer"):
        await Travel(f"http://127.0.0.1:{port}", answer_s=5).search_flights(searching())


async def test_an_answer_that_is_not_json_is_unclear(edge: Edge, travel: TravelControl) -> None:
    from trip_agent.travel import Travel, Unclear

    # This path of the service answers 204 with no body to a POST, and 405 in plain text to a GET.
    with pytest.raises(Unclear, match="not JSON"):
        await Travel(f"{travel.url}/control/release?", answer_s=5).search_flights(searching())
