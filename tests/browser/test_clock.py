"""Clock, as a person uses it."""

from __future__ import annotations

import pytest
from playwright.async_api import expect
from tests.browser.conftest import Seat
from tests.inspector.shop import get, post

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


async def test_buttons_advance_the_clock_of_the_workers(seat: Seat) -> None:
    page = await seat.open("clock")
    await post(seat.server, "clock", reset="")
    await expect(page.locator("#offset")).to_contain_text("The same as")

    await page.get_by_role("button", name="+ 1 day").click()
    await expect(page.locator("#offset")).to_contain_text("1 d 0 h ahead")
    await page.get_by_role("button", name="+ 1 h").click()

    await expect(page.locator("#offset")).to_contain_text("1 d 1 h ahead")
    assert (await get(seat.server, "clock"))["offset_s"] == 90_000
    await seat.shoot("clock")


async def test_a_duration_in_words_and_back_again(seat: Seat) -> None:
    page = await seat.open("clock")
    await post(seat.server, "clock", reset="")

    await page.get_by_label("Advance by").fill("1d12h")
    await page.keyboard.press("Enter")
    await expect(page.locator("#offset")).to_contain_text("1 d 12 h ahead")
    await page.get_by_role("button", name="Back to the machine's time").click()

    await expect(page.locator("#offset")).to_contain_text("The same as")
    assert (await get(seat.server, "clock"))["offset_s"] == 0


async def test_what_is_no_duration_is_told(seat: Seat) -> None:
    page = await seat.open("clock")

    await page.get_by_label("Advance by").fill("soon")
    await page.keyboard.press("Enter")

    await expect(page.locator(".notice.bad")).to_contain_text('"soon" is no duration')


async def test_the_clock_is_set_to_a_moment(seat: Seat) -> None:
    page = await seat.open("clock")

    await page.get_by_label("Set to (UTC)").fill("2030-01-02T03:04:05")
    await page.get_by_role("button", name="Set", exact=True).click()

    await expect(page.locator("#now")).to_contain_text("2030-01-02 03:04")
    await post(seat.server, "clock", reset="")


async def test_a_clock_that_is_moved_elsewhere_moves_here(seat: Seat) -> None:
    page = await seat.open("clock")
    await post(seat.server, "clock", reset="")

    await seat.server.order("clock", advance=7200)

    await expect(page.locator("#offset")).to_contain_text("2 h 0 min ahead")


async def test_a_cron_is_shown_with_its_next_time_and_fired(seat: Seat) -> None:
    page = await seat.open("clock")
    await post(seat.server, "clock", reset="")
    cron = page.locator("#crons tr", has_text="*/5 * * * *")
    await expect(cron.locator("[data-next]")).to_contain_text("in ")

    await cron.get_by_role("button", name="Fire").click()

    await expect(page.get_by_text("Fired */5 * * * *: ok.")).to_be_visible()
