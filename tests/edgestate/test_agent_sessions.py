"""Sessions end when they should, to the second, and take everything with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from tests.conformance.state_store import a_task

from edgestate import (
    D1StateStore,
    KVStateStore,
    SessionNotFound,
    SessionState,
    StateStore,
    ToolState,
    complete_session,
    load_or_reject_session,
    open_session,
    pause_session,
    resume_session,
    sweep_sessions,
)

pytestmark = pytest.mark.anyio

Freeze = Callable[[str], FrozenDateTimeFactory]
START = "2026-12-01T00:00:00Z"


async def test_a_session_idle_for_exactly_the_limit_is_loaded(
    store: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    await open_session("s", "u", store)

    clock.tick(3600)
    loaded = await load_or_reject_session("s", store)

    assert "session" in loaded


async def test_a_session_idle_for_longer_is_rejected(store: StateStore, frozen: Freeze) -> None:
    clock = frozen(START)
    await open_session("s", "u", store)

    clock.tick(3600.001)
    loaded = await load_or_reject_session("s", store)

    assert loaded == {"error": "SESSION_EXPIRED", "detail": "idle"}


async def test_loading_makes_a_session_active_anew(store: StateStore, frozen: Freeze) -> None:
    clock = frozen(START)
    await open_session("s", "u", store)

    for _ in range(5):
        clock.tick(3000)
        loaded = await load_or_reject_session("s", store)
        assert "session" in loaded
        assert loaded["session"].status == "active"


async def test_a_session_lives_for_its_ttl_and_not_a_second_longer(
    store: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    await open_session("s", "u", store)

    clock.tick(86399)
    assert await store.get_session("s") is not None
    clock.tick(1)
    assert await store.get_session("s") is None
    assert await load_or_reject_session("s", store) == {
        "error": "SESSION_EXPIRED",
        "detail": "missing",
    }


async def test_a_change_of_status_does_not_prolong_a_session(
    store: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    session = await open_session("s", "u", store)
    clock.tick(86390)

    session.status = "paused"
    await store.save_session(session)
    clock.tick(100)

    assert await store.get_session("s") is None


async def test_a_session_without_a_readable_date_is_over(store: StateStore) -> None:
    session = SessionState(session_id="s", user_id="u", last_active_at="yesterday")

    await store.save_session(session)

    loaded = await load_or_reject_session("s", store)
    assert loaded == {"error": "SESSION_EXPIRED", "detail": "missing"}


async def test_a_clock_that_jumps_back_ends_no_session(store: StateStore, frozen: Freeze) -> None:
    clock = frozen(START)
    session = await open_session("s", "u", store)

    clock.move_to("2026-11-30T20:00:00Z")
    loaded = await load_or_reject_session("s", store)

    assert "session" in loaded
    assert loaded["session"].last_active_at == session.last_active_at


async def test_a_paused_session_waits_and_can_be_resumed(store: StateStore, frozen: Freeze) -> None:
    clock = frozen(START)
    await open_session("s", "u", store)
    await pause_session("s", store)

    clock.tick(7200)
    loaded = await load_or_reject_session("s", store)
    assert "session" in loaded
    assert loaded["session"].status == "paused"
    resumed = await resume_session("s", store)

    assert resumed.status == "active"


async def test_pausing_what_is_not_there_says_so(store: StateStore) -> None:
    with pytest.raises(SessionNotFound) as refusal:
        await pause_session("nobody", store)

    assert refusal.value.session_id == "nobody"


async def test_a_completed_session_is_loaded_with_its_tasks(store: StateStore) -> None:
    await open_session("s", "u", store)
    await store.save_task(a_task())
    await complete_session("s", store)

    loaded = await load_or_reject_session("s", store)

    assert "session" in loaded
    assert loaded["session"].status == "completed"
    assert [task.task_id for task in loaded["tasks"]] == ["t"]


async def test_the_sweeper_writes_expired_and_deletes_at_the_end(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    await open_session("idle", "u", versioned_store)
    task = a_task()
    task.session_id = "idle"
    await versioned_store.save_task(task)
    await versioned_store.save_tool_state(ToolState(tool_name="x", task_id="t"), "t")

    clock.tick(3601)
    first = await sweep_sessions(versioned_store)
    clock.tick(86400)
    second = await sweep_sessions(versioned_store)

    assert "idle" in first.expired
    assert "idle" in second.deleted
    assert await versioned_store.get_task("t") is None
    assert await versioned_store.get_tool_state("t", "x") is None


async def test_the_sweeper_leaves_a_session_whose_task_is_being_worked_on(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    await open_session("busy", "u", versioned_store)
    task = a_task()
    task.session_id = "busy"
    await versioned_store.save_task(task)
    await versioned_store.acquire_lease("t", "worker", ttl_s=200_000)

    clock.tick(100_000)
    swept = await sweep_sessions(versioned_store)

    assert "busy" not in swept.expired + swept.deleted
    assert await versioned_store.get_task("t") is not None


async def test_nothing_in_kv_outlives_its_session(kv: Any, frozen: Freeze) -> None:
    clock = frozen(START)
    store = KVStateStore(kv)
    await open_session("s", "u", store)
    clock.tick(1000)
    await store.save_task(a_task())
    await store.save_tool_state(ToolState(tool_name="x", task_id="t"), "t")
    await store.quarantine_task("t", "torn")

    names = (await kv.list())["keys"]
    assert len(names) == 6
    assert all(key["expiration"] <= 1796169600 + 1000 + 60 for key in names)
    clock.tick(86401)

    assert (await kv.list())["keys"] == []


async def test_tasks_in_kv_live_as_long_as_a_session_that_is_used(kv: Any, frozen: Freeze) -> None:
    clock = frozen(START)
    store = KVStateStore(kv)
    await open_session("s", "u", store)
    await store.save_task(a_task())
    await store.save_tool_state(ToolState(tool_name="x", task_id="t"), "t")

    for _ in range(100):
        clock.tick(3500)
        await load_or_reject_session("s", store)

    assert await store.get_task("t") is not None
    assert await store.get_tool_state("t", "x") is not None
    assert [task.task_id for task in await store.get_tasks_by_session("s")] == ["t"]


async def test_no_row_of_d1_is_left_after_the_sweep(d1: D1StateStore, db: Any) -> None:
    await d1.save_task(a_task())
    await d1.save_tool_state(ToolState(tool_name="x", task_id="t"), "t")

    await db.prepare("UPDATE agent_sessions SET expires_at = 0").run()
    await sweep_sessions(d1)

    for table in ("agent_sessions", "agent_tasks", "agent_task_steps", "agent_tool_states"):
        assert await db.prepare(f"SELECT COUNT(*) AS n FROM {table}").first("n") == 0
