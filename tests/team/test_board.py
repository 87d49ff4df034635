"""The board: claims, fences, results, history, snapshots, reviews."""

from __future__ import annotations

import asyncio

import pytest
from tests.conftest import Freeze
from tests.team.world import Team, claimed
from tests.waiting import wait_until

from edgestate import clock
from edgestate.errors import FenceLost, LeaseLost, VersionConflict
from edgestate.team import AccessDenied, CyclicPlan, Subtask, kept, lane_of
from localedge.errors import JsException

pytestmark = pytest.mark.anyio


async def test_a_task_goes_from_pending_to_accepted_with_result_and_history(team: Team) -> None:
    await team.goal("a")
    worker, critic = await team.worker(), await team.critic()

    held = await claimed(worker)
    await worker.board.complete(held, {"words": 3}, summary="three words")
    (open_task,) = await critic.reviews.open()
    await critic.reviews.accept(open_task, reason="it is right")

    task, result = await worker.board.task("a"), await worker.board.result("a")
    assert (task.status, task.review, task.attempt) == ("completed", "accepted", 1)
    assert result is not None
    assert (result.value, result.summary) == ({"words": 3}, "three words")
    rows = await team.rows("SELECT * FROM task_status_history WHERE task_id = 'a' ORDER BY seq")
    assert [row["version"] for row in rows] == [1, 2, 3, 4]
    assert [row["status"] for row in rows] == ["pending", "running", "completed", "completed"]


async def test_twenty_workers_at_once_claim_every_task_once(team: Team) -> None:
    names = [f"t{n}" for n in range(20)]
    await team.goal(*names)
    workers = [await team.worker(n) for n in range(1, 21)]

    held = await asyncio.gather(*(worker.board.claim() for worker in workers))

    assert sorted(h.task.task_id for h in held if h) == sorted(names)
    assert await workers[0].board.claim() is None


async def test_a_claim_that_is_sent_twice_claims_one_task(team: Team) -> None:
    await team.goal("a", "b")
    worker = await team.worker()

    first = await claimed(worker, request_id="claim-1")
    again = await claimed(worker, request_id="claim-1")

    assert first.task.task_id == again.task.task_id
    assert len(await worker.board.look()) == 1


async def test_a_worker_begins_with_its_own_lane(team: Team) -> None:
    await team.goal(*(f"t{n}" for n in range(16)))
    worker = await team.worker(3)

    held = await claimed(worker)

    assert held.task.lane == 2 == lane_of(held.task.task_id, 4)
    assert held.task.lane_count == 4


async def test_a_subtask_waits_for_what_it_is_after(team: Team) -> None:
    await team.goal(Subtask("a", "work"), Subtask("b", "work", after=("a",)))
    worker, critic = await team.worker(), await team.critic()

    held = await claimed(worker)
    nothing_yet = await worker.board.claim()
    await worker.board.complete(held, 1, summary="one")
    still_unreviewed = await worker.board.claim()
    (done,) = await critic.reviews.open()
    await critic.reviews.accept(done, reason="fine")
    second = await claimed(worker)

    assert (held.task.task_id, second.task.task_id) == ("a", "b")
    assert nothing_yet is None
    assert still_unreviewed is None


async def test_the_goal_is_the_planners_once_all_is_done(team: Team) -> None:
    await team.goal(Subtask("a", "work", needs_review=False))
    planner, worker = await team.planner(), await team.worker()

    too_early = await planner.board.claim()
    await worker.board.complete(await claimed(worker), 1, summary="one")
    held = await claimed(planner)

    assert too_early is None
    assert held.task.task_id == "goal"


async def test_a_goal_that_is_not_planned_yet_is_not_finished(team: Team) -> None:
    cycle = await team.goal()
    planner = await team.planner()

    too_early = await planner.board.claim()
    await planner.planning.plan(cycle, [Subtask("a", "work")], reason="one part")

    assert too_early is None
    assert [task.task_id for task in await planner.board.tasks("goal")] == ["goal", "a"]


async def test_a_lease_that_ran_out_is_taken_over_and_its_old_holder_is_fenced_off(
    team: Team, frozen: Freeze
) -> None:
    moved = frozen("2026-12-01T00:00:00Z")
    await team.goal("a")
    slow, quick = await team.worker(1), await team.worker(2)
    held = await claimed(slow, ttl_s=30)

    before = await quick.board.claim()
    moved.tick(30.001)
    taken = await claimed(quick, ttl_s=30)
    with pytest.raises(FenceLost):
        await slow.board.complete(held, "late", summary="late")
    with pytest.raises(LeaseLost):
        await slow.board.renew(held)
    await quick.board.complete(taken, "in time", summary="in time")

    assert before is None
    result = await slow.board.result("a")
    assert result is not None
    assert result.value == "in time"


