"""The incidents that the documents tell of: each cannot happen, and happens without its protection.

The numbers in comments are those of row S2-2.
"""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from tests.conftest import Freeze
from tests.team.world import Team, claimed

from edgestate.errors import FenceLost, StateError, VersionConflict
from edgestate.team import (
    AlreadyConsumed,
    ContextConflictError,
    life_of,
    traced,
)
from edgestate.team.sql import board as board_sql
from edgestate.team.sql import messages as messages_sql
from edgestate.team.sql import writing
from localedge.errors import JsException

pytestmark = pytest.mark.anyio
NO_GUARD = "SELECT ?1, ?2, ?3"
NO_SIMPLE_GUARD = "SELECT 1"


class Edge:
    """Takes protections away: in the statements, and in the database."""

    def __init__(self, team: Team, patch: pytest.MonkeyPatch) -> None:
        self._team = team
        self._patch = patch

    def without(self, module: Any, name: str, text: str) -> None:
        self._patch.setattr(module, name, text)

    async def without_trigger(self, *names: str) -> None:
        for name in names:
            await self._team.run(f"DROP TRIGGER {name}")


@pytest.fixture
def bare(team: Team, monkeypatch: pytest.MonkeyPatch) -> Edge:
    return Edge(team, monkeypatch)


# --- 1: A believes that B has finished ---


async def half_done(team: Team) -> tuple[str, object]:
    """B says that it completed, and dies before it writes the result: what A sees."""
    await team.goal("a")
    b, a = await team.worker(1), await team.planner()
    held = await claimed(b)
    update = (
        "UPDATE task_status SET status = 'completed', version = version + 1 "
        f"WHERE task_id = 'a' AND fence = {held.task.fence}"
    )
    with contextlib.suppress(JsException):
        await team.run(update)
    return (await a.board.task("a")).status, await a.board.result("a")


async def test_nobody_believes_that_a_task_is_finished_that_has_no_result(team: Team) -> None:
    status, result = await half_done(team)

    assert (status, result) == ("running", None)


async def test_without_its_trigger_a_task_is_finished_and_has_no_result(
    team: Team, bare: Edge
) -> None:
    await bare.without_trigger("task_status_with_result")

    status, result = await half_done(team)

    assert (status, result) == ("completed", None)


# --- 2: B never got the message ---


async def lost_delivery(team: Team) -> list[object]:
    """B dies after it got a message and before it acted on it: what its next life gets."""
    planner, b = await team.planner(), await team.worker()
    await planner.messages.send("worker-1", "order", "do it")
    await b.messages.poll()
    return [message.content for message in await (await team.worker()).messages.poll()]


async def test_a_message_that_nobody_acted_on_is_delivered_again(team: Team) -> None:
    assert await lost_delivery(team) == ["do it"]


async def test_if_delivery_were_consumption_the_message_would_be_lost(
    team: Team, bare: Edge
) -> None:
    for name in ("POLL", "DELIVER"):
        text = getattr(messages_sql, name)
        bare.without(messages_sql, name, text.replace("AND d.consumed_at IS NOT NULL", ""))

    assert await lost_delivery(team) == []


# --- 3: C changes the shared configuration, D uses the old one ---


async def stale_setting(team: Team, *, heed: bool) -> object:
    """The setting that D works with after C changed it, D's copy being new enough by its clock."""
    await team.goal("a")
    c, d = await team.planner(), await team.worker()
    await c.settings.set("model", "small")
    await d.settings.get("model")
    await c.settings.set("model", "large", version=1)
    held = await claimed(d)
    if heed:
        d.settings.at_least(held.settings_revision)
    setting = await d.settings.get("model")
    assert setting is not None
    return setting.value


async def test_an_agent_works_with_settings_as_new_as_its_task(team: Team) -> None:
    assert await stale_setting(team, heed=True) == "large"


async def test_without_the_revision_of_its_task_an_agent_works_with_old_settings(
    team: Team,
) -> None:
    assert await stale_setting(team, heed=False) == "small"


# --- 4: a decision cannot be traced ---


async def test_every_decision_says_who_why_and_on_which_context(team: Team) -> None:
    with traced("t"):
        await team.goal("a")
    worker, critic = await team.worker(), await team.critic()
    await worker.board.complete(await claimed(worker), 1, summary="one")
    await critic.reviews.reject((await critic.reviews.open())[0], reason="no source is named")

    decisions = [event for event in await life_of(team.record, "t") if event.kind == "decision"]

    assert [(e.agent_id, e.detail["reason"], e.detail["context"]) for e in decisions] == [
        ("planner", "each can be done alone", 1),
        ("critic", "no source is named", 1),
    ]


async def test_a_verdict_whose_reason_cannot_be_stored_is_not_given(team: Team, bare: Edge) -> None:
    await team.goal("a")
    worker, critic = await team.worker(), await team.critic()
    await worker.board.complete(await claimed(worker), 1, summary="one")
    (task,) = await critic.reviews.open()
    bare.without(messages_sql, "DECIDE", messages_sql.DECIDE + " AND 1 = 0")

    with pytest.raises(VersionConflict):
        await critic.reviews.accept(task, reason="it is right")

    assert (await critic.board.task("a")).review == "open"


