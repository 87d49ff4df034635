"""Runs that begin in the middle, at random, from a file: always the same run."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.explore.scenarios import document, tasks

from localedge.cli import explore as cli
from localedge.explore import Outcome
from localedge.explore.choices import DEATHS, Choice, Do, from_json, to_json
from localedge.explore.crashes import Crashes, Share
from localedge.explore.exploring import Options, explore, replayed
from localedge.explore.fixture import Explore
from localedge.explore.fuzz import fuzzed, shrunk
from localedge.explore.lab import opened
from localedge.explore.report_data import as_json, as_junit
from localedge.explore.report_html import as_html

HERE = Path(__file__).parent
FILE = HERE / "scenarios" / "document.py"


def test_a_run_that_goes_on_from_a_death_is_the_run_that_dies_there() -> None:
    with opened(tasks.non_idempotent, HERE) as lab:
        verdicts = list(Crashes(lab, modes=DEATHS).runs(Share()))
        live = [replayed(lab, verdict.choices)[0] for verdict in verdicts]

    assert len(verdicts) > 20
    assert live == verdicts


def test_a_second_death_is_reached_by_its_choices_too() -> None:
    with opened(tasks.idempotent, HERE) as lab:
        verdicts = [v for v in Crashes(lab, 2, DEATHS).runs(Share()) if len(v.choices) == 2][::7]
        live = [replayed(lab, verdict.choices)[0] for verdict in verdicts]

    assert len(verdicts) > 20
    assert live == verdicts


def test_shares_of_the_work_together_find_what_one_process_finds() -> None:
    alone = explore(document.effects, HERE, Options(crash=True))
    shared = explore(document.effects, HERE, Options(crash=True, jobs=2))

    assert alone.rows[0].runs + alone.rows[0].merged <= shared.rows[0].runs + shared.rows[0].merged
    assert {v.outcome for v in shared.rows[0].failures} == {Outcome.DUPLICATE}


def test_a_random_run_is_made_again_by_its_choices() -> None:
    with opened(tasks.twice, HERE) as lab:
        verdicts = list(fuzzed(lab, seed=7, seconds=0, runs=25))
        again = [replayed(lab, verdict.choices)[0] for verdict in verdicts]

    assert any(len(verdict.choices) > 2 for verdict in verdicts)
    assert again == verdicts


def test_the_same_seed_makes_the_same_random_runs() -> None:
    found = []
    for _ in range(2):
        with opened(tasks.twice, HERE) as lab:
            found.append(list(fuzzed(lab, seed=3, seconds=0, runs=10)))

    assert found[0] == found[1]


def test_a_random_failure_is_reduced_to_what_it_needs() -> None:
    with opened(document.lock, HERE) as lab:
        failing = next(
            verdict
            for verdict in fuzzed(lab, seed=0, seconds=0, runs=200)
            if verdict.outcome is Outcome.DIVERGED and len(verdict.choices) > 4
        )
        small = shrunk(failing, lab)
        fewer = [small.choices[:n] + small.choices[n + 1 :] for n in range(len(small.choices))]
        without = [replayed(lab, choices)[0].outcome for choices in fewer]

    assert small.outcome is Outcome.DIVERGED
    assert len(small.choices) < len(failing.choices)
    assert Outcome.DIVERGED not in without


def test_random_runs_of_our_own_tasks_hold(explore: Explore) -> None:
    report = explore(tasks.twice, fuzz_runs=60)

    assert report.rows[0].runs == 60


def test_choices_survive_json() -> None:
    choices = (Choice(3, Do.LATE, 9), Choice(4, Do.STALE, 1, 2), Choice(7, Do.AFTER))

    assert from_json(to_json(choices)) == choices


# --- reports ---


def test_a_report_is_json_junit_and_a_page_with_drawings(explore: Explore) -> None:
    report = explore.report(document.lock, race=True)

    data = json.loads(as_json(report))
    suites = ElementTree.fromstring(as_junit(report))
    page = as_html(report)

    assert data["clean"] is False
    assert data["failures"][0]["verdict"]["outcome"] == "DIVERGED"
    assert data["failures"][0]["story"][0]["kind"] == "begin"
    assert suites.find("testsuite/testcase/failure") is not None
    assert "<svg" in page
    assert "worker 2" in page


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "localedge.cli", "explore", str(FILE), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=HERE.parents[1],
    )


def test_the_command_that_a_report_prints_shows_the_failure_again() -> None:
    found = command("--scenario", "lock", "--race", "--json")
    replay = json.loads(found.stdout)["failures"][0]["verdict"]["choices"]

    again = command("--scenario", "lock", "--replay", json.dumps(replay))

    assert (found.returncode, again.returncode) == (1, 1)
    assert again.stdout.startswith("DIVERGED  lock (one run): ")
    assert "DIVERGED: b has the lock while a has it" in again.stdout


def test_one_point_in_one_mode_is_one_run() -> None:
    done = command("--scenario", "effects", "--point", "2", "--mode", "after")

    assert done.returncode == 1
    assert "dies after tool step 0" in done.stdout
    assert "DUPLICATE: step 0 happened 2 times" in done.stdout


def test_a_point_that_the_run_never_comes_to_is_refused() -> None:
    done = command("--scenario", "effects", "--point", "99")

    assert done.returncode == 2
    assert "nothing was done at point 99: the run has 10 points" in done.stderr


@pytest.mark.parametrize(("is_terminal", "each_s"), [(True, 1.0), (False, 10.0)])
def test_progress_is_told_from_time_to_time(
    is_terminal: bool, each_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return is_terminal

    now_s = 100.0
    monkeypatch.setattr(cli, "_clock", lambda: now_s)
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    progress = cli._Progress()

    progress.tell("crash", 1, 0)
    now_s += each_s
    progress.tell("crash", 250, 3)
    progress.end()

    assert screen.getvalue().count("crash: ") == 1
    assert "crash: 250 runs, 3 failed" in screen.getvalue()


def test_a_clean_exploration_ends_with_0_and_one_with_bad_options_with_2() -> None:
    clean = command("--scenario", "version", "--crash")
    unknown = command("--scenario", "version", "--point", "1", "--mode", "sideways")

    assert (clean.returncode, unknown.returncode) == (0, 2)
    assert "everything held" in clean.stdout
    assert "there is no mode 'sideways'" in unknown.stderr
