"""Every link of every page leads somewhere, and every page is reached from the first one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.pages import DOCS, ROOT, anchors, pages, prose

LINK = re.compile(r"\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def links(page: Path) -> list[str]:
    return LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page)))


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_what_is_there(page: Path) -> None:
    for link in links(page):
        if link.startswith(("https://", "http://localhost")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page

        assert target.exists(), f"{link} leads nowhere"
        assert ROOT in target.parents, f"{link} leads out of the repository"
        assert not anchor or anchor in anchors(target), f"{link} names no heading"


def test_every_page_is_reached_from_the_index() -> None:
    reached, waiting = set[Path](), [DOCS / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        for link in links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            # A folder is shown as the list of what is in it.
            waiting += target.glob("*.md") if target.is_dir() else [target]

    assert set(DOCS.rglob("*.md")) - reached == set()
