"""Whoever cannot see the views of stored things can use them all the same."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import expect
from tests.browser.conftest import Seat
from tests.inspector.crew import change, crew, form_team, lost_in
from tests.runtime.edge import Edge

pytestmark = [pytest.mark.anyio, pytest.mark.browser]
NAMELESS = """
[...document.querySelectorAll('main :is(button, a[href], input, select, textarea, summary, svg)')]
  .filter((e) => e.checkVisibility() && !e.closest('[aria-hidden]')
    && !(e.innerText?.trim() || e.getAttribute('aria-label') || e.labels?.length || e.title))
  .map((e) => e.outerHTML.slice(0, 200))
"""
TABS = [
    ("kv", None),
    *(("d1", name) for name in ("Tables", "Console", "Slowest", "Migrations")),
    *(("agents", name) for name in ("Tasks", "Sessions", "Leases", "Team", "Sagas")),
]


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """The crew, with something in each store."""
    async with crew(tmp_path_factory.mktemp("crew")) as running:
        await form_team(running)
        await change(running, "PUT", "kv/value?namespace=CACHE&key=k", {"text": "{}"})
        await lost_in(running, "stuck name", "charge")
        yield running


@pytest.mark.parametrize(("view", "tab"), TABS)
async def test_everything_that_can_be_used_has_a_name(
    seat: Seat, view: str, tab: str | None
) -> None:
    page = await seat.open(view)
    if tab is not None:
        await page.get_by_role("tab", name=tab).click()
    if view == "kv":
        await page.get_by_role("button", name="k", exact=True).click()
        await expect(page.locator(".content")).to_be_visible()
    if tab == "Tasks":
        await page.get_by_role("button", name="stuck name").click()
        await expect(page.locator(".life-svg")).to_be_visible()
    if tab == "Team":
        await page.get_by_role("button", name="goal", exact=True).click()
        await expect(page.locator(".trace-events")).to_be_visible()

    nameless = await page.evaluate(NAMELESS)

    assert nameless == []
