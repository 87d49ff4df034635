"""How many crash runs a second: `python -m bench.explore_speed`; writes docs/explore.md.

Each row has the rate by the clock, and by the CPU time of two cores: what the machine would do if
nothing else ran on it. Opening the scenario, its migrations, the check that the worker is
deterministic and the start of the processes are all inside.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import report
from tests.explore.scenarios import document, tasks, team, trip

from localedge.explore.exploring import Options, explore
from localedge.explore.outcome import Row
from localedge.explore.sigkill import real_row

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "explore.md"
CORES = 2
GOAL = 1000
REAL_GOAL = 40
TEN_S = 10.0
SUBJECTS = (
    ("the document's loop on KV", document.effects, 1),
    ("`edgestate`, a task of 4 steps", tasks.idempotent, 2),
    ("`edgestate`, a task of 10 steps", tasks.ten, 2),
    ("`edgestate.team`", team.team, 2),
    ("the reference worker over HTTP", trip.trip, 2),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One subject: its row, and how long it took by the clock and by two cores' CPU."""

    name: str
    row: Row
    clock_s: float
    cores_s: float

    def cells(self, goal: str) -> list[str]:
        """The line of the table."""
        decided = self.row.runs + self.row.merged
        return [
            self.name,
            f"{self.row.runs:,}",
            f"{self.row.merged:,}",
            f"{self.clock_s:.1f}",
            f"{self.row.runs / self.clock_s:,.0f}",
            f"{self.row.runs / self.cores_s:,.0f}",
            f"{decided / self.cores_s:,.0f}",
            goal,
        ]


def cpu_s() -> float:
    """The CPU time of this process and its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measured(name: str, play: Callable[[], Row]) -> Measured:
    """What `play` came to."""
    begun, cpu = time.perf_counter(), cpu_s()
    row = play()
    return Measured(name, row, time.perf_counter() - begun, (cpu_s() - cpu) / CORES)


def goal_text(found: Measured, goal: int) -> str:
    """Whether `goal` runs a second are reached by CPU, as played and with the equal ones."""
    played, decided = found.row.runs, found.row.runs + found.row.merged
    for count, text in ((played, "met"), (decided, "met with the equal ones")):
        if count / found.cores_s >= goal:
            return f"≥ {goal:,}: {text}"
    return f"≥ {goal:,}: **not met**"


def main() -> None:
    """All rows."""
    lines: list[list[str]] = []
    for name, scenario, depth in SUBJECTS:
        options = Options(crash=True, depth=depth, jobs=CORES)
        found = measured(
            f"{name}, depth {depth}", lambda s=scenario, o=options: explore(s, HERE, o).rows[0]
        )
        goal = goal_text(found, GOAL)
        if scenario is tasks.ten:
            is_met = found.cores_s < TEN_S
            goal += f"; < {TEN_S:g} s: {'met' if is_met else '**not met**'}"
        lines.append(found.cells(goal))
    for name, scenario in (("4 steps", tasks.non_idempotent), ("10 steps", tasks.ten)):
        found = measured(
            f"SIGKILL, real stores, {name}",
            lambda s=scenario: real_row(s, HERE, wanted=80, jobs=CORES),
        )
        lines.append(found.cells(goal_text(found, REAL_GOAL)))
    load = os.getloadavg()[0]
    said = (
        f"{report.machine()}; two processes, load average {load:.1f}. Equal ones are crashes at a "
        "state from which a run had been played already."
    )
    head = [
        "what",
        "runs",
        "equal ones",
        "s",
        "a second",
        "a second of two cores",
        "with the equal ones",
        "goal",
    ]
    report.put("explore speed", said, head, lines, page=PAGE)


if __name__ == "__main__":
    main()
