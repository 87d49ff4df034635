"""D1, as a person uses it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, expect
from tests.browser.conftest import SIZES, Seat
from tests.inspector.crew import MARKUP, change, crew, sent
from tests.runtime.edge import Edge

pytestmark = [pytest.mark.anyio, pytest.mark.browser]
SEED = (
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, what TEXT NOT NULL, price REAL, photo BLOB); "
    "CREATE INDEX by_what ON orders (what); "
    "CREATE VIEW dear AS SELECT * FROM orders WHERE price > 60; "
    "INSERT INTO orders (what, price, photo) SELECT 'hat ' || value, value * 1.5, x'00ff' FROM "
    "json_each('[" + ",".join(map(str, range(1, 61))) + "]'); "
    "INSERT INTO orders (what) VALUES (?)"
)


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """The crew, with a table of orders."""
    async with crew(tmp_path_factory.mktemp("crew")) as running:
        body = {"sql": SEED, "params": [MARKUP]}
        seeded = await change(running, "POST", "d1/query?database=crew", body)
        assert seeded.json()["error"] is None
        yield running


async def tab(seat: Seat, name: str) -> Page:
    """D1 with that tab shown."""
    page = await seat.open("d1")
    await page.get_by_role("tab", name=name).click()
    return page


async def asked(page: Page, sql: str, params: str = "") -> None:
    """The console has run that."""
    await page.get_by_label("SQL", exact=True).fill(sql)
    await page.get_by_label("Parameters").fill(params)
    await page.get_by_role("button", name="Run").click()


async def test_rows_of_a_table_come_in_pages_sorted_as_one_likes(seat: Seat) -> None:
    page = await seat.open("d1")
    await page.get_by_role("button", name="orders").click()
    rows = page.locator(".grid tbody tr")
    await expect(rows).to_have_count(50)

    await page.get_by_role("button", name="Next").click()
    await expect(rows).to_have_count(11)
    await page.get_by_role("button", name="price").click()
    await page.get_by_role("button", name="price").click()

    await expect(rows.first).to_contain_text("hat 60")
    await expect(page.get_by_role("columnheader", name="price")).to_have_attribute(
        "aria-sort", "descending"
    )
    await expect(page.locator(".pager")).to_contain_text("Rows 1 to 50 of 61 rows")
    await seat.shoot("d1-rows")


async def test_a_row_with_markup_is_shown_as_text(seat: Seat) -> None:
    page = await seat.open("d1")
    title = await page.title()
    await page.get_by_role("button", name="orders").click()
    await page.get_by_role("button", name="id", exact=True).click()
    await page.get_by_role("button", name="id", exact=True).click()

    await expect(page.locator(".grid tbody tr").first.locator(".text")).to_have_text(MARKUP)
    await expect(page.locator(".grid tbody tr").first.locator(".null").first).to_have_text("NULL")
    assert await page.locator("main b, main img").count() == 0
    assert await page.title() == title


async def test_the_schema_shows_columns_indexes_and_the_sql(seat: Seat) -> None:
    page = await seat.open("d1")
    await page.get_by_role("button", name="orders").click()

    await page.get_by_role("button", name="Schema").click()

    columns = page.get_by_role("table", name="Columns")
    await expect(columns.get_by_role("row", name="what")).to_contain_text("not null")
    await expect(columns.get_by_role("row", name="id")).to_contain_text("key")
    await expect(page.locator(".schema .facts")).to_contain_text("by_what")
    await expect(page.locator(".schema pre").first).to_contain_text("CREATE TABLE orders")
    await seat.shoot("d1-schema")


async def test_the_console_answers_with_parameters_and_by_keyboard(seat: Seat) -> None:
    page = await tab(seat, "Console")

    await page.get_by_label("SQL", exact=True).fill("SELECT what, price FROM orders WHERE id = ?")
    await page.get_by_label("Parameters").fill("2")
    await page.keyboard.press("Control+Enter")

    await expect(page.get_by_role("table", name="Answer")).to_contain_text("hat 2")
    await expect(page.locator(".answer")).to_contain_text("1 row, rows read 1")


async def test_what_d1_refuses_is_told_in_its_words_and_changes_nothing(seat: Seat) -> None:
    page = await tab(seat, "Console")

    await asked(page, "INSERT INTO orders (what) VALUES ('lost'); SELECT * FROM absent")

    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("D1_ERROR: no such table: absent: SQLITE_ERROR")
    await expect(alert).to_contain_text("Statement 2 of 2 failed, nothing was changed")
    await asked(page, "ATTACH 'x' AS y")
    await expect(alert).to_contain_text("D1_ERROR: not authorized: SQLITE_AUTH")
    await seat.shoot("d1-refused")
    await asked(page, "SELECT count(*) AS n FROM orders WHERE what = 'lost'")
    await expect(page.get_by_role("table", name="Answer").locator("td")).to_have_text("0")


async def test_parameters_that_are_no_json_are_told(seat: Seat) -> None:
    page = await tab(seat, "Console")

    await asked(page, "SELECT ?", "one, two")

    await expect(page.locator(".notice.bad")).to_contain_text("The parameters are no JSON")


async def test_the_plan_says_where_a_whole_table_is_read(seat: Seat) -> None:
    page = await tab(seat, "Console")
    await page.get_by_label("SQL", exact=True).fill("SELECT * FROM orders WHERE price = 1")

    await page.get_by_role("button", name="Plan").click()

    plan = page.get_by_role("region", name="Plan")
    await expect(plan).to_contain_text("SCAN orders")
    await expect(plan).to_contain_text("whole table")
    await page.get_by_label("SQL", exact=True).fill("SELECT * FROM orders WHERE what = 'hat 1'")
    await page.get_by_role("button", name="Plan").click()
    await expect(plan).to_contain_text("SEARCH orders USING INDEX by_what")
    await seat.shoot("d1-plan")


async def test_an_earlier_statement_comes_back(seat: Seat) -> None:
    page = await tab(seat, "Console")
    await asked(page, "SELECT 1 AS earlier")
    await expect(page.get_by_role("table", name="Answer")).to_contain_text("earlier")
    await page.get_by_label("SQL", exact=True).fill("")

    await page.get_by_label("Earlier statements").select_option(label="SELECT 1 AS earlier")

    await expect(page.get_by_label("SQL", exact=True)).to_have_value("SELECT 1 AS earlier")


async def test_the_slowest_statements_lead_to_their_request(seat: Seat) -> None:
    page = await tab(seat, "Slowest")
    await sent(seat.server, "quick plan")

    table = page.get_by_role("table", name="Slowest statements")
    await expect(table).to_contain_text("INSERT INTO agent_tasks")
    await seat.shoot("d1-slowest")
    await table.get_by_role("link").first.click()

    await expect(page.locator(".story-head h2")).to_contain_text("/?goal=quick")


async def test_migrations_are_pending_until_they_are_applied(seat: Seat) -> None:
    page = await tab(seat, "Migrations")
    await expect(page.get_by_role("table", name="Migrations")).to_contain_text("applied")
    late = seat.server.folder / "migrations" / "9000_create_late.sql"
    late.write_text("CREATE TABLE late (a);", "utf-8")
    await page.reload()
    await expect(page.get_by_role("row", name="9000_create_late.sql")).to_contain_text("pending")
    await seat.shoot("d1-migrations")

    await page.get_by_role("button", name="Apply 1").click()
    await page.get_by_role("dialog").get_by_role("button", name="Apply").click()

    await expect(page.get_by_role("row", name="9000_create_late.sql")).to_contain_text("applied")
    await page.get_by_role("tab", name="Tables").click()
    await expect(page.get_by_role("button", name="late")).to_be_visible()


async def test_one_goes_from_tab_to_tab_by_keyboard(seat: Seat) -> None:
    page = await seat.open("d1")
    await expect(page.get_by_role("tab", name="Tables")).to_have_attribute("aria-selected", "true")
    await page.get_by_role("tab", name="Tables").focus()

    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_role("tab", name="Console")).to_be_focused()
    await page.keyboard.press("End")
    await expect(page.get_by_role("tab", name="Migrations")).to_be_focused()
    await page.keyboard.press("/")

    await expect(page.get_by_label("SQL", exact=True)).to_be_focused()


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("name", ["Tables", "Console", "Slowest", "Migrations"])
async def test_nothing_is_wider_than_the_window(seat: Seat, name: str, width: str) -> None:
    page = await tab(seat, name)
    x, y = SIZES[width]
    await page.set_viewport_size({"width": x, "height": y})
    if name == "Console":
        await asked(page, "SELECT *, *, * FROM orders")
        await expect(page.get_by_role("table", name="Answer")).to_be_visible()

    assert await seat.width_beyond() == 0
