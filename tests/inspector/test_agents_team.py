"""What the page shows of a team is what its database has, and a dead letter goes back once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.edgestate.world import d1_binding
from tests.team.world import PATIENT, Team, claimed

from edgestate import clock
from edgestate.team import (
    D1Record,
    Done,
    NoDeadLetter,
    SagaDefinition,
    Sagas,
    SagaStep,
    SagaStepFailed,
    StepCall,
)
from localedge.errors import OperatorError
from localedge.inspector import team_data as data

pytestmark = pytest.mark.anyio


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Team]:
    async with d1_binding(tmp_path / "team.sqlite") as db:
        yield Team(db, D1Record(db, deadlines=PATIENT))


async def rejected_too_often(team: Team) -> None:
    """Subtask "a" of goal "goal" was given up."""
    await team.goal("a")
    worker, critic = await team.worker(), await team.critic()
    for _ in range(2):
        await worker.board.complete(await claimed(worker), "thin", summary="thin")
        (done,) = await critic.reviews.open()
        await critic.reviews.reject(done, reason="too thin", max_attempts=2)


async def test_the_board_shows_goals_with_their_tasks_and_who_has_them(team: Team) -> None:
    await team.goal("a")
    worker = await team.worker()
    await worker.roster.beat(task_id="a", load=0.5)
    held = await claimed(worker, ttl_s=30)

    shown = await data.team(team.db, now_ms=clock.now_ms())

    goal, task = shown.board
    assert (goal.task_id, goal.root_id) == ("goal", "goal")
    assert (task.task_id, task.root_id, task.status) == ("a", "goal", "running")
    assert task.lease_holder is not None
    assert (task.fence, 29_000 < task.lease_left_ms <= 30_000) == (held.task.fence, True)
    members = {member.agent_id: member for member in shown.members}
    assert (members["worker-1"].load, members["planner"].role) == (0.5, "planner")
    assert members["worker-1"].seen_ms_ago is not None


async def test_leases_on_team_tasks_are_listed(team: Team) -> None:
    await team.goal("a")
    worker = await team.worker()
    await claimed(worker, ttl_s=30)

    (lease,) = await data.leases(team.db, now_ms=clock.now_ms())

    assert (lease.kind, lease.id, lease.fence) == ("team task", "a", 1)


async def test_the_life_of_a_goal_runs_across_all_its_agents_in_order(team: Team) -> None:
    await rejected_too_often(team)

    shown = await data.life(team.db, "goal")

    assert set(shown.agents) == {"planner", "worker-1", "critic"}
    assert [event.seq for event in shown.events] == sorted(event.seq for event in shown.events)
    kinds = [event.kind for event in shown.events]
    assert kinds.index("task running") < kinds.index("result") < kinds.index("dead letter")
    assert not shown.is_cut


async def test_an_id_that_nobody_knows_is_named(team: Team) -> None:
    with pytest.raises(OperatorError, match="nothing is known of nowhere"):
        await data.life(team.db, "nowhere")


async def test_a_dead_letter_goes_back_once(team: Team) -> None:
    await rejected_too_often(team)
    (letter,) = (await data.team(team.db, now_ms=0)).dead_letters

    await data.requeue(team.db, letter.id)

    with pytest.raises(NoDeadLetter):
        await data.requeue(team.db, letter.id)
    shown = await data.team(team.db, now_ms=0)
    assert [t.status for t in shown.board if t.task_id == "a"] == ["pending"]
    assert shown.dead_letters[0].requeued_at is not None


async def test_a_team_without_a_planner_takes_nothing_back(team: Team) -> None:
    await team.worker()

    with pytest.raises(OperatorError, match="no planner"):
        await data.requeue(team.db, 1)


async def test_a_saga_is_shown_with_each_step_forward_and_back(team: Team) -> None:
    async def book(_call: StepCall) -> Done:
        return Done({"seat": "4A"})

    async def refuse(_call: StepCall) -> Done:
        raise SagaStepFailed("declined", "the card was declined")

    planner = await team.planner()
    trip = SagaDefinition(
        "trip",
        (
            SagaStep("book", book, "cancel", book),
            SagaStep("pay", refuse, None, None),
        ),
    )
    sagas = Sagas(planner.desk, [trip])
    await sagas.run(await sagas.start("trip", {"to": "LIS"}, saga_id="saga-1"))

    (saga,) = (await data.team(team.db, now_ms=clock.now_ms())).sagas

    assert (saga.saga_id, saga.status, saga.failure) == ("saga-1", "compensated", "declined")
    assert [(s.name, s.status, s.compensation) for s in saga.steps] == [
        ("book", "compensated", "cancel"),
        ("pay", "failed", None),
    ]
    assert saga.steps[0].result == {"seat": "4A"}
