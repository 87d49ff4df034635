"""`python -m tests.explore.crash_table`: what a worker's death costs, counted.

Exit 0 only if in every run nothing acknowledged was lost, no finished step ran again, no effect
happened twice unasked, and the task ended.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.explore.scenarios import tasks

from localedge.explore import Scenario
from localedge.explore.choices import DEATHS, Do
from localedge.explore.exploring import Options, Report, explore
from localedge.explore.report_text import failure, summary, table

FOLDER = Path(__file__).parent
JOBS = min(2, os.cpu_count() or 1)
TASKS = (
    tasks.idempotent,
    tasks.non_idempotent,
    tasks.scenario(10, "idempotent"),
    tasks.ten,
)
KINDS = (
    ("killed once", Options(crash=True, modes=DEATHS, jobs=JOBS)),
    ("killed twice", Options(crash=True, depth=2, modes=DEATHS, jobs=JOBS)),
    ("late write", Options(crash=True, modes=(Do.LATE,), jobs=JOBS)),
)
REAL = ((tasks.idempotent, 10), (tasks.non_idempotent, 20), (tasks.ten, 10))


def explored(scenario: Scenario, kind: str, options: Options) -> Report:
    """The report of one line of the table, which is called `kind`."""
    report = explore(scenario, FOLDER, options)
    for row in report.rows:
        row.kind = kind
    return report


def main() -> int:
    """Print the table; 0 if every run ended well."""
    whole = Report()
    for scenario in TASKS:
        for kind, options in KINDS:
            whole.add(explored(scenario, kind, options))
    for scenario, deaths in REAL:
        whole.add(explored(scenario, "SIGKILL", Options(real=deaths, jobs=JOBS)))
    print(table(whole.rows))
    for told in whole.told:
        print(f"\n{failure(told)}")
    print(f"\n{summary(whole)}")
    return 0 if whole.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
