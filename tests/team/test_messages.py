"""Messages: never changed, in order, acted on once, and never to nobody."""

from __future__ import annotations

import asyncio
import logging

import pytest
from tests.conftest import Freeze
from tests.team.world import Team

from edgestate.errors import StoreRejected
from edgestate.team import AccessDenied, AlreadyConsumed, RecipientUnknown, RequestMismatch, traced
from localedge.errors import JsException

pytestmark = pytest.mark.anyio


async def test_messages_come_in_the_order_in_which_they_were_sent(team: Team) -> None:
    planner, worker = await team.planner(), await team.worker()

    for n in range(5):
        await planner.messages.send("worker-1", "note", n)
    first = await worker.messages.poll(limit=3)
    rest = await worker.messages.poll(after=first[-1].seq)

    assert [message.content for message in [*first, *rest]] == [0, 1, 2, 3, 4]


async def test_a_message_is_sent_once_for_ten_sends_with_one_request(team: Team) -> None:
    planner, worker = await team.planner(), await team.worker()

    answers = await asyncio.gather(
        *(planner.messages.send("worker-1", "note", "hello", request_id="r") for _ in range(10))
    )

    assert len(set(answers)) == 1
    assert len(await worker.messages.poll()) == 1


async def test_a_request_with_another_body_is_refused(team: Team) -> None:
    planner, _ = await team.planner(), await team.worker()
    await planner.messages.send("worker-1", "note", "hello", request_id="r")

    with pytest.raises(RequestMismatch) as refused:
        await planner.messages.send("worker-1", "note", "goodbye", request_id="r")

    assert refused.value.status == 422


async def test_a_message_to_nobody_is_refused_and_not_stored(team: Team) -> None:
    planner = await team.planner()

    with pytest.raises(RecipientUnknown):
        await planner.messages.send("worker-9", "note", "hello")

    assert await team.rows("SELECT * FROM agent_messages") == []


async def test_what_is_for_everyone_reaches_who_joins_later_and_not_its_sender(team: Team) -> None:
    planner = await team.planner()
    await planner.messages.send("*", "note", "hello")

    worker = await team.worker()

    assert [message.content for message in await worker.messages.poll()] == ["hello"]
    assert await planner.messages.poll() == []


