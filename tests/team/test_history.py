"""Snapshots, history, traces, metrics."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Freeze
from tests.team.world import Team, claimed, damage, finished

import edgestate.team
from edgestate.team import (
    POLICIES,
    NoSnapshot,
    history,
    life_of,
    metrics_text,
    rebuild,
    states,
    traced,
)
from edgestate.team.history import HistoryBroken

pytestmark = pytest.mark.anyio


async def test_there_is_a_snapshot_for_each_finished_subtask(team: Team) -> None:
    await finished(team, "a", "b", "c")

    restored = await (await team.planner()).snapshots.restore("goal")

    assert (restored.version, restored.completed) == (3, {"a": 1, "b": 1, "c": 1})
    assert restored.broken == ()
    rows = await team.rows("SELECT version, subtask_id FROM task_snapshots ORDER BY version")
    assert sorted(row["subtask_id"] for row in rows) == ["a", "b", "c"]


async def test_restoring_goes_back_to_the_newest_whole_snapshot_and_says_which(team: Team) -> None:
    await finished(team, "a", "b", "c")
    await damage(team, 3)
    await team.run("UPDATE task_snapshots SET schema_number = 9 WHERE version = 2")

    restored = await (await team.planner()).snapshots.restore("goal")

    assert restored.version == 1
    assert restored.broken == ((3, "its checksum is wrong"), (2, "its schema is 9"))


async def test_without_a_whole_snapshot_the_error_says_what_is_wrong_with_each(team: Team) -> None:
    await finished(team, "a")
    await damage(team, 1)

    with pytest.raises(NoSnapshot, match=r"1 \(its checksum is wrong\)"):
        await (await team.planner()).snapshots.restore("goal")


async def test_rolling_back_does_again_what_the_snapshot_has_not(team: Team) -> None:
    await finished(team, "a", "b", "c")
    await damage(team, 3)
    planner = await team.planner()
    restored = await planner.snapshots.restore("goal")

    cycle = (await planner.board.task("goal")).cycle
    await planner.snapshots.roll_back(cycle, restored, reason="the last one is damaged")

    again = {t.task_id for t in await planner.board.tasks("goal") if t.attempt == 2}
    assert again == {"a", "b", "c"} - set(restored.completed)
    assert len(again) == 1


async def test_history_leads_to_the_stored_state(team: Team) -> None:
    await finished(team, "a", "b")
    worker, critic = await team.worker(), await team.critic()
    for task in await critic.reviews.open():
        await critic.reviews.reject(task, reason="again")
    await claimed(worker)

    changes = await history(team.record)

    assert rebuild(changes) == await states(team.record)
    assert len(changes) == 10


async def test_a_gap_or_a_wrong_step_in_history_is_noticed(team: Team) -> None:
    await finished(team, "a")
    changes = [change for change in await history(team.record) if change.task_id == "a"]

    with pytest.raises(HistoryBroken):
        rebuild([changes[0], changes[2]])
    with pytest.raises(HistoryBroken):
        rebuild([changes[0], dataclasses.replace(changes[1], old_status="completed")])
    with pytest.raises(HistoryBroken):
        rebuild([*changes[:-1], dataclasses.replace(changes[-1], fence=0)])


async def test_a_trace_tells_the_whole_life_in_order_across_agents(team: Team) -> None:
    with traced("the-trace"):
        await team.goal("a")
    worker, critic, planner = await team.worker(), await team.critic(), await team.planner()
    with traced("the-trace"):
        held = await claimed(worker)
        note = worker.messages.sending("critic", "done", {"task_id": "a"}, correlation_id="a")
        await worker.board.complete(held, 1, summary="one", effects=[note])
        (message,) = [m for m in await critic.messages.poll() if m.message_type == "done"]
        await critic.messages.consume(message)
        await critic.reviews.accept((await critic.reviews.open())[0], reason="right")
        await planner.board.complete(await claimed(planner), 1, summary="all done")

    events = await life_of(team.record, "the-trace")
    of_task = await life_of(team.record, "a")

    assert [event.seq for event in events] == sorted(event.seq for event in events)
    assert events == await life_of(team.record, "goal")
    assert {event.agent_id for event in events} >= {"planner", "worker-1", "critic"}
    assert [event.kind for event in of_task] == [
        "task pending",
        "task running",
        "result",
        "task completed",
        "snapshot",
        "message sent",
        "message consumed",
        "task completed",
        "decision",
    ]
    assert await life_of(team.record, "nothing") == []


async def test_metrics_are_the_documents_with_its_formulas(team: Team, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await team.goal("a")
    planner, worker, other = await team.planner(), await team.worker(1), await team.worker(2)
    clock.tick(2)
    await planner.messages.send("worker-1", "note", 1)
    ((task_id, version),) = await worker.board.look()
    held = await worker.board.take(task_id, version)
    with pytest.raises(edgestate.VersionConflict):
        await other.board.take(task_id, version)
    clock.tick(3)
    for message in await worker.messages.poll():
        await worker.messages.consume(message)
    await worker.board.complete(held, 1, summary="one")

    text = await metrics_text(team.record)

    counts = await team.counters()
    ratio = f"{counts['conflicts'] / counts['updates']:.6g}"
    assert 'team_transition_seconds_sum{from="pending",to="running"} 2\n' in text
    assert 'team_transition_seconds_sum{from="running",to="completed"} 3\n' in text
    assert 'team_message_latency_seconds_bucket{le="5"} 2\n' in text
    assert 'team_message_latency_seconds_bucket{le="1"} 0\n' in text
    assert "team_message_latency_seconds_sum 8\n" in text
    assert f"team_conflict_ratio {ratio}\n" in text
    assert counts["conflicts"] == counts["rollbacks"] == 1
    assert 'team_messages_consumed_total{agent="worker-1"} 2\n' in text


async def test_metrics_have_the_form_that_prometheus_reads(team: Team) -> None:
    await finished(team, "a")

    lines = (await metrics_text(team.record)).splitlines()

    sample = re.compile(r'[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+')
    for line in lines:
        assert line.startswith(("# HELP ", "# TYPE ")) or sample.fullmatch(line), line
    helped = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    names = {re.split(r"[{ ]", line)[0] for line in lines if not line.startswith("#")}
    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in names} <= helped


async def test_the_dashboard_shows_metrics_that_exist(team: Team) -> None:
    folder = Path(edgestate.team.__file__).parent
    board: dict[str, Any] = json.loads((folder / "grafana-dashboard.json").read_text("utf-8"))
    text = await metrics_text(team.record)

    queries = [t["expr"] for panel in board["panels"] for t in panel.get("targets", [])]
    asked = {
        re.sub(r"_(bucket|sum|count)$", "", n)
        for q in queries
        for n in re.findall(r"team_[a-z_]+", q)
    }

    assert len(board["panels"]) >= 6
    assert asked >= {
        "team_message_latency_seconds",
        "team_transition_seconds",
        "team_conflict_ratio",
        "team_rollback_ratio",
    }
    assert all(f"# TYPE {name} " in text for name in asked)


async def test_every_table_has_a_rule_for_two_writers(team: Team) -> None:
    rows = await team.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' "
        "AND name NOT LIKE '_cf%' AND name NOT IN ('agent_guard', 'agent_sessions', "
        "'agent_tasks', 'agent_task_steps', 'agent_tool_states', 'agent_tool_rates')"
    )

    assert {row["name"] for row in rows} == set(POLICIES)


async def test_a_heartbeat_informs_and_decides_nothing(team: Team, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await team.goal("a")
    worker, other = await team.worker(1), await team.worker(2)
    held = await claimed(worker, ttl_s=30)

    await worker.roster.beat(task_id="a", load=0.5)
    await worker.roster.beat(task_id="ignored: too soon")
    clock.tick(31)
    await worker.roster.beat(task_id="a")
    taken = await other.board.claim()

    (status,) = [a for a in await other.roster.agents() if a.agent_id == "worker-1"]
    assert (status.task_id, status.role) == ("a", "worker")
    assert taken is not None
    assert taken.task.fence == held.task.fence + 1
