"""Tasks over HTTP: run, repeated, refused by the outside, and settled by a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.demo.travel_control import TravelControl
from tests.worker.edge import Edge
from tests.worker.orders import TRIP, trip_with
from tests.worker.schema import rows

from edgestate import idempotency_key

pytestmark = pytest.mark.anyio

ACTIONS = ["search_flights", "hold_seat", "charge_card", "send_email"]


def statuses(task: dict[str, Any]) -> list[str]:
    """The status of each step."""
    return [step["status"] for step in task["steps"]]


async def test_a_task_runs_through_its_four_steps(edge: Edge, travel: TravelControl) -> None:
    session_id = await edge.session()

    answer = await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    assert (answer.status, answer.body["status"]) == (201, "completed")
    assert [step["action"] for step in answer.body["steps"]] == ACTIONS
    assert statuses(answer.body) == ["success"] * 4
    assert [call["action"] for call in await travel.calls()] == ACTIONS


async def test_a_finished_task_reads_back_as_it_was_answered(edge: Edge) -> None:
    session_id = await edge.session()
    done = await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    read = await edge.get(f"/tasks/{done.body['taskId']}")

    assert (read.status, read.body) == (200, done.body)


async def test_the_same_request_again_does_nothing_again(
    edge: Edge, travel: TravelControl, database: Path
) -> None:
    session_id = await edge.session()
    first = await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    second = await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    assert (second.status, second.body) == (200, first.body)
    assert len(await travel.calls()) == 4
    assert rows(database, "SELECT message_count FROM agent_sessions") == [(1,)]


async def test_another_request_id_makes_another_task(edge: Edge) -> None:
    session_id = await edge.session()
    target = f"/sessions/{session_id}/tasks"
    first = await edge.post(target, TRIP | {"requestId": "r1"})

    second = await edge.post(target, TRIP | {"requestId": "r2"})

    assert second.body["taskId"] != first.body["taskId"]
    listed = (await edge.get(target)).body["tasks"]
    assert {task["taskId"] for task in listed} == {first.body["taskId"], second.body["taskId"]}


async def test_the_key_of_an_effect_is_a_function_of_task_and_step(
    edge: Edge, travel: TravelControl
) -> None:
    session_id = await edge.session()

    task = (await edge.post(f"/sessions/{session_id}/tasks", TRIP)).body

    keys = [call["key"] for call in await travel.calls()]
    assert keys == [None, *(idempotency_key(task["taskId"], index) for index in (1, 2, 3))]


async def test_a_refused_charge_fails_the_task_for_good(edge: Edge, travel: TravelControl) -> None:
    session_id = await edge.session()
    await travel.answer("charge_card", 402)

    first = await edge.post(f"/sessions/{session_id}/tasks", TRIP)
    again = await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    assert (first.status, first.body["status"]) == (422, "failed")
    assert statuses(first.body) == ["success", "success", "failed", "pending"]
    assert first.body["steps"][2]["error"] == "charge_card refused"
    assert again.body == first.body
    assert len(await travel.calls("charge_card")) == 1


async def test_a_person_can_have_a_failed_step_tried_again(
    edge: Edge, travel: TravelControl
) -> None:
    session_id = await edge.session()
    await travel.answer("charge_card", 402)
    task = (await edge.post(f"/sessions/{session_id}/tasks", TRIP)).body

    answer = await edge.post(f"/tasks/{task['taskId']}/steps/2/decision", {"decision": "retry"})

    assert task["decision"]["options"] == ["retry", "skip", "done"]
    assert (answer.status, answer.body["status"]) == (200, "completed")


async def test_a_search_that_breaks_is_made_again(edge: Edge, travel: TravelControl) -> None:
    session_id = await edge.session()
    await travel.answer("search_flights", 503)

    answer = await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    assert (answer.status, answer.body["status"]) == (201, "completed")
    assert len(await travel.calls("search_flights")) == 2


async def test_a_search_that_breaks_each_time_fails_the_task(
    edge: Edge, travel: TravelControl
) -> None:
    session_id = await edge.session()
    for _ in range(3):
        await travel.answer("search_flights", 503)

    answer = await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    assert (answer.status, answer.body["status"]) == (422, "failed")
    assert "status 503" in answer.body["steps"][0]["error"]


async def test_a_hold_that_breaks_after_its_effect_is_not_held_twice(
    edge: Edge, travel: TravelControl
) -> None:
    session_id = await edge.session()
    await travel.answer("hold_seat", 503)

    answer = await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    assert answer.body["status"] == "completed"
    assert len(await travel.calls("hold_seat")) == 2
    held = [e for e in await travel.effects() if e["action"] == "hold_seat"]
    assert [effect["count"] for effect in held] == [1]


async def waiting_task(edge: Edge, travel: TravelControl) -> dict[str, Any]:
    """A task whose charge happened outside and is not known inside."""
    session_id = await edge.session()
    await travel.answer("charge_card", 503)
    answer = await edge.post(f"/sessions/{session_id}/tasks", TRIP)
    assert answer.status == 202
    task: dict[str, Any] = answer.body
    return task


async def test_a_charge_that_breaks_waits_for_a_decision(edge: Edge, travel: TravelControl) -> None:
    task = await waiting_task(edge, travel)

    again = await edge.post(f"/sessions/{task['sessionId']}/tasks", TRIP)

    assert again.status == 202
    assert again.body["status"] == "waiting_tool"
    assert again.body["decision"]["options"] == ["retry", "skip", "done"]
    assert statuses(again.body) == ["success", "success", "running", "pending"]
    assert len(await travel.calls("charge_card")) == 1


@pytest.mark.parametrize(
    ("decision", "charges", "output"),
    [
        ({"decision": "retry"}, 2, None),
        ({"decision": "skip"}, 1, None),
        ({"decision": "done"}, 1, {"done": True}),
        ({"decision": "done", "output": {"chargeId": "c"}}, 1, {"chargeId": "c"}),
    ],
)
async def test_a_decision_settles_the_step_and_the_task_goes_on(
    edge: Edge,
    travel: TravelControl,
    decision: dict[str, Any],
    charges: int,
    output: dict[str, Any] | None,
) -> None:
    task = await waiting_task(edge, travel)

    answer = await edge.post(f"/tasks/{task['taskId']}/steps/2/decision", decision)

    assert (answer.status, answer.body["status"]) == (200, "completed")
    assert len(await travel.calls("charge_card")) == charges
    if output is not None:
        assert answer.body["steps"][2]["output"] == output


async def test_a_decision_is_taken_once(edge: Edge, travel: TravelControl) -> None:
    task = await waiting_task(edge, travel)
    target = f"/tasks/{task['taskId']}/steps/2/decision"
    await edge.post(target, {"decision": "done"})

    second = await edge.post(target, {"decision": "retry"})

    assert (second.status, second.code) == (409, "no_decision_needed")
    assert len(await travel.calls("charge_card")) == 1


async def test_the_goal_and_the_trip_may_be_in_any_script(edge: Edge) -> None:
    session_id = await edge.session()

    answer = await edge.post(
        f"/sessions/{session_id}/tasks", trip_with(traveller="艾达") | {"goal": "去里斯本 ✈"}
    )

    assert answer.body["status"] == "completed"
    assert answer.body["steps"][1]["input"] == {"traveller": "艾达"}


async def test_a_hold_that_was_skipped_cannot_be_paid(edge: Edge, travel: TravelControl) -> None:
    session_id = await edge.session()
    await travel.answer("hold_seat", 402)
    task = (await edge.post(f"/sessions/{session_id}/tasks", TRIP)).body

    answer = await edge.post(f"/tasks/{task['taskId']}/steps/1/decision", {"decision": "skip"})

    assert answer.body["status"] == "failed"
    assert answer.body["steps"][2]["error"] == "step 1 has left no holdId"
    assert await travel.calls("charge_card") == []
