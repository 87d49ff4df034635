"""The five symptoms of the document: each is found, with the rows that show it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conftest import Freeze
from tests.team.world import SlowDatabase, Team, claimed, damage, finished

from edgestate.team import (
    Subtask,
    examine,
)

pytestmark = pytest.mark.anyio


def _found(symptoms: list[Any]) -> dict[str, list[str]]:
    return {s.key: [e.says for e in s.evidence] for s in symptoms if s.is_found}


async def test_a_healthy_team_shows_none_of_the_five_symptoms(team: Team) -> None:
    await finished(team, "a", "b")

    symptoms = await examine(team.record)

    assert [s.key for s in symptoms] == [
        "stale",
        "flapping",
        "no-result",
        "repeated",
        "unrestorable",
    ]
    assert _found(symptoms) == {}


async def test_an_agent_that_never_gets_the_new_state_is_found(
    cached_team: tuple[Team, SlowDatabase], frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    team, _ = cached_team
    await team.goal("a")
    planner, worker = await team.planner(), await team.worker()
    await worker.task_view("a")
    await planner.messages.send("worker-1", "note", "unread")
    await claimed(worker)
    await planner.contexts.freeze_context("goal", 2, context="newer")

    clock.tick(301)
    found = _found(await examine(team.record, kv=team.kv))

    assert found == {
        "stale": [
            "messages wait for longer than five minutes",
            "tasks stand under a context that is not the newest",
            "the cache has another version than the database",
        ]
    }


async def test_a_status_that_flaps_and_a_write_past_the_library_are_found(team: Team) -> None:
    await team.goal("a")
    worker, critic = await team.worker(), await team.critic()
    for _ in range(4):
        await worker.board.complete(await claimed(worker), 1, summary="one")
        await critic.reviews.reject((await critic.reviews.open())[0], reason="again")
    await team.run("DROP TRIGGER task_status_versions")
    await team.run("UPDATE task_status SET status = 'failed' WHERE task_id = 'a'")

    symptoms = await examine(team.record)

    assert _found(symptoms)["flapping"] == [
        "tasks went back or changed hands often",
        "history does not lead to the stored state",
    ]
    assert symptoms[1].evidence[0].rows[0]["task_id"] == "a"


async def test_a_completed_task_without_result_is_found(team: Team) -> None:
    await team.goal("a")
    await claimed(await team.worker())
    await team.run("DROP TRIGGER task_status_with_result")
    await team.run(
        "UPDATE task_status SET status = 'completed', version = version + 1 WHERE task_id = 'a'"
    )

    symptoms = await examine(team.record)

    assert _found(symptoms)["no-result"] == ["completed, and no result of that attempt"]
    assert "the database lacks a protection" in _found(symptoms)["repeated"]


async def test_work_that_is_there_twice_is_found(team: Team) -> None:
    await team.goal(Subtask("a", "work", {"file": 1}), Subtask("b", "work", {"file": 1}))
    planner, _ = await team.planner(), await team.worker()
    for _ in range(2):
        await planner.messages.send("worker-1", "note", "same", correlation_id="c")

    found = _found(await examine(team.record))

    assert found["repeated"] == [
        "the same work was planned twice",
        "the same message was sent twice",
    ]


async def test_a_snapshot_with_a_flipped_byte_is_found_with_the_whole_one_before_it(
    team: Team,
) -> None:
    await finished(team, "a", "b")
    await damage(team, 2)

    (broken,) = (await examine(team.record))[4].evidence

    assert broken.rows == [
        {"task_id": "goal", "version": 2, "why": "its checksum is wrong", "newest_whole": 1}
    ]