async def test_a_renewed_lease_is_not_taken_over(team: Team, frozen: Freeze) -> None:
    moved = frozen("2026-12-01T00:00:00Z")
    await team.goal("a")
    slow, quick = await team.worker(1), await team.worker(2)
    held = await claimed(slow, ttl_s=30)

    moved.tick(20)
    held = await slow.board.renew(held)
    moved.tick(20)
    other = await quick.board.claim()
    await slow.board.complete(held, "done", summary="done")

    assert other is None


async def test_completing_twice_gives_one_result_and_the_same_answer(team: Team) -> None:
    await team.goal("a")
    worker = await team.worker()
    held = await claimed(worker)

    for _ in range(10):
        await worker.board.complete(held, 1, summary="one")

    assert len(await team.rows("SELECT * FROM task_results")) == 1


async def test_a_rejected_task_is_done_again_and_keeps_both_results(team: Team) -> None:
    await team.goal("a")
    worker, critic = await team.worker(), await team.critic()

    await worker.board.complete(await claimed(worker), "thin", summary="thin")
    (done,) = await critic.reviews.open()
    await critic.reviews.reject(done, reason="too thin")
    again = await claimed(worker)
    await worker.board.complete(again, "thick", summary="thick")

    assert again.task.attempt == 2
    rows = await team.rows("SELECT attempt, result FROM task_results ORDER BY attempt")
    assert [(row["attempt"], row["result"]) for row in rows] == [(1, '"thin"'), (2, '"thick"')]
    decisions = await worker.decisions.of("a")
    assert [(d.decision, d.reason) for d in decisions] == [("rejected", "too thin")]


async def test_a_task_rejected_too_often_is_a_dead_letter_that_says_why(team: Team) -> None:
    await team.goal("a")
    worker, critic = await team.worker(), await team.critic()

    for _ in range(2):
        await worker.board.complete(await claimed(worker), "thin", summary="thin")
        (done,) = await critic.reviews.open()
        await critic.reviews.reject(done, reason="too thin", max_attempts=2)

    (letter,) = await team.rows("SELECT * FROM dead_letters")
    assert (letter["ref"], letter["reason"]) == ("a", "rejected 2 times: too thin")
    assert (await worker.board.task("a")).status == "failed"


async def test_a_task_that_kills_its_workers_is_set_aside_and_the_next_goes_on(
    team: Team, frozen: Freeze
) -> None:
    moved = frozen("2026-12-01T00:00:00Z")
    await team.goal("poison", "good")
    worker = await team.worker()

    first = [await claimed(worker, ttl_s=10) for _ in range(2)]
    good = next(held for held in first if held.task.task_id == "good")
    await worker.board.complete(good, 1, summary="one")
    for _ in range(4):
        moved.tick(11)
        await claimed(worker, ttl_s=10)
    moved.tick(11)
    left_alone = await worker.board.claim()
    dead = await worker.board.set_aside()

    assert left_alone is None
    assert dead == ["poison"]
    assert (await worker.board.task("poison")).reason == "claimed 5 times without a result"


async def test_only_one_of_two_that_saw_the_same_version_takes_the_task(team: Team) -> None:
    await team.goal("a")
    one, two = await team.worker(1), await team.worker(2)
    ((task_id, version),) = await one.board.look()

    await one.board.take(task_id, version)
    with pytest.raises(VersionConflict):
        await two.board.take(task_id, version)

    counters = {r["name"]: r["value"] for r in await team.rows("SELECT * FROM team_counters")}
    assert counters["conflicts"] == 1


async def test_what_still_waits_is_not_shown_and_cannot_be_taken(team: Team) -> None:
    await team.goal(Subtask("a", "work"), Subtask("b", "work", after=("a",)))
    worker, planner = await team.worker(), await team.planner()

    with pytest.raises(VersionConflict):
        await worker.board.take("b", 1)
    with pytest.raises(VersionConflict):
        await planner.board.take("goal", 1)

    assert await worker.board.look() == [("a", 1)]
    assert await planner.board.look() == []


@pytest.mark.parametrize(
    ("subtasks", "why"),
    [
        ([Subtask("a", "w", after=("b",)), Subtask("b", "w", after=("a",))], "wait for each other"),
        ([Subtask("a", "w", after=("a",))], "wait for each other"),
        ([Subtask("a", "w", after=("no",))], "not planned"),
        ([Subtask("a", "w"), Subtask("a", "w")], "planned twice"),
        ([Subtask("goal", "w")], "exist already"),
    ],
)
async def test_a_plan_that_cannot_end_is_refused_whole(
    team: Team, subtasks: list[Subtask], why: str
) -> None:
    cycle = await team.goal()
    planner = await team.planner()

    with pytest.raises(CyclicPlan, match=why):
        await planner.planning.plan(cycle, [Subtask("fine", "w"), *subtasks], reason="it seems")

    assert [task.task_id for task in await planner.board.tasks("goal")] == ["goal"]


