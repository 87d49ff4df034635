"""The first seed document's own code: each of its faults is found, named and made small."""

from __future__ import annotations

import pytest
from tests.explore.scenarios import document

from localedge.explore import Outcome, Scenario
from localedge.explore.exploring import Told, replayed
from localedge.explore.fixture import ExplorationFailed, Explore
from localedge.explore.lab import opened
from localedge.explore.races import switches


def found(explore: Explore, scenario: Scenario, outcome: Outcome, **options: object) -> Told:
    """The failure of this class that needs fewest choices."""
    report = explore.report(scenario, **options)
    told = [one for one in report.told if one.verdict.outcome is outcome]
    assert told, f"none is {outcome}: {[row.counts for row in report.rows]}"
    return min(told, key=lambda one: len(one.verdict.choices))


def test_the_lock_that_is_none_is_found_in_at_most_six_switches(explore: Explore) -> None:
    told = found(explore, document.lock, Outcome.DIVERGED, race=True)

    with opened(document.lock, explore.folder) as lab:
        count = switches(told.verdict, lab)
    assert told.verdict.findings[0].text == "b has the lock while a has it"
    assert 1 <= count <= 6
    assert len(told.verdict.choices) == 1


def test_both_writers_of_one_version_succeed_and_one_is_lost(explore: Explore) -> None:
    told = found(explore, document.version, Outcome.LOST, race=True)

    assert "2 writers of one version" in told.verdict.findings[0].text
    assert len(told.verdict.choices) == 1


def test_the_index_loses_a_task_that_is_saved_at_the_same_time(explore: Explore) -> None:
    told = found(explore, document.task_index, Outcome.LOST, race=True)

    assert told.verdict.findings[0].text.startswith("the index has lost")
    assert len(told.verdict.choices) == 1


def test_the_index_loses_a_task_to_a_stale_read(explore: Explore) -> None:
    told = found(explore, document.index_later, Outcome.LOST, stale=True)

    assert [str(choice.do) for choice in told.verdict.choices] == ["stale"]


def test_the_completion_is_never_stored_though_nothing_was_done_to_the_worker(
    explore: Explore,
) -> None:
    told = found(explore, document.completion, Outcome.LOST, crash=True)

    assert told.verdict.choices == ()
    assert told.verdict.findings[0].text == "the task is done and stored as planned"


def test_most_deaths_repeat_effects(explore: Explore) -> None:
    report = explore.report(document.effects, crash=True)

    (row,) = report.rows
    assert row.counts["DUPLICATE"] > row.runs / 2
    assert {str(verdict.outcome) for verdict in row.failures} == {"DUPLICATE"}


def test_a_failing_exploration_fails_its_test_with_the_story_and_the_command(
    explore: Explore,
) -> None:
    with pytest.raises(ExplorationFailed) as failed:
        explore(document.lock, race=True)

    text = str(failed.value)
    assert "DIVERGED  lock (race, 2 preemptions)" in text
    assert "b enters" in text
    assert "localedge explore document.py --scenario lock --replay" in text


def test_the_choices_of_a_failure_make_it_again(explore: Explore) -> None:
    told = found(explore, document.lock, Outcome.DIVERGED, race=True)

    with opened(document.lock, explore.folder) as lab:
        first, first_story = replayed(lab, told.verdict.choices)
    with opened(document.lock, explore.folder) as lab:
        again, second_story = replayed(lab, told.verdict.choices)

    assert (first.findings, first_story) == (again.findings, second_story)
    assert first.findings == told.verdict.findings
