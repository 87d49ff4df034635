"""Measured rows as a Markdown table between two marks of docs/benchmarks.md."""

from __future__ import annotations

import platform
import re
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from os import cpu_count
from pathlib import Path

from bench.peers import Peer

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
Measure = Callable[[int], float]
PeerMeasure = Callable[[Peer], float]


@dataclass
class Row:
    """One thing measured: `values` by name, ours under "localedge"."""

    title: str
    unit: str
    values: dict[str, float]
    goal: str
    met: Callable[[float, float], bool]
    note: str = ""

    def line(self) -> str:
        """The row in Markdown."""
        ours = self.values["localedge"]
        theirs = next((v for k, v in self.values.items() if k != "localedge"), None)
        ratio = f"{ours / theirs:.2f}×" if theirs else "–"
        verdict = "" if not self.goal else "met" if self.met(ours, theirs or 0) else "**not met**"
        peer = f"{theirs:,.1f}" if theirs else "–"
        return (
            f"| {self.title} | {self.unit} | {ours:,.1f} | {peer} | {ratio} "
            f"| {self.goal} | {verdict} | {self.note} |"
        )


def machine() -> str:
    """The machine and the versions, in a sentence."""
    model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    return (
        f"{cpu_count()} cores ({model[1] if model else platform.machine()}), "
        f"{platform.system()} {platform.release().split('-')[0]}, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"localedge {version('localedge')}, uvicorn {version('uvicorn')}, "
        f"redis-py {version('redis')}"
    )


def write(name: str, peer: str, rows: list[Row]) -> None:
    """Put the table of `rows` in place of the last one called `name`."""
    head = ["what", "unit", "localedge", peer, "ratio", "goal", "", ""]
    _put(
        name, f"{machine()}; {peer}. Medians of one run, in turns.", head, [r.line() for r in rows]
    )


def put(name: str, said: str, head: list[str], rows: list[list[str]], *, page: Path = PAGE) -> None:
    """Put a table with the columns `head` in place of the last one called `name` on `page`."""
    _put(name, said, head, [f"| {' | '.join(row)} |" for row in rows], page)


def _put(name: str, said: str, head: list[str], lines: list[str], path: Path = PAGE) -> None:
    table = "\n".join(
        [
            f"{datetime.now(UTC):%Y-%m-%d}, {said}",
            "",
            f"| {' | '.join(head)} |",
            "|---" * len(head) + "|",
            *lines,
        ]
    )
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = path.read_text("utf-8") if path.exists() else "# Benchmarks\n"
    if begin not in page:
        page += f"\n{begin}\n{end}\n"
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    path.write_text(f"{before}{begin}\n{table}\n{end}{after}", "utf-8")
    print(table, file=sys.stdout)
