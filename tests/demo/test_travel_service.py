"""The travel service counts what it is asked and what it does, and obeys its director."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from tests.demo.processes import travel_service
from tests.demo.travel_control import TravelControl

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def service() -> AsyncIterator[TravelControl]:
    async with travel_service() as url, httpx.AsyncClient(trust_env=False, timeout=20) as http:
        yield TravelControl(http, url)


@pytest.fixture
async def travel(service: TravelControl) -> TravelControl:
    await service.reset()
    return service


async def post(travel: TravelControl, path: str, key: str = "k") -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
        return await http.post(travel.url + path, json={}, headers={"idempotency-key": key})


async def test_two_holds_with_one_key_are_two_calls_and_one_effect(travel: TravelControl) -> None:
    first = await post(travel, "/holds")
    second = await post(travel, "/holds")

    assert first.json() == second.json()
    assert len(await travel.calls("hold_seat")) == 2
    assert await travel.effects() == [{"action": "hold_seat", "key": "k", "count": 1}]


async def test_two_charges_with_one_key_are_two_effects(travel: TravelControl) -> None:
    await post(travel, "/charges")
    await post(travel, "/charges")

    assert await travel.effects() == [{"action": "charge_card", "key": "k", "count": 2}]


async def test_a_call_that_is_held_back_has_had_its_effect_before_its_answer(
    travel: TravelControl,
) -> None:
    await travel.hold_back("hold_seat")
    call = asyncio.ensure_future(post(travel, "/holds"))

    await travel.wait("hold_seat", "held back")

    assert not call.done()
    assert await travel.effects() == [{"action": "hold_seat", "key": "k", "count": 1}]
    await travel.release()
    assert (await call).status_code == 200


async def test_a_caller_that_dies_while_held_back_is_noticed(travel: TravelControl) -> None:
    await travel.hold_back("hold_seat")
    call = asyncio.ensure_future(post(travel, "/holds"))
    await travel.wait("hold_seat", "held back")

    call.cancel()

    lost = await travel.wait("hold_seat", "connection lost")
    assert lost["effect"] is True


async def test_a_call_ordered_to_be_refused_has_no_effect(travel: TravelControl) -> None:
    await travel.answer("charge_card", 402)

    response = await post(travel, "/charges")

    assert response.status_code == 402
    assert await travel.effects() == []


async def test_a_call_ordered_to_break_has_had_its_effect(travel: TravelControl) -> None:
    await travel.answer("charge_card", 503)

    response = await post(travel, "/charges")

    assert response.status_code == 503
    assert await travel.effects() == [{"action": "charge_card", "key": "k", "count": 1}]


async def test_waiting_for_what_does_not_happen_ends(travel: TravelControl) -> None:
    with pytest.raises(TimeoutError, match="no call of send_email"):
        await travel.wait("send_email", "answered", within_s=0.05)
