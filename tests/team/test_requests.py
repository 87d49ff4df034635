"""Requests that take a while: claimed by insert, done once, answered for ever after."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import JsonValue
from tests.conftest import Freeze
from tests.team.world import Team

from edgestate.errors import FenceLost, InvalidId
from edgestate.team import RequestInProgress, RequestMismatch, Write
from edgestate.team.requests import Answered, RequestClaim

pytestmark = pytest.mark.anyio


async def test_ten_sends_of_a_request_do_the_work_once(team: Team) -> None:
    worker = await team.worker()
    done: list[int] = []

    async def work() -> tuple[JsonValue, tuple[Write, ...]]:
        done.append(1)
        return {"result": len(done)}, ()

    async def send() -> object:
        while True:
            try:
                return await worker.requests.once("r", "sum", [1, 2], work)
            except RequestInProgress:
                await asyncio.sleep(0)

    answers = await asyncio.gather(*(send() for _ in range(10)))

    assert answers == [{"result": 1}] * 10
    assert done == [1]


async def test_a_request_in_progress_is_a_409_and_another_body_a_422(team: Team) -> None:
    worker = await team.worker()
    await worker.requests.claim("r", "sum", [1, 2])

    with pytest.raises(RequestInProgress) as busy:
        await worker.requests.claim("r", "sum", [1, 2])
    with pytest.raises(RequestMismatch) as other:
        await worker.requests.claim("r", "sum", [3])

    assert (busy.value.status, other.value.status) == (409, 422)


async def test_an_expired_claim_is_taken_over_and_its_old_holder_writes_nothing(
    team: Team, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    one, two = await team.worker(1), await team.worker(2)
    dead = await one.requests.claim("r", "sum", 1, ttl_s=30)
    assert isinstance(dead, RequestClaim)

    clock.tick(30)
    taken = await two.requests.claim("r", "sum", 1, ttl_s=30)
    assert isinstance(taken, RequestClaim)
    with pytest.raises(FenceLost):
        await one.requests.finish(dead, "late", one.messages.sending("worker-2", "note", "late"))
    await two.requests.finish(taken, "in time")

    assert taken.fence == dead.fence + 1
    assert await one.requests.claim("r", "sum", 1) == Answered("in time")
    assert await two.messages.poll() == []


async def test_answers_are_forgotten_when_they_are_old(team: Team, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    planner = await team.planner()
    await planner.settings.set("model", "small")

    clock.tick(3600)
    kept = await planner.requests.sweep(older_than_s=7200)
    gone = await planner.requests.sweep(older_than_s=600)

    assert (kept, gone) == (0, 1)


@pytest.mark.parametrize("request_id", ["", "x" * 513])
async def test_an_id_that_names_nothing_is_refused(team: Team, request_id: str) -> None:
    worker = await team.worker()

    with pytest.raises(InvalidId):
        await worker.messages.send("worker-1", "note", 1, request_id=request_id)
