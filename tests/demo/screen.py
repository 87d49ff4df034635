"""What the demo prints: a line per thing that happened, a claim per thing checked, two tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Attempt:
    """A row of the timeline: one attempt at one step."""

    step: str
    pid: int
    started_at: str
    ended_at: str
    outcome: str
    killed: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """A row of the effects: how often the outside world was asked, and what it did."""

    action: str
    key: str
    calls: int
    effects: int


class Screen:
    """Prints for people, 80 to 100 columns wide, and remembers which claims did not hold."""

    def __init__(self, *, claims: int, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._console.width = min(100, max(80, self._console.width))
        self._claims = claims
        self.checked = 0
        self.failed: list[str] = []

    def heading(self, text: str) -> None:
        """A new part of the story."""
        self._console.print()
        self._console.print(Text(text, style="bold"))

    def line(self, text: str, *, style: str = "") -> None:
        """Something that happened."""
        self._console.print(Padding(Text(text, style=style), (0, 0, 0, 2), expand=False))

    def claim(self, sentence: str, holds: bool, found: object = None) -> None:
        """`sentence` was checked; if it does not hold, what was found instead is shown."""
        self.checked += 1
        if holds:
            line = Text("  holds  ", style="green").append(sentence, style="default")
        else:
            self.failed.append(sentence)
            line = Text("  FAILS  ", style="bold red").append(f"{sentence} (found: {found!r})")
        self._console.print(line)

    def timeline(self, title: str, attempts: Sequence[Attempt]) -> None:
        """Every attempt at every step, in order."""
        table = _table(f"Timeline: {title}")
        table.add_column("step", no_wrap=True)
        table.add_column("isolate", justify="right", no_wrap=True)
        table.add_column("started", no_wrap=True)
        table.add_column("ended", no_wrap=True)
        table.add_column("outcome")
        for attempt in attempts:
            table.add_row(
                attempt.step,
                str(attempt.pid),
                _time_of_day(attempt.started_at),
                _time_of_day(attempt.ended_at),
                attempt.outcome,
                style="red" if attempt.killed else "",
            )
        self._console.print()
        self._console.print(table)

    def effects(self, title: str, counts: Sequence[Count]) -> None:
        """What the outside world counted."""
        table = _table(f"Effects, as the travel service counted them: {title}")
        table.add_column("action", no_wrap=True)
        table.add_column("idempotency key", no_wrap=True)
        table.add_column("calls", justify="right")
        table.add_column("effects", justify="right")
        for count in counts:
            table.add_row(count.action, count.key or "-", str(count.calls), str(count.effects))
        self._console.print()
        self._console.print(table)

    def exit_code(self) -> int:
        """0 if as many claims as the story has were checked and all hold, else 1."""
        return 0 if self.checked == self._claims and not self.failed else 1

    def verdict(self, took_s: float) -> None:
        """How it ended."""
        self._console.print()
        if self.exit_code():
            text = f"{self.checked} of {self._claims} claims checked, {len(self.failed)} failed."
            self._console.print(Text(text, style="bold red"))
        else:
            text = f"All {self.checked} claims hold. The demo took {took_s:.1f} s."
            self._console.print(Text(text, style="bold green"))

    def trouble(self, text: str) -> None:
        """Why the demo could not go on."""
        self._console.print()
        self._console.print(Text(text, style="bold red"))


def _table(title: str) -> Table:
    return Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )


def is_gone(pid: int) -> bool:
    """Whether no process has the id `pid` any more."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def _time_of_day(moment: str) -> str:
    return moment.partition("T")[2].rstrip("Z")
