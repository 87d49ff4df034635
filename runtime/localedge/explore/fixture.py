"""What the pytest fixture `explore` is."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from localedge.explore.choices import modes_of
from localedge.explore.exploring import Options, Report
from localedge.explore.exploring import explore as explored
from localedge.explore.report_text import failure, summary, table
from localedge.explore.scenario import Scenario


class ExplorationFailed(AssertionError):  # noqa: N818  (what the test says)
    """Something did not hold. Its text is the report."""


class Explore:
    """`explore(scenario, crash=True, depth=2)` fails the test if anything does not hold.

    Shape: `folder` is where the tests' root is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, scenario: Scenario, **options: Any) -> Report:
        """The clean report of an exploration; without options, of crashes, races and stale reads.

        Shape: options are those of Options: crash, race, stale, depth, preemptions, fuzz_runs …;
        `modes` may be names with commas between, or "all", and then holds for pairs too.
        Errors: ExplorationFailed with the table and each failure's story.
        """
        report = self.report(scenario, **options)
        if not report.is_clean:
            stories = [failure(told) for told in report.told]
            text = "\n\n".join([*stories, table(report.rows), summary(report)])
            raise ExplorationFailed(f"\n{text}")
        return report

    def report(self, scenario: Scenario, **options: Any) -> Report:
        """The report, whatever it says."""
        kinds = {"crash", "race", "stale", "fuzz_s", "fuzz_runs", "real"}
        if not kinds & options.keys():
            options |= {"crash": True, "race": True, "stale": True}
        modes = options.pop("modes", None)
        asked = Options(**options)
        if modes is not None:
            asked = asked.with_modes(modes_of(modes if isinstance(modes, str) else ",".join(modes)))
        file = inspect.getsourcefile(scenario.client)
        source = Path(file) if file is not None else self.folder / "scenario.py"
        return explored(scenario, source.parent, asked, source=source.name)
