"""`python -m localedge.explore.crash_table`: what a worker's death costs, counted.

Exit 0 only if in every run nothing acknowledged was lost, no finished step ran again, no effect
happened twice unasked, and the task ended.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from edgestate.statuses import Effect
from localedge.explore.crash import Ending, Explorer
from localedge.explore.death import Mode
from localedge.explore.real import Case, play
from localedge.explore.reference import ReferenceTask
from localedge.explore.scenario import Scenario
from localedge.explore.world import World

JOBS: Final = 2
TASKS: Final = (
    ReferenceTask(4, "idempotent"),
    ReferenceTask(4, "non_idempotent"),
    ReferenceTask(10, "idempotent"),
    ReferenceTask(10, "non_idempotent"),
)
SHOWN_FAILURES: Final = 10


@dataclass(slots=True)
class Line:
    """One line of the table: what all runs of one kind came to."""

    task: str
    kill: str
    points: int = 0
    runs: int = 0
    repeated: int = 0
    reran: int = 0
    lost: int = 0
    stuck: int = 0
    asked: int = 0
    resent: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, ending: Ending) -> None:
        """Count one run."""
        self.runs += 1
        self.repeated += bool(ending.twice)
        self.reran += bool(ending.rerun)
        self.lost += bool(ending.lost)
        self.stuck += ending.is_stuck
        self.asked += bool(ending.asked)
        self.resent += bool(ending.repeats)
        if not ending.is_clean:
            facts = f"twice {ending.twice}, reran {ending.rerun}, lost {ending.lost}"
            self.failures.append(f"{self.task}: {ending.label}: {facts}. {ending.why}")

    def merge(self, other: Line) -> None:
        """Count the runs of another share of the same line."""
        self.points = max(self.points, other.points)
        for name in ("runs", "repeated", "reran", "lost", "stuck", "asked", "resent"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failures += other.failures


async def simulated(scenario: Scenario, share: int = 0, shares: int = 1) -> list[Line]:
    """The lines of one scenario: killed once, killed twice, and a write that lands late.

    Shape: of the second faults and late writes, the part number `share` of `shares`; the first
    faults count in share 0 only.
    """
    once, twice, late = (Line(scenario.name, kill) for kill in ("once", "twice", "late write"))
    with World() as world:
        explorer = Explorer(scenario, world)
        start = await explorer.begin()
        number = 0
        async for ending, trace, state, faults in explorer.singles(start):
            if ending.label == "undisturbed":
                once.points = len(trace.calls)
            if share == 0:
                once.add(ending)
            if number % shares == share and ending.label != "undisturbed":
                async for second in explorer.seconds(ending, trace, state, faults):
                    twice.add(second)
            number += 1
        async for ending in explorer.late(start, share=share, shares=shares):
            late.add(ending)
    twice.points = late.points = once.points
    return [once, twice, late]


def real_cases() -> list[Case]:
    """The deaths that are played with real processes: every point of two tasks, some of others."""
    cases: list[Case] = []
    some: tuple[tuple[int, Effect, range], ...] = (
        (4, "non_idempotent", range(1, 11)),
        (4, "idempotent", range(1, 10, 2)),
        (10, "non_idempotent", range(2, 23, 5)),
    )
    for steps, effect, points in some:
        for point in points:
            cases += [Case(steps, effect, point, mode) for mode in (Mode.BEFORE, Mode.AFTER)]
    return cases


def real(cases: Iterable[Case], folder: Path) -> Line:
    """The line of `cases`, each played in a folder of its own under `folder`."""
    line = Line("real processes", "SIGKILL")
    for number, case in enumerate(cases):
        line.points += 1
        line.add(play(case, folder / f"case-{number}-{os.getpid()}"))
    return line


# --- sharing the work between processes ---


def _forked(work: Callable[[], list[Line]]) -> int:
    """The end of a pipe on which a forked process will write the lines of `work()`."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    if os.fork() == 0:
        code = 1
        try:
            os.close(reader)
            with os.fdopen(writer, "w") as pipe:
                json.dump([asdict(line) for line in work()], pipe)
            code = 0
        finally:
            # Nothing of the parent's may run in the child, not even on an error.
            if code:
                sys.excepthook(*sys.exc_info())
            os._exit(code)
    os.close(writer)
    return reader


def _lines(reader: int) -> list[Line]:
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.wait()
    if not text:
        raise RuntimeError("a share of the runs ended without its lines")
    return [Line(**fields) for fields in json.loads(text)]


def table(jobs: int = JOBS) -> list[Line]:
    """All lines, the work shared between `jobs` processes."""
    cases = real_cases()

    def share_of(share: int, folder: Path) -> list[Line]:
        lines = [real(cases[share::jobs], folder)]
        for task in TASKS:
            lines += asyncio.run(simulated(task, share, jobs))
        return lines

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        readers = [_forked(partial(share_of, share, folder)) for share in range(jobs)]
        first, *others = [_lines(reader) for reader in readers]
    for lines in others:
        for line, other in zip(first, lines, strict=True):
            is_real = line.kill == "SIGKILL"
            points = line.points + other.points
            line.merge(other)
            line.points = points if is_real else line.points
    return [*first[1:], first[0]]


# --- the table as text ---

HEAD: Final = (
    "task",
    "killed",
    "points",
    "runs",
    "effect twice",
    "step again",
    "lost",
    "stuck",
    "asked",
    "resent with key",
)


def rendered(lines: Iterable[Line]) -> str:
    """The table; the last column counts runs in which the other side saw a key again."""
    rows = [HEAD] + [
        (
            line.task,
            line.kill,
            *map(
                str,
                (
                    line.points,
                    line.runs,
                    line.repeated,
                    line.reran,
                    line.lost,
                    line.stuck,
                    line.asked,
                    line.resent,
                ),
            ),
        )
        for line in lines
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def main() -> int:
    """Print the table; 0 if every run ended well."""
    logging.getLogger("edgestate").setLevel(logging.CRITICAL)
    begun = time.monotonic()
    lines = table()
    sys.stdout.write(rendered(lines) + "\n")
    failures = [failure for line in lines for failure in line.failures]
    for failure in failures[:SHOWN_FAILURES]:
        sys.stdout.write(f"FAILED {failure}\n")
    runs = sum(line.runs for line in lines)
    seconds = time.monotonic() - begun
    verdict = f"{len(failures)} runs failed" if failures else "every run ended well"
    sys.stdout.write(f"{runs} runs in {seconds:.1f} s: {verdict}.\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
