"""What is around every view."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.browser.conftest import SIZES, Seat
from tests.inspector.shop import shop
from tests.runtime.edge import edge

VIEWS = ("", "isolates", "kv", "d1", "agents", "clock")

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


async def test_one_goes_from_view_to_view_by_keyboard(seat: Seat) -> None:
    page = await seat.open()

    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    await page.get_by_role("navigation").get_by_role("link", name="Clock").focus()
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("heading", name="Clock")).to_be_visible()
    current = page.locator("nav [aria-current=page]")
    await expect(current).to_have_text("Clock")


async def test_the_theme_is_the_systems_until_one_is_chosen(seat: Seat) -> None:
    page = await seat.open("clock")
    ground = "getComputedStyle(document.body).backgroundColor"
    await page.emulate_media(color_scheme="light")
    light = await page.evaluate(ground)
    await page.emulate_media(color_scheme="dark")
    dark = await page.evaluate(ground)

    await page.get_by_role("button", name="Auto").click()
    await page.get_by_role("button", name="Dark").click()
    await page.reload()

    assert light != dark
    await expect(page.get_by_role("button", name="Light")).to_be_visible()
    assert await page.evaluate(ground) == light


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("view", VIEWS)
async def test_nothing_is_wider_than_the_window(seat: Seat, view: str, width: str) -> None:
    page = await seat.open(view)
    x, y = SIZES[width]
    await page.set_viewport_size({"width": x, "height": y})
    await seat.server.get("/hello?" + "long" * 200)

    await expect(page.locator("main")).to_be_visible()

    assert await seat.width_beyond() == 0


@pytest.mark.parametrize("view", VIEWS)
async def test_everything_that_can_be_used_has_a_name(seat: Seat, view: str) -> None:
    page = await seat.open(view)

    nameless = await page.evaluate(
        """[...document.querySelectorAll('button, a[href], input, select, textarea')]
           .filter((e) => !(e.innerText?.trim() || e.getAttribute('aria-label')
                            || e.labels?.length || e.title))
           .map((e) => e.outerHTML)"""
    )

    assert nameless == []


async def test_a_page_finds_the_next_server_and_its_buttons_go_on(
    chromium: Browser, tmp_path: Path
) -> None:
    context = await chromium.new_context()
    page = await context.new_page()
    async with shop(tmp_path, isolates=1) as first:
        await Seat(page, first).open()
        await first.get("/hello?first")
        await expect(page.locator("#requests tr")).to_contain_text("/hello?first")
        port = first.run.port
    await expect(page.locator("#connection")).to_have_text("not connected")

    async with edge(tmp_path, "--port", str(port)) as second:
        await expect(page.locator("#connection")).to_have_text("live", timeout=15_000)
        await expect(page.locator("#requests tr")).to_have_count(0)
        await second.get("/hello?second")
        await page.get_by_role("button", name="/hello?second").click()
        await page.get_by_role("button", name="Replay").click()

        await expect(page.get_by_text("Sent again: 200, ok.")).to_be_visible()
    await context.close()


async def test_a_page_that_nobody_sees_holds_no_connection(seat: Seat) -> None:
    page = await seat.open()
    hide = """(hidden) => {
        Object.defineProperty(document, "hidden", {get: () => hidden, configurable: true});
        document.dispatchEvent(new Event("visibilitychange"));
    }"""

    async with page.expect_event("requestfailed", lambda r: "/api/events" in r.url):
        await page.evaluate(hide, True)
        await seat.server.get("/hello?unseen")
        await seat.server.get("/hello?unseen")
    await page.evaluate(hide, False)

    await expect(page.locator("#requests tr", has_text="/hello?unseen")).to_have_count(2)
