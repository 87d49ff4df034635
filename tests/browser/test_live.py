"""Live, as a person uses it."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import expect
from tests.browser.conftest import Seat
from tests.inspector.shop import MARKUP, SECRET

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


async def test_requests_appear_as_they_come(seat: Seat) -> None:
    page = await seat.open()

    await seat.server.get("/hello?first")
    await seat.server.http.post("/echo?second", content="a hat")

    rows = page.locator("#requests tr")
    await expect(rows.nth(0)).to_contain_text("/echo?second")
    await expect(rows.nth(0)).to_contain_text("POST")
    await expect(rows.nth(0).locator(".status")).to_have_text("200")
    await expect(rows.nth(0).locator(".outcome")).to_have_text("ok")
    await expect(rows.nth(1)).to_contain_text("/hello?first")
    await seat.shoot("live")


async def test_one_that_is_opened_shows_what_it_did(seat: Seat) -> None:
    page = await seat.open()
    await seat.server.get("/order")

    await page.get_by_role("button", name="/order").first.click()

    lines = page.locator(".timeline .line:not([data-kind=mark])")
    await expect(lines).to_contain_text(
        [
            "an order of ***",
            "DB.exec",
            "DB.run INSERT INTO orders VALUES (?)",
            "CACHE.put hat",
            "CACHE.put later donewaitUntil",
        ]
    )
    marks = page.locator(".timeline .line[data-kind=mark]")
    await expect(marks).to_have_text(["response 201", "waitUntil has ended"])
    await lines.nth(2).get_by_role("button").click()
    await expect(lines.nth(2)).to_contain_text('-- ["hat"]')
    await expect(lines.nth(2)).to_contain_text('"rows_written": 1')
    await seat.shoot("live-order")
    assert SECRET not in await page.content()


async def test_an_exception_is_shown_with_its_traceback(seat: Seat) -> None:
    page = await seat.open()
    await seat.server.get("/markup")

    await page.get_by_role("button", name="/markup").first.click()

    await expect(page.locator(".story .exception pre")).to_contain_text("raise ValueError(MARKUP)")
    await expect(page.locator("#requests tr").first.locator(".outcome")).to_have_text("exception")
    await seat.shoot("live-exception")


async def test_a_batch_shows_its_statements(seat: Seat) -> None:
    page = await seat.open()
    await seat.server.get("/batch")

    await page.get_by_role("button", name="/batch").first.click()
    line = page.locator(".line", has_text="DB.batch")
    await expect(line).to_contain_text("DB.batch 2 statements: INSERT INTO orders VALUES (?)")
    await line.get_by_role("button").click()

    await expect(line).to_contain_text('Statement 2INSERT INTO orders\n VALUES (?)\n-- ["b"]')


async def test_what_was_sent_and_what_came_back_are_shown(seat: Seat) -> None:
    page = await seat.open()
    await seat.server.http.post("/echo?bodies", content='{"hat": [1, 2]}')

    await page.get_by_role("button", name="/echo?bodies").first.click()
    await page.get_by_text("Request body").click()
    await page.get_by_text("Response body").click()

    await expect(page.locator(".story")).to_contain_text('"hat": [')
    await expect(page.locator(".story")).to_contain_text('got {"hat": [1, 2]}')


async def test_a_version_that_cannot_be_loaded_is_told_until_it_can(seat: Seat) -> None:
    page = await seat.open()
    entry = seat.server.folder / "src" / "entry.py"
    good = entry.read_text("utf-8")

    entry.write_text(good + "\nraise ValueError('broken for now')\n", "utf-8")
    await expect(page.locator("#broken")).to_contain_text("ValueError: broken for now")
    await seat.shoot("live-broken")
    entry.write_text(good, "utf-8")

    await expect(page.locator("#broken")).to_be_hidden()


async def test_markup_of_lines_keys_errors_and_headers_is_text(seat: Seat) -> None:
    page = await seat.open()
    await seat.server.get("/markup")
    await seat.server.get("/hello?markup", headers={"x-a": MARKUP})

    await page.get_by_role("button", name="/markup").first.click()
    await page.locator(".line", has_text="CACHE.put").get_by_role("button").click()
    await expect(page.locator(".story .exception h3")).to_have_text(f"ValueError: {MARKUP}")
    await expect(page.locator(".line[data-kind=console]")).to_contain_text(MARKUP)
    await expect(page.locator(".line", has_text="CACHE.put")).to_contain_text(MARKUP)
    await page.get_by_role("button", name="/hello?markup").first.click()
    await page.get_by_text("Request headers").click()
    await page.get_by_text("Response headers").click()

    await expect(page.locator(".headers td", has_text=MARKUP)).to_have_count(2)
    assert await page.locator("main img, main b").count() == 0
    assert "taken" not in await page.title()


async def test_the_list_is_filtered_and_narrowed_to_failures(seat: Seat) -> None:
    page = await seat.open()
    await seat.server.get("/hello?green")
    await seat.server.get("/hello?red")
    await seat.server.get("/markup?red")

    await page.keyboard.press("/")
    await page.keyboard.type("get red")
    rows = page.locator("#requests tr")
    await expect(rows).to_have_count(2)
    await page.get_by_label("Outcome").select_option("failed only")

    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("/markup?red")
    await page.get_by_role("searchbox").fill("nothing has this")
    await expect(page.locator("#empty")).to_have_text("No request matches the filter.")


async def test_a_paused_list_stands_still_and_goes_on(seat: Seat) -> None:
    page = await seat.open()
    await seat.server.get("/hello?seen")
    first = page.locator("#requests tr").first
    await expect(first).to_contain_text("/hello?seen")

    await page.get_by_role("button", name="Pause").click()
    await seat.server.get("/hello?held")

    await expect(page.locator("#count")).to_have_text("paused, 1 new")
    await expect(first).to_contain_text("/hello?seen")
    await page.get_by_role("button", name="Go on").click()
    await expect(first).to_contain_text("/hello?held")


async def test_one_under_way_is_shown_as_such_until_it_ends(seat: Seat) -> None:
    page = await seat.open()

    request = asyncio.ensure_future(seat.server.get("/wait"))
    first = page.locator("#requests tr").first
    await expect(first).to_contain_text("under way")
    await first.get_by_role("button").click()
    await expect(page.locator(".facts")).to_contain_text("under way")
    await expect(page.locator(".timeline")).to_contain_text("CACHE.get before waiting")
    request.cancel()

    await expect(first.locator(".outcome")).to_have_text("canceled")


async def test_one_click_sends_a_request_again(seat: Seat) -> None:
    page = await seat.open()
    await seat.server.http.post("/echo?again", content="a hat")
    await page.get_by_role("button", name="/echo?again").first.click()

    await page.get_by_role("button", name="Replay").click()

    await expect(page.get_by_text("Sent again: 200, ok.")).to_be_visible()
    await expect(page.locator("#requests tr", has_text="/echo?again")).to_have_count(2)
    await expect(page.locator(".facts")).to_contain_text("Replay of")


async def test_who_has_no_token_is_asked_for_it(seat: Seat) -> None:
    page = await seat.open(with_token=False)
    await seat.server.get("/hello?asked")
    await page.get_by_role("button", name="/hello?asked").first.click()

    await page.get_by_role("button", name="Replay").click()
    await page.get_by_label("Token").fill(seat.server.run.token)
    await page.get_by_role("button", name="Go on").click()

    await expect(page.get_by_text("Sent again: 200, ok.")).to_be_visible()
    # The browser tells of every 403 itself.
    seat.complaints[:] = [one for one in seat.complaints if "403 (Forbidden)" not in one]


async def test_all_of_it_works_by_keyboard(seat: Seat) -> None:
    page = await seat.open()
    await seat.server.get("/hello?older")
    await seat.server.get("/order?newer")
    await expect(page.locator("#requests tr").first).to_contain_text("/order?newer")

    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await expect(page.locator(".story-head")).to_contain_text("/order?newer")
    await page.keyboard.press("ArrowDown")
    await expect(page.locator(".story-head")).to_contain_text("/hello?older")
    await page.keyboard.press("r")
    await expect(page.get_by_text("Sent again: 200, ok.")).to_be_visible()
    await page.keyboard.press("Escape")

    await expect(page.locator("#detail")).to_be_hidden()
    focused = page.locator("#requests tr", has_text="/hello?older").first.get_by_role("button")
    await expect(focused).to_be_focused()