async def test_only_the_planner_plans_and_only_the_critic_judges(team: Team) -> None:
    cycle = await team.goal("a")
    worker = await team.worker()
    await worker.board.complete(await claimed(worker), 1, summary="one")
    done = await worker.board.task("a")

    with pytest.raises(AccessDenied):
        await worker.planning.plan(cycle, [Subtask("mine", "w")], reason="I want it")
    with pytest.raises(AccessDenied):
        await worker.reviews.accept(done, reason="I like it")

    denials = await team.rows("SELECT agent_id, operation FROM access_denials")
    assert [(d["agent_id"], d["operation"]) for d in denials] == [
        ("worker-1", "plan"),
        ("worker-1", "accepted"),
    ]


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("UPDATE task_status SET status = 'completed' WHERE task_id = 'a'", "agent_"),
        (
            "UPDATE task_status SET status = 'completed', version = version + 1 "
            "WHERE task_id = 'b'",
            "agent_result_missing",
        ),
        ("UPDATE task_status SET fence = fence - 1 WHERE task_id = 'b'", "agent_transition"),
        ("UPDATE task_status SET version = version + 2", "agent_transition"),
        ("UPDATE task_status SET fence = fence + 1", "agent_transition"),
        ("DELETE FROM task_status", "agent_append_only"),
        ("REPLACE INTO task_status SELECT * FROM task_status", "agent_append_only"),
        ("DELETE FROM task_status_history", "agent_append_only"),
        ("UPDATE task_status_history SET status = 'failed'", "agent_append_only"),
        ("REPLACE INTO task_status_history SELECT * FROM task_status_history", "append_only"),
        (
            "INSERT INTO task_results (task_id, attempt, result_summary, result, agent_id, fence, "
            "created_at, trace_id) VALUES ('a', 1, '', '1', 'worker-1', 0, 0, 't')",
            "agent_transition_refused",
        ),
        ("INSERT INTO agent_guard VALUES ('something else')", "agent_guard_unknown"),
        ("UPDATE team_agents SET role = 'worker' WHERE role = 'planner'", "identity_fixed"),
    ],
)
async def test_the_database_refuses_what_must_not_be(team: Team, sql: str, text: str) -> None:
    await team.goal("a", "b")
    await claimed(await team.worker(2))
    running = (await team.rows("SELECT task_id FROM task_status WHERE status = 'running'"))[0]
    other = "a" if running["task_id"] == "b" else "b"
    sql = sql.replace("'b'", f"'{running['task_id']}'").replace("('a'", f"('{other}'")

    with pytest.raises(JsException, match=text):
        await team.run(sql)


async def test_work_that_takes_longer_than_its_lease_runs_once(team: Team) -> None:
    await team.goal("a")
    worker, other = await team.worker(1), await team.worker(2)
    held = await claimed(worker, ttl_s=0.6)

    async def work() -> str:
        async def is_past_its_first_end() -> bool:
            assert await other.board.claim() is None
            return clock.now() > held.expires_at + 0.6

        await wait_until(is_past_its_first_end)
        return "long"

    value = await kept(worker.board, held, work)
    await worker.board.complete(held, value, summary="long")

    result = await other.board.result("a")
    assert result is not None
    assert result.agent_id == "worker-1"


async def test_work_stops_when_the_task_is_anothers(team: Team) -> None:
    cycle = await team.goal("a")
    planner, worker = await team.planner(), await team.worker()
    held = await claimed(worker, ttl_s=0.1)
    await planner.contexts.freeze_context("goal", 2, context="new")
    await planner.planning.rebase((await planner.board.task("goal")).cycle, reason="new")
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    with pytest.raises(LeaseLost):
        await kept(worker.board, held, work)

    assert (ended, cycle.version) == (["cancelled"], 1)


@pytest.mark.parametrize("ttl_s", [0, -1, float("nan")])
async def test_a_lease_lasts_more_than_no_time(team: Team, ttl_s: float) -> None:
    await team.goal("a", "b")
    worker = await team.worker()
    held = await claimed(worker)

    with pytest.raises(ValueError, match="more than 0 s"):
        await worker.board.renew(held, ttl_s=ttl_s)
    with pytest.raises(ValueError, match="more than 0 s"):
        await worker.board.claim(ttl_s=ttl_s)

    await worker.board.renew(held)


@pytest.mark.parametrize(
    "task_id", ["x" * 512, "'; DROP TABLE task_status; --", "任务 1", "a/b:c%d"]
)
async def test_odd_ids_are_ids_like_any_other(team: Team, task_id: str) -> None:
    await team.goal(Subtask("a", "work"), task_id=task_id + "g" if len(task_id) < 512 else "goal")
    planner, worker, critic = await team.planner(), await team.worker(), await team.critic()
    await team.goal(Subtask(task_id, "work"), task_id="other")

    for _ in range(2):
        await worker.board.complete(await claimed(worker), 1, summary="one")
    for task in await critic.reviews.open():
        await critic.reviews.accept(task, reason="right")

    assert (await planner.board.task(task_id)).review == "accepted"
