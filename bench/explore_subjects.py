"""What `make explore` explores, row by row: `python -m bench.explore_subjects`.

Writes the table into docs/explore.md. Ends with 1 if a subject that has to hold does not.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bench import report
from tests.explore import show
from tests.explore.scenarios import trip

from localedge.explore.exploring import Options, explore
from localedge.explore.outcome import Row

PAGE = Path(__file__).parents[1] / "docs" / "explore.md"
HEAD = ["subject", "scenario", "explored", "points", "runs", "equal ones", "s", "outcome"]
REAL = Options(real=36, jobs=show.JOBS)


def cells(subject: str, row: Row) -> list[str]:
    """The line of one row."""
    numbers = [f"{number:,}" for number in (row.points, row.runs, row.merged)]
    outcome = ", ".join(f"{count:,} {name}" for name, count in sorted(row.counts.items()))
    return [subject, row.subject, row.kind, *numbers, f"{row.seconds:.1f}", outcome]


def main() -> int:
    """All rows; 0 if all is as it must be."""
    lines: list[list[str]] = []
    is_right = True
    for name, scenario, options, outcome in show.MUST_FAIL:
        for row in explore(scenario, show.FOLDER, options).rows:
            lines.append(cells(f"the document: {name}", row))
            is_right &= outcome in row.counts
    subjects = [*show.MUST_HOLD, ("the reference worker", ((trip.trip, REAL),))]
    for subject, explored in subjects:
        for scenario, options in explored:
            found = explore(scenario, show.FOLDER, options)
            lines += [cells(subject, row) for row in found.rows]
            is_right &= found.is_clean
    load = os.getloadavg()[0]
    said = f"{report.machine()}; two processes, load average {load:.1f}."
    report.put("explore subjects", said, HEAD, lines, page=PAGE)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
