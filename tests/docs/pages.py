"""The pages of the documentation, and the blocks of code in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
_FENCE: Final = re.compile(r"^( *)(```|~~~)(\S*)\s*$")
_MARK: Final = re.compile(r"^<!-- (file|run|serve|background|prints|stop|part)(?:: (\S+))? -->$")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code.

    Shape: `mark` is what the comment before it says is to be done with it: "file" to be written as
    `name`, commands to "run", "serve" or leave in the "background", what the last one "prints", or
    a "part" that needs more around it.
    """

    page: Path
    line: int
    language: str
    text: str
    mark: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Every page that people read."""
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, in order; a mark without a block is one without text."""
    mark, name, fence = "", "", ""
    start, language, lines = 0, "", list[str]()
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        marked, fenced = _MARK.match(line), _FENCE.match(line)
        if fence:
            if fenced and fenced[2] == fence and not fenced[3]:
                yield Block(page, start, language, "\n".join(lines) + "\n", mark, name)
                mark, name, fence = "", "", ""
            else:
                lines.append(line)
        elif fenced:
            start, fence, language, lines = number, fenced[2], fenced[3], []
        elif marked and marked[1] == "stop":
            yield Block(page, number, "", "", "stop")
        elif marked:
            mark, name = marked[1], marked[2] or ""


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    kept: list[str] = []
    fence = ""
    for line in page.read_text("utf-8").splitlines():
        fenced = _FENCE.match(line)
        if fence:
            fence = "" if fenced and fenced[2] == fence and not fenced[3] else fence
        elif fenced:
            fence = fenced[2]
        else:
            kept.append(line)
    return "\n".join(kept)


def anchors(page: Path) -> set[str]:
    """What a link may name in a page: its headings, as GitHub writes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-"))
    return found