async def test_without_its_guard_a_verdict_is_given_that_nobody_can_trace(
    team: Team, bare: Edge
) -> None:
    await team.goal("a")
    worker, critic = await team.worker(), await team.critic()
    await worker.board.complete(await claimed(worker), 1, summary="one")
    (task,) = await critic.reviews.open()
    bare.without(messages_sql, "DECIDE", messages_sql.DECIDE + " AND 1 = 0")
    bare.without(messages_sql, "GUARD_DECIDED", NO_SIMPLE_GUARD)

    await critic.reviews.accept(task, reason="it is right")

    assert (await critic.board.task("a")).review == "accepted"
    assert await critic.decisions.of("a") == []


# --- 5: duplicate execution ---


async def executed(team: Team, frozen: Freeze) -> list[str]:
    """A's lease runs out while it works, B does the task: whose results are stored."""
    clock = frozen("2026-12-01T00:00:00Z")
    await team.goal("a")
    a, b = await team.worker(1), await team.worker(2)
    slow = await claimed(a, ttl_s=10)
    clock.tick(11)
    quick = await claimed(b, ttl_s=10)
    for member, held in ((b, quick), (a, slow)):
        try:
            await member.board.complete(held, member.id, summary=member.id)
        except (FenceLost, StateError):
            continue
    return [row["agent_id"] for row in await team.rows("SELECT agent_id FROM task_results")]


async def test_a_task_that_two_agents_worked_on_has_one_result(team: Team, frozen: Freeze) -> None:
    assert await executed(team, frozen) == ["worker-2"]


async def test_without_fence_and_uniqueness_a_task_has_the_results_of_both(
    team: Team, frozen: Freeze, bare: Edge
) -> None:
    await team.run("DROP TABLE task_results")
    await team.run(
        "CREATE TABLE task_results (task_id TEXT, attempt INTEGER, result_summary TEXT, "
        "result TEXT, agent_id TEXT, fence INTEGER, created_at INTEGER, trace_id TEXT)"
    )
    for name in ("PUT_RESULT", "COMPLETE"):
        text = getattr(board_sql, name)
        text = text.replace(
            "AND agent_id = ?2 AND fence = ?3 AND status = 'running'", "AND ?3 = ?3 AND ?2 = ?2"
        )
        bare.without(board_sql, name, text)

    assert await executed(team, frozen) == ["worker-2", "worker-1"]


# --- 6: contexts overwrite each other ---


async def overwritten(team: Team) -> str:
    """A worker finishes what was asked under the old context, after the planner froze a new one."""
    await team.goal("a")
    planner, worker = await team.planner(), await team.worker()
    held = await claimed(worker)
    await planner.contexts.freeze_context("goal", 2, context="what is wanted now")
    try:
        await worker.board.complete(held, "what was wanted then", summary="old")
    except ContextConflictError:
        return "refused"
    return "stored"


async def test_a_result_of_an_old_context_is_refused(team: Team) -> None:
    assert await overwritten(team) == "refused"


async def test_without_the_pointer_in_the_write_an_old_context_wins(team: Team, bare: Edge) -> None:
    bare.without(writing, "GUARD_CONTEXT", "SELECT ?1, ?2")
    for name in ("PUT_RESULT", "COMPLETE"):
        head, _, tail = getattr(board_sql, name).partition("\n  AND ?4 = (SELECT")
        assert tail
        bare.without(board_sql, name, head)

    assert await overwritten(team) == "stored"


# --- 7: decisions contradict each other ---


async def verdicts(team: Team) -> list[str]:
    """Two lives of the critic judge the same result, one for it and one against it."""
    await team.goal("a")
    worker = await team.worker()
    one, two = await team.critic(), await team.critic()
    await worker.board.complete(await claimed(worker), 1, summary="one")
    (task,) = await one.reviews.open()
    await one.reviews.accept(task, reason="right")
    with contextlib.suppress(StateError):
        await two.reviews.reject(task, reason="wrong")
    rows = await team.rows("SELECT decision FROM decision_log WHERE task_id = 'a' ORDER BY seq")
    return [row["decision"] for row in rows]


async def test_a_result_has_one_verdict(team: Team) -> None:
    assert await verdicts(team) == ["accepted"]


async def test_without_version_and_request_a_result_has_two_verdicts(
    team: Team, bare: Edge
) -> None:
    where = "AND version = ?2 AND status = 'completed' AND review = 'open'"
    bare.without(board_sql, "REJECT", board_sql.REJECT.replace(where, "AND ?2 = ?2"))
    bare.without(
        writing, "DONE_REQUEST", writing.DONE_REQUEST.replace("VALUES (?1", "VALUES (?1 || ?3")
    )
    bare.without(writing, "SELECT_ANSWER", "SELECT 'null' AS answer WHERE ?1 = ?1")

    assert await verdicts(team) == ["accepted", "rejected"]


async def test_a_message_consumed_by_two_lives_needs_its_guard(team: Team, bare: Edge) -> None:
    planner, one, two = await team.planner(), await team.worker(), await team.worker()
    await planner.messages.send("worker-1", "order", "pay")
    (message,) = await one.messages.poll()
    bare.without(messages_sql, "GUARD_CONSUME", NO_SIMPLE_GUARD)

    for life in (one, two):
        try:
            await life.messages.consume(message, life.messages.sending("planner", "paid", 1))
        except AlreadyConsumed:
            continue

    assert len(await planner.messages.poll()) == 2
