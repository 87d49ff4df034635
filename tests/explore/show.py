"""`python -m tests.explore.show`: one line a subject; exit 0 only if all is as it must be.

The document's own code must fail in each of its ways; the reference worker and `edgestate.team`
must hold at two deaths, two preemptions and with stale reads; ten mutants of our own library must
be caught.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from tests.explore.mutants import MUTANTS
from tests.explore.scenarios import document, tasks, team, trip

from localedge.explore import Scenario
from localedge.explore.choices import CRASH_MODES
from localedge.explore.exploring import Options, Report, explore

FOLDER = Path(__file__).parent
JOBS = min(2, os.cpu_count() or 1)
MUST_FAIL = (
    ("the lock that is none", document.lock, Options(race=True), "DIVERGED"),
    ("the lost update of a version", document.version, Options(race=True), "LOST"),
    ("the lost update of the index", document.task_index, Options(race=True), "LOST"),
    ("the index after a stale read", document.index_later, Options(stale=True), "LOST"),
    ("the completion that is never stored", document.completion, Options(crash=True), "LOST"),
    ("the repeated effects", document.effects, Options(crash=True), "DUPLICATE"),
)
DEATHS = Options(crash=True, stale=True, depth=2, jobs=JOBS)
PAIRS = DEATHS.with_modes(CRASH_MODES)
MEETINGS = Options(race=True, stale=True)
Explored = tuple[tuple[Scenario, Options], ...]
MUST_HOLD: tuple[tuple[str, Explored], ...] = (
    ("the reference worker", ((trip.trip, DEATHS), (trip.twice, MEETINGS))),
    (
        "edgestate",
        (
            (tasks.two, PAIRS),
            (tasks.idempotent, DEATHS),
            (tasks.ten, DEATHS),
            (tasks.twice, MEETINGS),
        ),
    ),
    ("edgestate.team", ((team.team, DEATHS), (team.team_at_once, MEETINGS))),
)


def document_line() -> bool:
    """The document's code, each of its faults by class."""
    begun = time.perf_counter()
    runs, found, missed = 0, [], []
    for name, scenario, options, outcome in MUST_FAIL:
        report = explore(scenario, FOLDER, options)
        runs += sum(row.runs for row in report.rows)
        told = [one for one in report.told if str(one.verdict.outcome) == outcome]
        if told:
            least = min(len(one.verdict.choices) for one in told)
            found.append(f"{name} ({outcome}, {least} choice{'' if least == 1 else 's'})")
        else:
            missed.append(name)
    seconds = time.perf_counter() - begun
    print(f"the document's code: {runs} runs in {seconds:.1f} s; found {'; '.join(found)}")
    for name in missed:
        print(f"  NOT FOUND: {name}")
    return not missed


def holding_line(name: str, explored: Explored) -> bool:
    """A subject that has to hold."""
    begun = time.perf_counter()
    whole = Report()
    for scenario, options in explored:
        whole.add(explore(scenario, FOLDER, options))
    runs = sum(row.runs for row in whole.rows)
    merged = sum(row.merged for row in whole.rows)
    points = sum(
        max(row.points for row in whole.rows if row.subject == scenario.title)
        for scenario, _ in explored
    )
    ended = "everything held" if whole.is_clean else "NOT CLEAN"
    seconds = time.perf_counter() - begun
    print(
        f"{name}: {points} points, {runs} runs and {merged} equal ones in {seconds:.1f} s; {ended}"
    )
    for one in whole.told:
        print(f"  {one.verdict.outcome}: {one.verdict.findings[0].text}\n    {one.command}")
    return whole.is_clean


def mutants_line() -> bool:
    """Our own library without one of its protections, ten times."""
    begun = time.perf_counter()
    runs, missed = 0, []
    for mutant in MUTANTS:
        with pytest.MonkeyPatch.context() as patch:
            mutant.break_it(patch)
            report = explore(mutant.scenario, FOLDER, Options(**mutant.options))
        runs += sum(row.runs for row in report.rows)
        if report.is_clean:
            missed.append(mutant.break_it.__name__)
    seconds = time.perf_counter() - begun
    caught = len(MUTANTS) - len(missed)
    print(f"mutants: {caught} of {len(MUTANTS)} caught in {runs} runs and {seconds:.1f} s")
    for name in missed:
        print(f"  NOT CAUGHT: {name}")
    return not missed


def main() -> int:
    """0 only if all is as it must be."""
    held = [document_line()]
    held += [holding_line(name, explored) for name, explored in MUST_HOLD]
    held.append(mutants_line())
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
