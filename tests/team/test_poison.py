"""What kills or beats everyone who tries it: bounded tries, then it is given up in the open."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conftest import Freeze
from tests.team.world import Team, claimed, finished

from edgestate.team import (
    Done,
    SagaDefinition,
    Sagas,
    SagaStep,
    StepCall,
    UnknownSaga,
)

pytestmark = pytest.mark.anyio


class Killed(BaseException):
    """The isolate dies: nothing after this line happens in it."""


# --- work that is given back, and goals that are rolled back ---


async def test_a_task_that_is_always_given_back_is_set_aside_in_the_end(team: Team) -> None:
    await team.goal("a")
    worker = await team.worker()
    for _ in range(5):
        await worker.board.release(await claimed(worker), reason="the model does not answer")

    nothing = await worker.board.claim()
    seen = await worker.board.look()
    dead = await worker.board.set_aside()

    assert (nothing, seen, dead) == (None, [], ["a"])
    assert (await worker.board.task("a")).reason == "claimed 5 times without a result"


async def test_a_goal_that_was_reached_is_open_again_after_it_is_rolled_back(team: Team) -> None:
    await finished(team, "a", "b")
    planner, critic = await team.planner(), await team.critic()
    for task in await critic.reviews.open():
        await critic.reviews.accept(task, reason="right")
    await planner.board.complete(await claimed(planner), "report", summary="all")
    await team.run("UPDATE task_snapshots SET payload = payload || ' ' WHERE version > 1")

    restored = await planner.snapshots.restore("goal")
    cycle = (await planner.board.task("goal")).cycle
    await planner.snapshots.roll_back(cycle, restored, reason="the newer ones are damaged")

    tasks = {
        task.task_id: (task.status, task.attempt) for task in await planner.board.tasks("goal")
    }
    again = sorted(set(tasks) - set(restored.completed))
    assert restored.version == 1
    assert tasks["goal"] == ("pending", 2)
    assert all(tasks[name] == ("pending", 2) for name in again)
    assert await planner.board.claim() is None


async def test_what_was_done_again_after_a_snapshot_is_undone_too(team: Team) -> None:
    await finished(team, "a")
    planner, worker, critic = await team.planner(), await team.worker(), await team.critic()
    await critic.reviews.reject((await critic.reviews.open())[0], reason="once more")
    await worker.board.complete(await claimed(worker), 2, summary="two")
    await team.run("UPDATE task_snapshots SET payload = payload || ' ' WHERE version = 2")

    restored = await planner.snapshots.restore("goal")
    cycle = (await planner.board.task("goal")).cycle
    await planner.snapshots.roll_back(cycle, restored, reason="the newest is damaged")

    task = await planner.board.task("a")
    assert (restored.completed, restored.broken) == ({"a": 1}, ((2, "its checksum is wrong"),))
    assert (task.status, task.attempt) == ("pending", 3)


# --- sagas that kill, and that are not what they were ---


@pytest.mark.parametrize("deadly", ["one", "undo one"])
async def test_a_step_that_kills_its_isolate_every_time_is_given_up(
    team: Team, deadly: str, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    tries: list[str] = []

    def action(name: str) -> Any:
        async def act(call: StepCall) -> Done:
            tries.append(name)
            if name == deadly:
                raise Killed
            if name == "two":
                raise OSError("busy")
            return Done(1)

        return act

    definition = SagaDefinition(
        "s",
        tuple(SagaStep(n, action(n), f"undo {n}", action(f"undo {n}")) for n in ("one", "two")),
        max_attempts=3,
        max_compensation_attempts=4,
    )
    saga_id = await Sagas((await team.worker()).desk, [definition]).start("s", None)

    status = "running"
    for _ in range(20):
        clock.tick(120)
        try:
            status = await Sagas((await team.worker()).desk, [definition]).run(saga_id)
        except Killed:
            continue

    letters = await team.rows("SELECT ref, reason FROM dead_letters")
    if deadly == "one":
        assert (status, tries, letters) == ("compensated", ["one"] * 3 + ["undo one"], [])
    else:
        assert (status, tries.count("undo one")) == ("dead", 4)
        assert letters == [
            {"ref": saga_id, "reason": "undo one failed 4 times: the isolate ended with it"}
        ]


async def test_a_saga_that_was_started_with_other_steps_is_not_guessed_at(team: Team) -> None:
    async def act(_call: StepCall) -> Done:
        return Done(1)

    desk = (await team.worker()).desk
    saga_id = await Sagas(desk, [SagaDefinition("s", (SagaStep("one", act),))]).start("s", None)

    for steps in (
        (SagaStep("one", act), SagaStep("two", act)),
        (SagaStep("another", act),),
        (),
    ):
        with pytest.raises(UnknownSaga, match="other steps"):
            await Sagas(desk, [SagaDefinition("s", steps)]).run(saga_id)


def test_a_compensation_has_a_name_and_an_action() -> None:
    async def act(_call: StepCall) -> Done:
        return Done(1)

    with pytest.raises(ValueError, match="name and action"):
        SagaStep("one", act, "undo one")
    with pytest.raises(ValueError, match="name and action"):
        SagaStep("one", act, compensate=act)
