"""The worker on `localedge dev`, its process killed with SIGKILL in the middle of a step."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.demo.server import Server, apply_migrations, dev_server
from tests.demo.travel_control import TravelControl
from tests.waiting import wait_until
from tests.worker.orders import TRIP

pytestmark = [pytest.mark.anyio, pytest.mark.processes]


@pytest.fixture
async def server(tmp_path: Path, travel: TravelControl) -> AsyncIterator[Server]:
    await apply_migrations(tmp_path / "state")
    async with dev_server(tmp_path, travel_url=travel.url) as running:
        yield running


async def kill_in(
    action: str, server: Server, travel: TravelControl, target: str
) -> httpx.Response:
    """What the client gets whose isolate is killed once `action` has had its effect."""
    await travel.hold_back(action)
    request = asyncio.ensure_future(server.http.post(target, json=TRIP))
    await travel.wait(action, "held back")
    (busy,) = [isolate for isolate in await server.isolates() if isolate.in_flight]
    os.kill(busy.pid, signal.SIGKILL)
    return await request


async def test_a_worker_killed_while_it_charges_asks_before_it_charges_again(
    server: Server, travel: TravelControl
) -> None:
    session = (await server.http.post(f"{server.url}/sessions", json={"userId": "ada"})).json()
    target = f"{server.url}/sessions/{session['sessionId']}/tasks"

    lost = await kill_in("charge_card", server, travel, target)
    again = await server.http.post(target, json=TRIP)
    task = again.json()
    decision = f"{server.url}/tasks/{task['taskId']}/steps/2/decision"
    settled = await server.http.post(decision, json={"decision": "done"})

    assert (lost.status_code, again.status_code) == (500, 202)
    assert task["status"] == "waiting_tool"
    assert settled.json()["status"] == "completed"
    assert {e["action"]: e["count"] for e in await travel.effects()} == {
        "hold_seat": 1,
        "charge_card": 1,
        "send_email": 1,
    }


async def test_a_task_whose_worker_was_killed_is_finished_by_cron_alone(
    server: Server, travel: TravelControl
) -> None:
    session = (await server.http.post(f"{server.url}/sessions", json={"userId": "ada"})).json()
    target = f"{server.url}/sessions/{session['sessionId']}/tasks"
    await kill_in("hold_seat", server, travel, target)

    async def is_complete() -> bool:
        fired = await server.http.get(f"{server.url}/cdn-cgi/handler/scheduled")
        assert fired.status_code == 200
        (task,) = (await server.http.get(target)).json()["tasks"]
        return bool(task["status"] == "completed")

    await wait_until(is_complete, within_s=30)

    assert {e["action"]: e["count"] for e in await travel.effects()} == {
        "hold_seat": 1,
        "charge_card": 1,
        "send_email": 1,
    }
