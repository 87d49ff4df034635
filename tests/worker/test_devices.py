"""Several devices and the clock: one progress for all, one task per request, none forgotten."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Freeze
from tests.demo.travel_control import TravelControl
from tests.worker.edge import LEASE_S, Crash, Death, Edge
from tests.worker.orders import TRIP
from tests.worker.schema import rows

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

NOON = "2026-12-01T12:00:00Z"
HOLD_CALL = 10
"""The number of the binding call that holds the seat."""
ONCE_EACH = {"hold_seat": 1, "charge_card": 1, "send_email": 1}


async def effects(travel: TravelControl) -> dict[str, int]:
    """How often each action had its effect."""
    return {effect["action"]: effect["count"] for effect in await travel.effects()}


async def abandoned(edge: Edge, point: int) -> str:
    """The session of a task whose worker died before its call number `point`."""
    session_id = await edge.session()
    detach = edge.probe.attach(Death(point, after=False))
    try:
        with pytest.raises(Crash):
            await edge.post(f"/sessions/{session_id}/tasks", TRIP)
    finally:
        detach()
    return session_id


async def test_a_request_sent_ten_times_at_once_starts_one_task(
    edge: Edge, travel: TravelControl, database: Path
) -> None:
    session_id = await edge.session()
    target = f"/sessions/{session_id}/tasks"

    answers = await asyncio.gather(*(edge.post(target, TRIP) for _ in range(10)))

    assert {answer.body["taskId"] for answer in answers} == {answers[0].body["taskId"]}
    assert {answer.body["status"] for answer in answers} == {"completed"}
    assert sorted(answer.status for answer in answers) == [200] * 9 + [201]
    assert await effects(travel) == ONCE_EACH
    assert len(await travel.calls()) == 4
    assert rows(database, "SELECT count(*) FROM agent_tasks") == [(1,)]
    assert rows(database, "SELECT message_count FROM agent_sessions") == [(1,)]


async def test_a_device_that_has_the_progress_gets_a_304_until_there_is_more(
    edge: Edge, travel: TravelControl
) -> None:
    session_id = await edge.session()
    await travel.answer("charge_card", 503)
    task = (await edge.post(f"/sessions/{session_id}/tasks", TRIP)).body
    path = f"/tasks/{task['taskId']}"
    tag = (await edge.get(path)).headers["etag"]

    same = await edge.get_unless(path, tag)
    await edge.post(f"{path}/steps/2/decision", {"decision": "done"})
    more = await edge.get_unless(path, tag)

    assert (same.status, same.body, same.headers["etag"]) == (304, None, tag)
    assert (more.status, more.body["status"]) == (200, "completed")
    assert more.headers["etag"] != tag


async def test_the_tag_of_an_answer_is_that_of_the_task(edge: Edge) -> None:
    session_id = await edge.session()

    posted = await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    same = await edge.get_unless(f"/tasks/{posted.body['taskId']}", posted.headers["etag"])
    assert same.status == 304


@pytest.mark.parametrize("known", ['"other", {}', "W/{}", "*"])
async def test_every_form_of_if_none_match_is_understood(edge: Edge, known: str) -> None:
    session_id = await edge.session()
    posted = await edge.post(f"/sessions/{session_id}/tasks", TRIP)
    path = f"/tasks/{posted.body['taskId']}"

    same = await edge.get_unless(path, known.format(posted.headers["etag"]))

    assert same.status == 304


async def test_the_list_of_a_session_has_a_tag_too(edge: Edge) -> None:
    session_id = await edge.session()
    path = f"/sessions/{session_id}/tasks"
    await edge.post(path, TRIP | {"requestId": "r1"})
    tag = (await edge.get(path)).headers["etag"]
    same = await edge.get_unless(path, tag)

    await edge.post(path, TRIP | {"requestId": "r2"})

    assert same.status == 304
    assert (await edge.get_unless(path, tag)).status == 200


async def test_two_devices_read_one_progress_while_a_third_runs_it(
    edge: Edge, travel: TravelControl
) -> None:
    session_id = await edge.session()
    await travel.hold_back("hold_seat")
    running = asyncio.ensure_future(edge.post(f"/sessions/{session_id}/tasks", TRIP))
    await travel.wait("hold_seat", "held back")

    first, second = [await edge.get(f"/sessions/{session_id}/tasks") for _ in range(2)]

    await travel.release()
    assert first == second
    (task,) = first.body["tasks"]
    assert (task["status"], task["currentStep"]) == ("running", 1)
    assert (await running).body["taskId"] == task["taskId"]


async def test_cron_finishes_a_task_whose_worker_died_without_any_client(
    edge: Edge, travel: TravelControl, frozen: Freeze
) -> None:
    clock = frozen(NOON)
    session_id = await abandoned(edge, HOLD_CALL)
    clock.tick(LEASE_S + 1)

    await edge.tick()

    (task,) = (await edge.get(f"/sessions/{session_id}/tasks")).body["tasks"]
    assert task["status"] == "completed"
    assert await effects(travel) == ONCE_EACH


async def test_cron_leaves_a_task_alone_whose_lease_lasts(
    edge: Edge, travel: TravelControl, frozen: Freeze
) -> None:
    clock = frozen(NOON)
    session_id = await abandoned(edge, HOLD_CALL)
    clock.tick(LEASE_S - 1)

    await edge.tick()

    (task,) = (await edge.get(f"/sessions/{session_id}/tasks")).body["tasks"]
    assert task["status"] == "running"


async def test_cron_does_not_decide_for_a_person(edge: Edge, travel: TravelControl) -> None:
    session_id = await edge.session()
    await travel.answer("charge_card", 503)
    asked: dict[str, Any] = (await edge.post(f"/sessions/{session_id}/tasks", TRIP)).body

    await edge.tick()

    assert (await edge.get(f"/tasks/{asked['taskId']}")).body == asked
    assert len(await travel.calls("charge_card")) == 1


async def test_cron_expires_an_idle_session_and_then_deletes_it(
    edge: Edge, frozen: Freeze, database: Path
) -> None:
    clock = frozen(NOON)
    session_id = await edge.session()
    clock.tick(3601)
    await edge.tick()
    idle = await edge.get(f"/sessions/{session_id}")
    refused = await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    clock.tick(23 * 3600)
    await edge.tick()

    assert idle.body["status"] == "expired"
    assert (refused.status, refused.code) == (410, "SESSION_EXPIRED")
    assert rows(database, "SELECT id FROM agent_sessions") == []
    assert (await edge.get(f"/sessions/{session_id}")).status == 404
