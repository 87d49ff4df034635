"""The page in a real browser: one Chromium for all tests, one server for each module."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.inspector.shop import shop
from tests.runtime.edge import Edge

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

SCREENSHOTS: Final = Path(__file__).parents[2] / "build" / "screenshots"
# `make test` goes by here without the library that drives the browser.
collect_ignore_glob = [] if find_spec("playwright") else ["test_*.py"]
SIZES: Final = {"1024": (1024, 768), "phone": (390, 844)}


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """Debian's Chromium, without a window."""
    from playwright.async_api import async_playwright, expect

    expect.set_options(timeout=15_000)
    program = os.environ.get("LOCALEDGE_CHROMIUM", "/usr/bin/chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        await browser.close()


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """The shop, looked at."""
    async with shop(tmp_path_factory.mktemp("shop")) as running:
        yield running


@dataclass
class Seat:
    """Where a person sits: a tab of the browser, in front of a server.

    Shape: `complaints` is what the browser's console said, and what was asked of other hosts.
    """

    page: Page
    server: Edge
    complaints: list[str] = field(default_factory=list)

    async def open(self, view: str = "", *, with_token: bool = True) -> Page:
        """The page at that view, connected; "" is the one that opens first."""
        token = f"#token={self.server.run.token}" if with_token else ""
        place = f"view/{view}" if view else ""
        await self.page.goto(f"{self.server.run.url}/cdn-cgi/localedge/{place}{token}")
        await self.page.locator("#connection[data-state=live]").wait_for()
        return self.page

    async def shoot(self, name: str) -> None:
        """A screenshot of what is shown now, at both widths, light and dark."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        for width, (x, y) in SIZES.items():
            await self.page.set_viewport_size({"width": x, "height": y})
            for scheme in ("light", "dark"):
                await self.page.emulate_media(color_scheme=scheme)
                file = SCREENSHOTS / f"{name}-{width}-{scheme}.png"
                await self.page.screenshot(path=file, full_page=True)
        x, y = SIZES["1024"]
        await self.page.set_viewport_size({"width": x, "height": y})

    async def width_beyond(self) -> int:
        """By how many pixels the page is wider than its window: 0, or it has to be pushed."""
        root = "document.documentElement"
        beyond: Any = await self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth")
        return int(beyond)


@pytest.fixture
async def seat(chromium: Browser, server: Edge) -> AsyncIterator[Seat]:
    """A fresh tab. At the end the browser has complained of nothing."""
    x, y = SIZES["1024"]
    context = await chromium.new_context(viewport={"width": x, "height": y})
    page = await context.new_page()
    page.set_default_timeout(15_000)
    taken = Seat(page, server)
    complain = taken.complaints.append
    page.on("console", lambda m: complain(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complain(str(error)))
    home = f"{server.run.url}/"
    page.on("request", lambda r: None if r.url.startswith(home) else complain(f"asked {r.url}"))
    yield taken
    await context.close()
    assert taken.complaints == []
