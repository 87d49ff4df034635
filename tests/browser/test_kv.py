"""KV, as a person uses it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import expect
from tests.browser.conftest import SIZES, Seat
from tests.inspector.crew import MARKUP, change, crew, later
from tests.inspector.shop import API, get
from tests.runtime.edge import Edge

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """The crew, with a few keys."""
    async with crew(tmp_path_factory.mktemp("crew")) as running:
        for number in range(60):
            await put(running, f"item:{number:02}", text=str(number))
        await put(
            running, "settings", text='{"theme":"dark","sizes":[1,2]}', metadata={"version": 3}
        )
        await put(running, "thumbnail", hex="89504e470d0a1a0a00ff")
        yield running


async def put(server: Edge, key: str, **given: object) -> None:
    place = f"kv/value?namespace=CACHE&key={key}"
    assert (await change(server, "PUT", place, given)).status_code == 200


async def test_keys_are_found_by_their_beginning_and_come_in_pages(seat: Seat) -> None:
    page = await seat.open("kv")
    rows = page.locator("#keys tbody tr")
    await expect(rows).to_have_count(50)

    await page.get_by_role("button", name="More keys").click()
    await expect(rows).to_have_count(62)
    await page.keyboard.press("/")
    await page.keyboard.type("item:1")

    await expect(rows).to_have_count(10)
    await expect(page.locator("#count")).to_have_text("10 keys")


async def test_a_value_is_read_as_json_text_and_hex(seat: Seat) -> None:
    page = await seat.open("kv")
    await page.get_by_label("Keys that begin with").fill("settings")

    await page.get_by_role("button", name="settings").click()

    content = page.locator(".content")
    await expect(content).to_have_text('{\n  "theme": "dark",\n  "sizes": [\n    1,\n    2\n  ]\n}')
    await expect(page.locator(".metadata")).to_contain_text('"version": 3')
    await page.get_by_role("button", name="Text", exact=True).click()
    await expect(content).to_have_text('{"theme":"dark","sizes":[1,2]}')
    await page.get_by_role("button", name="Hex", exact=True).click()
    await expect(content).to_contain_text("00000000  7b 22 74 68")
    await page.get_by_role("button", name="JSON", exact=True).click()
    await seat.shoot("kv")


async def test_a_value_with_markup_is_shown_as_text(seat: Seat) -> None:
    await put(seat.server, "markup", text=MARKUP, metadata={"by": MARKUP})
    await put(seat.server, MARKUP.replace("&", ""), text="named so")
    page = await seat.open("kv")
    title = await page.title()
    await page.get_by_label("Keys that begin with").fill("markup")

    await page.get_by_role("button", name="markup").click()

    await expect(page.locator(".content")).to_have_text(MARKUP)
    await expect(page.locator(".metadata")).to_contain_text("<b>bold</b>")
    await page.get_by_label("Keys that begin with").fill("<img")
    await expect(page.locator("#keys .opener")).to_have_text(MARKUP)
    assert await page.locator("main b, main img").count() == 0
    assert await page.title() == title


async def test_a_new_key_is_written_edited_and_deleted(seat: Seat) -> None:
    page = await seat.open("kv")
    await page.get_by_role("button", name="New key").click()
    await page.get_by_label("Key", exact=True).fill("fresh")
    await page.get_by_label("Value", exact=True).fill("one")
    await page.get_by_label("Metadata").fill('{"n": 1}')
    await page.get_by_label("Expires").select_option("in")
    await page.get_by_label("Seconds").fill("600")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".notice")).to_contain_text("Wrote fresh.")
    written = await get(seat.server, "kv/value?namespace=CACHE&key=fresh")

    await page.get_by_role("button", name="Edit").click()
    await page.get_by_label("Value", exact=True).fill("two")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator(".content")).to_have_text("two")
    edited = await get(seat.server, "kv/value?namespace=CACHE&key=fresh")
    await page.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.locator(".notice", has_text="Deleted fresh.")).to_be_visible()

    assert (written["text"], written["metadata"]) == ("one", {"n": 1})
    assert (edited["text"], edited["metadata"]) == ("two", {"n": 1})
    assert edited["expiration"] == written["expiration"]
    gone = await seat.server.get(f"{API}/kv/value?namespace=CACHE&key=fresh")
    assert gone.status_code == 404


async def test_bytes_are_edited_as_hexadecimal(seat: Seat) -> None:
    page = await seat.open("kv")
    await page.get_by_label("Keys that begin with").fill("thumbnail")
    await page.get_by_role("button", name="thumbnail").click()
    await expect(page.locator(".content")).to_contain_text("89 50 4e 47")

    await page.get_by_role("button", name="Edit").click()
    await page.get_by_label("Value, as hexadecimal").fill("00 ff 10")
    await page.get_by_role("button", name="Save").click()

    await expect(page.locator(".content")).to_contain_text("00 ff 10")
    assert (await get(seat.server, "kv/value?namespace=CACHE&key=thumbnail"))["size_bytes"] == 3


async def test_what_the_platform_refuses_stands_in_the_form(seat: Seat) -> None:
    page = await seat.open("kv")
    await page.get_by_role("button", name="New key").click()
    await page.get_by_label("Key", exact=True).fill("k" * 600)
    await page.get_by_label("Value", exact=True).fill("kept while I correct the key")
    await page.get_by_role("button", name="Save").click()

    await expect(page.get_by_role("alert")).to_contain_text("UTF-8 encoded length of 600")
    await expect(page.get_by_label("Value", exact=True)).to_have_value(
        "kept while I correct the key"
    )
    # The browser tells of every answer that is a refusal.
    seat.complaints.clear()


async def test_the_time_to_live_counts_down_to_the_end(seat: Seat) -> None:
    await put(seat.server, "brief", text="v", expiration_ttl=100)
    page = await seat.open("kv")
    await page.get_by_label("Keys that begin with").fill("brief")
    left = page.locator("#keys time.count")
    before = int((await left.inner_text()).split(" min ")[-1].removesuffix(" s"))

    await expect(left).not_to_have_text(await left.inner_text())
    after = int((await left.inner_text()).split(" min ")[-1].removesuffix(" s"))
    await later(seat.server, 101)

    assert after < before or before == 0
    await expect(page.locator("#keys")).to_contain_text("No key begins with “brief”.")


async def test_each_location_shows_what_it_has_cached_and_how_old_it_is(seat: Seat) -> None:
    await put(seat.server, "aging", text="old")
    await seat.server.get("/read?key=aging", headers={"x-localedge-location": "oslo"})
    await put(seat.server, "aging", text="new")
    await seat.server.get("/read?key=aging", headers={"x-localedge-location": "zurich"})
    await later(seat.server, 20)
    page = await seat.open("kv")
    await page.get_by_label("Keys that begin with").fill("aging")

    await page.get_by_role("button", name="aging").click()

    oslo = page.get_by_role("row", name="oslo")
    await expect(oslo).to_contain_text("stale")
    await expect(oslo.locator(".copy")).to_have_text("old")
    await expect(oslo.locator("time").first).to_contain_text("2")
    await expect(page.locator(".copies tbody tr", has_text="newest")).to_have_count(1)
    await seat.shoot("kv-locations")


async def test_what_a_worker_writes_appears_by_itself(seat: Seat) -> None:
    page = await seat.open("kv")
    await page.get_by_label("Keys that begin with").fill("held")
    await expect(page.locator("#keys")).to_contain_text("No key begins with")

    await seat.server.http.get("/", params={"goal": "quick keys"})
    await put(seat.server, "held:by:hand", text="v")
    await seat.server.get("/read?key=held")

    await expect(page.locator("#keys .opener")).to_have_text("held:by:hand")


async def test_one_goes_through_the_keys_by_keyboard(seat: Seat) -> None:
    page = await seat.open("kv")
    await page.get_by_label("Keys that begin with").fill("item:0")
    await expect(page.locator("#keys tbody tr")).to_have_count(10)
    await page.get_by_label("Keys that begin with").blur()

    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await expect(page.locator(".value h2")).to_have_text("item:01")
    await page.keyboard.press("j")
    await expect(page.locator(".value h2")).to_have_text("item:02")
    await page.keyboard.press("Escape")

    await expect(page.locator("#detail")).to_be_hidden()
    await expect(page.get_by_role("button", name="item:02")).to_be_focused()


@pytest.mark.parametrize("width", SIZES)
async def test_nothing_is_wider_than_the_window(seat: Seat, width: str) -> None:
    await put(seat.server, "k" * 400, text="v" * 5000, metadata={"long": "m" * 500})
    page = await seat.open("kv")
    x, y = SIZES[width]
    await page.set_viewport_size({"width": x, "height": y})
    await page.get_by_label("Keys that begin with").fill("kkkk")

    await page.get_by_role("button", name="kkkk").click()
    await expect(page.locator(".content")).to_be_visible()

    assert await seat.width_beyond() == 0
