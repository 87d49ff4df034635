"""Isolates, as a person uses it."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import expect
from tests.browser.conftest import Seat

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


async def test_each_isolate_has_a_card_with_what_it_uses(seat: Seat) -> None:
    await seat.server.wait_full()
    page = await seat.open("isolates")

    cards = page.locator(".isolate")
    await expect(cards).to_have_count(3)
    await expect(page.locator(".isolate", has_text="standby")).to_have_count(1)
    for pid in await seat.server.isolates():
        card = page.locator(f".isolate[data-pid='{pid}']")
        await expect(card.locator(".meter").first).to_contain_text("MB")
        await expect(card).to_contain_text("Generation1")


async def test_a_killed_isolate_goes_and_another_takes_its_place(seat: Seat) -> None:
    before = await seat.server.wait_full()
    page = await seat.open("isolates")

    await page.get_by_role("button", name=f"Kill isolate {before[0]}").click()

    await expect(page.get_by_text(f"Killed isolate {before[0]}.")).to_be_visible()
    await expect(page.locator(f".isolate[data-pid='{before[0]}']")).to_have_count(0)
    await expect(page.locator(".isolate")).to_have_count(3)
    await expect(page.locator(f".ending[data-pid='{before[0]}']")).to_contain_text("was killed")


async def test_a_crash_shows_the_calls_before_and_the_call_under_way(seat: Seat) -> None:
    page = await seat.open("isolates")

    answer = await seat.server.get("/die")

    pid = answer.headers["x-localedge-isolate"]
    ending = page.locator(f".ending[data-pid='{pid}']")
    await expect(ending).to_contain_text("died by itself")
    await expect(ending).to_contain_text("signal 9 (SIGKILL)")
    steps = ending.locator(".calls li")
    await expect(steps).to_contain_text(["DB.first SELECT 1 AS one", "CACHE.get under way"])
    await expect(steps.nth(1)).to_have_attribute("data-state", "under-way")
    await expect(ending).to_contain_text("last words")
    await expect(page.locator(".isolate")).to_have_count(3)
    await seat.shoot("isolates")


async def test_the_request_of_a_crash_is_one_click_away(seat: Seat) -> None:
    page = await seat.open("isolates")
    await seat.server.get("/die")

    await page.locator(".ending").first.get_by_role("link", name="GET /die").click()

    await expect(page.locator(".story-head")).to_contain_text("/die")
    await expect(page.locator(".timeline")).to_contain_text("under way")


async def test_a_drained_isolate_ends_with_its_last_request(seat: Seat) -> None:
    await seat.server.wait_full()
    page = await seat.open("isolates")
    request = asyncio.ensure_future(seat.server.get("/wait"))
    busy = page.locator(".isolate", has_text="In flight1")
    await expect(busy).to_have_count(1)
    await expect(busy.get_by_role("link", name="GET /wait")).to_be_visible()
    pid = await busy.get_attribute("data-pid")

    await page.get_by_role("button", name=f"Drain isolate {pid}").click()

    card = page.locator(f".isolate[data-pid='{pid}']")
    await expect(card.locator(".badge")).to_have_text("draining")
    request.cancel()
    await expect(page.locator(f".ending[data-pid='{pid}']")).to_contain_text("had ended its work")


async def test_a_blocked_isolate_is_one_that_does_not_answer(seat: Seat) -> None:
    await seat.server.wait_full()
    page = await seat.open("isolates")
    for pid in await seat.server.isolates():
        await page.get_by_role("button", name=f"Block for 5 s isolate {pid}").click()
        badge = page.locator(f".isolate[data-pid='{pid}'] .badge")
        await expect(badge).to_contain_text("stands still")

    request = asyncio.ensure_future(seat.server.get("/hello"))

    await expect(page.locator(".isolate", has_text="In flight1")).to_have_count(1)
    assert (await request).text == "hello"