async def test_delivery_and_consumption_are_recorded_apart(team: Team, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    planner, worker = await team.planner(), await team.worker()
    await planner.messages.send("worker-1", "note", "hello")

    clock.tick(2)
    (message,) = await worker.messages.poll()
    clock.tick(3)
    await worker.messages.consume(message)

    (row,) = await team.rows("SELECT * FROM message_deliveries")
    assert row["delivered_at"] - message.timestamp == 2000
    assert row["consumed_at"] - message.timestamp == 5000


async def test_a_message_has_one_effect_however_many_lives_consume_it(team: Team) -> None:
    planner = await team.planner()
    lives = [await team.worker() for _ in range(10)]
    await planner.messages.send("worker-1", "note", "hello")
    (message,) = await lives[0].messages.poll()

    async def act(n: int) -> str:
        effect = lives[n].messages.sending("planner", "echo", f"life {n}")
        try:
            await lives[n].messages.consume(message, effect)
        except AlreadyConsumed:
            return "refused"
        return "done"

    outcomes = await asyncio.gather(*(act(n) for n in range(10)))

    assert sorted(outcomes) == ["done"] + ["refused"] * 9
    assert len(await planner.messages.poll()) == 1
    assert await lives[0].messages.poll() == []


async def test_a_refused_effect_leaves_the_message_unconsumed(team: Team) -> None:
    planner, worker = await team.planner(), await team.worker()
    await planner.messages.send("worker-1", "note", "hello")
    (message,) = await worker.messages.poll()

    with pytest.raises(RecipientUnknown):
        await worker.messages.consume(message, worker.messages.sending("nobody", "echo", 1))

    assert [m.seq for m in await worker.messages.poll()] == [message.seq]


async def test_a_message_that_was_delivered_to_another_is_not_consumed(team: Team) -> None:
    planner, worker = await team.planner(), await team.worker()
    await planner.messages.send("worker-1", "note", "hello")
    (message,) = await worker.messages.poll()

    with pytest.raises(AccessDenied):
        await planner.messages.consume(message)

    assert len(await worker.messages.poll()) == 1


async def test_a_correction_is_a_new_message_of_the_same_sender(team: Team) -> None:
    planner, worker = await team.planner(), await team.worker()
    await planner.messages.send("worker-1", "note", "2 + 2 = 5", correlation_id="sum")
    (wrong,) = await worker.messages.poll()

    await planner.messages.correct(wrong, "2 + 2 = 4")
    with pytest.raises(AccessDenied):
        await worker.messages.correct(wrong, "2 + 2 = 6")

    chain = await worker.messages.correlated("sum")
    assert [(m.content, m.corrects_id) for m in chain] == [
        ("2 + 2 = 5", None),
        ("2 + 2 = 4", wrong.id),
    ]


async def test_a_chain_shows_an_agent_its_own_messages_and_the_planner_all(team: Team) -> None:
    planner, one, two = await team.planner(), await team.worker(1), await team.worker(2)
    await one.messages.send("worker-2", "note", "between us", correlation_id="c")
    await planner.messages.send("worker-1", "note", "to one", correlation_id="c")

    assert [m.content for m in await two.messages.correlated("c")] == ["between us"]
    assert len(await planner.messages.correlated("c")) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE agent_messages SET content = '\"forged\"'",
        "UPDATE OR REPLACE agent_messages SET content = '\"forged\"'",
        "UPDATE agent_messages SET seq = seq + 100",
        "DELETE FROM agent_messages",
        "DELETE FROM agent_messages WHERE seq = 1",
        "REPLACE INTO agent_messages SELECT * FROM agent_messages",
        "INSERT OR REPLACE INTO agent_messages SELECT seq + 7, id, source_agent_id, "
        "target_agent_id, message_type, '\"forged\"', timestamp, correlation_id, context_id, "
        "corrects_id, request_id || 'x', trace_id FROM agent_messages",
        "INSERT OR REPLACE INTO agent_messages SELECT seq + 7, id || 'x', source_agent_id, "
        "target_agent_id, message_type, '\"forged\"', timestamp, correlation_id, context_id, "
        "corrects_id, request_id, trace_id FROM agent_messages",
        "INSERT INTO agent_messages SELECT * FROM agent_messages WHERE TRUE "
        "ON CONFLICT DO UPDATE SET content = 'forged'",
    ],
)
async def test_the_database_refuses_every_way_of_changing_or_removing_a_message(
    team: Team, sql: str
) -> None:
    planner, worker = await team.planner(), await team.worker()
    await planner.messages.send("worker-1", "note", "as it was")

    with pytest.raises(JsException, match="agent_append_only"):
        await team.run(sql)

    assert [m.content for m in await worker.messages.poll()] == ["as it was"]


async def test_every_row_of_a_piece_of_work_has_its_trace(team: Team) -> None:
    planner, worker = await team.planner(), await team.worker()
    with traced("trace-of-this"):
        await team.goal("a")
        await planner.messages.send("worker-1", "note", "hello")
        await worker.messages.consume((await worker.messages.poll())[-1])

    for table in (
        "task_status",
        "task_status_history",
        "contexts",
        "agent_messages",
        "message_deliveries",
        "decision_log",
        "write_requests",
        "team_events",
    ):
        traces = {r["trace_id"] for r in await team.rows(f"SELECT trace_id FROM {table}")}
        assert "trace-of-this" in traces, table


async def test_what_is_no_json_is_no_message(team: Team) -> None:
    planner, _ = await team.planner(), await team.worker()

    with pytest.raises(StoreRejected):
        await planner.messages.send("worker-1", "note", {1, 2})  # type: ignore[arg-type]
    with pytest.raises(StoreRejected):
        await planner.messages.send("worker-1", "note", float("nan"))


async def test_every_log_line_of_the_library_has_its_trace(
    team: Team, caplog: pytest.LogCaptureFixture
) -> None:
    worker = await team.worker()

    with traced("the-trace"), caplog.at_level(logging.WARNING), pytest.raises(AccessDenied):
        await worker.settings.set("model", "mine")

    (record,) = caplog.records
    assert record.getMessage() == "access denied trace_id=the-trace"
    assert record.__dict__["trace_id"] == "the-trace"
