"""The reference worker, `edgestate` and `edgestate.team` hold under everything."""

from __future__ import annotations

import pytest
from tests.explore.scenarios import tasks, team, trip

from localedge.explore import Scenario
from localedge.explore.fixture import Explore


def test_a_trip_is_booked_once_whatever_its_workers_die_of(explore: Explore) -> None:
    report = explore(trip.trip, crash=True, stale=True)

    assert report.rows[0].points == 18
    assert report.rows[0].runs + report.rows[0].merged > 300
    assert report.rows[0].counts["ASKED"] > 0


def test_a_trip_that_two_devices_order_at_once_is_one_trip(explore: Explore) -> None:
    report = explore(trip.twice, race=True)

    assert report.rows[0].runs > 100


@pytest.mark.parametrize(
    "scenario", [tasks.idempotent, tasks.non_idempotent], ids=lambda one: one.title
)
def test_no_two_deaths_lose_or_repeat_anything(scenario: Scenario, explore: Explore) -> None:
    report = explore(scenario, crash=True, depth=2)

    assert report.rows[0].runs > 200


def test_two_requests_for_one_task_do_its_steps_once(explore: Explore) -> None:
    explore(tasks.twice, race=True)


@pytest.mark.parametrize("scenario", [team.team, team.team_at_once], ids=lambda one: one.title)
def test_a_team_does_every_task_once(scenario: Scenario, explore: Explore) -> None:
    report = explore(scenario)

    assert {row.kind for row in report.rows} == {"crash", "race, 2 preemptions", "stale reads"}
