"""Tools: tried again, but not for ever; not too often; and never in doubt unasked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from tests.edgestate.world import Effects, d1_binding, plan_of

import edgestate
from edgestate import (
    Agent,
    Backoff,
    D1StateStore,
    LeaseTooShort,
    RateLimit,
    RateLimited,
    StateStore,
    StepFailed,
    Tool,
    ToolCall,
    ToolFailed,
    idempotency_key,
    run_agent_with_state,
    tool,
)

pytestmark = pytest.mark.anyio

Freeze = Callable[[str], FrozenDateTimeFactory]
AT_ONCE = Backoff(first_s=0, cap_s=0)


async def run_once(store: StateStore, made: Tool, **options: Any) -> Any:
    agent = Agent(tools={made.name: made}, plan=plan_of(made.name), **options)
    return await run_agent_with_state("go", "s", store, agent=agent, request_id="r")


def failing(times: int, error: Exception) -> tuple[list[int], Any]:
    """A tool function that raises `error` so many times; the attempts that it saw."""
    attempts: list[int] = []

    async def run(call: ToolCall) -> str:
        attempts.append(call.attempt)
        if len(attempts) <= times:
            raise error
        return "done"

    return attempts, run


async def test_a_failure_that_may_pass_is_tried_again(versioned_store: StateStore) -> None:
    attempts, run = failing(2, ToolFailed("busy", may_retry=True))

    task = await run_once(versioned_store, Tool("call", run, "read", backoff=AT_ONCE))

    state = await versioned_store.get_tool_state(task.task_id, "call")
    assert len(attempts) == 3
    assert task.status == "completed"
    assert state is not None
    assert (state.status, state.retry_count, state.last_result) == ("success", 2, "done")


async def test_retries_end_and_the_task_has_failed(versioned_store: StateStore) -> None:
    attempts, run = failing(99, ToolFailed("busy", may_retry=True))

    with pytest.raises(StepFailed) as failure:
        await run_once(versioned_store, Tool("call", run, "read", max_retries=2, backoff=AT_ONCE))

    (task,) = await versioned_store.get_failed_tasks("s")
    assert len(attempts) == 3
    assert (failure.value.step_index, task.steps[0].error_code) == (0, "tool_failed")


async def test_a_failure_that_says_so_is_not_tried_again(versioned_store: StateStore) -> None:
    attempts, run = failing(1, ToolFailed("no such flight"))

    with pytest.raises(StepFailed, match="no such flight"):
        await run_once(versioned_store, Tool("call", run, "read", backoff=AT_ONCE))

    assert len(attempts) == 1


async def test_an_unknown_error_of_a_safe_tool_is_tried_again(versioned_store: StateStore) -> None:
    attempts, run = failing(1, KeyError("x"))

    task = await run_once(versioned_store, Tool("call", run, "idempotent", backoff=AT_ONCE))

    assert len(attempts) == 2
    assert task.status == "completed"


async def test_an_unknown_error_of_a_charge_is_never_tried_again(
    versioned_store: StateStore,
) -> None:
    attempts, run = failing(1, KeyError("x"))

    task = await run_once(versioned_store, Tool("call", run, backoff=AT_ONCE))

    assert len(attempts) == 1
    assert (task.status, task.steps[0].error_code) == ("waiting_tool", "tool_unknown")


async def test_a_charge_that_knows_that_it_failed_is_tried_again(
    versioned_store: StateStore,
) -> None:
    attempts, run = failing(1, ToolFailed("not sent", may_retry=True))

    task = await run_once(versioned_store, Tool("call", run, backoff=AT_ONCE))

    assert len(attempts) == 2
    assert task.status == "completed"


async def test_a_timeout_is_unknown_and_not_a_failure(versioned_store: StateStore) -> None:
    async def hang(call: ToolCall) -> None:
        await asyncio.sleep(60)

    task = await run_once(versioned_store, Tool("call", hang, timeout_s=0.02))

    assert (task.status, task.steps[0].status, task.steps[0].error_code) == (
        "waiting_tool",
        "running",
        "tool_timeout",
    )


async def test_a_tool_that_never_returns_fails_in_the_end(versioned_store: StateStore) -> None:
    async def hang(call: ToolCall) -> None:
        await asyncio.sleep(60)

    with pytest.raises(StepFailed, match=r"no answer within 0\.01 s"):
        await run_once(
            versioned_store,
            Tool("call", hang, "read", timeout_s=0.01, max_retries=1, backoff=AT_ONCE),
        )


def test_the_backoff_doubles_up_to_its_cap() -> None:
    backoff = Backoff(first_s=1, cap_s=5)

    for retry, full in ((1, 1), (2, 2), (3, 4), (4, 5), (500, 5)):
        assert full / 2 <= backoff.pause_s(retry) <= full


def test_a_tool_that_may_outlive_the_lease_is_refused() -> None:
    slow = Effects().tool("slow", "read", timeout_s=60)

    with pytest.raises(LeaseTooShort) as refusal:
        Agent(tools={"slow": slow}, plan=plan_of("slow"), lease_ttl_s=60)
    assert (refusal.value.tool_name, refusal.value.timeout_s) == ("slow", 60)


def test_an_effect_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'harmless'"):
        Effects().tool("x", "harmless")  # type: ignore[arg-type]


def test_a_decorated_function_is_a_tool() -> None:
    @tool(effect="read", timeout_s=3)
    async def search(call: ToolCall) -> list[str]:
        """Finds flights."""
        return []

    assert (search.name, search.effect, search.timeout_s) == ("search", "read", 3)
    assert search.description == "Finds flights."


# --- keys ---


async def test_the_key_reaches_the_tool_and_is_of_task_and_step_alone(
    versioned_store: StateStore, effects: Effects
) -> None:
    agent = Agent(tools={"look": effects.tool("look", "idempotent")}, plan=plan_of("look", "look"))

    task = await run_agent_with_state("go", "s", versioned_store, agent=agent)

    assert effects.keys == [idempotency_key(task.task_id, n) for n in range(2)]
    assert len(set(effects.keys)) == 2
    assert all(len(key) == 40 for key in effects.keys)


async def test_the_results_of_earlier_steps_reach_the_tool(versioned_store: StateStore) -> None:
    seen: list[Any] = []

    async def look(call: ToolCall) -> int:
        seen.append((call.input, list(call.results)))
        return call.step_index * 10

    agent = Agent(tools={"look": Tool("look", look, "read")}, plan=plan_of("look", "look"))
    await run_agent_with_state("go", "s", versioned_store, agent=agent)

    assert seen == [({"n": 0}, []), ({"n": 1}, [0])]


# --- rate windows ---


async def test_a_full_window_makes_the_run_wait_for_the_next(versioned_store: StateStore) -> None:
    outside = Effects()
    limited = outside.tool("look", "read", rate=RateLimit(calls=2, window_s=0.1))
    agent = Agent(tools={"look": limited}, plan=plan_of(*["look"] * 5))

    task = await run_agent_with_state("go", "s", versioned_store, agent=agent)

    assert task.status == "completed"
    assert len(outside.log) == 5


async def test_a_long_wait_ends_the_run_and_a_later_one_goes_on(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    outside = Effects()
    limited = outside.tool("charge", "non_idempotent", rate=RateLimit(calls=1, window_s=3600))
    agent = Agent(tools={"charge": limited}, plan=plan_of("charge", "charge"))

    with pytest.raises(RateLimited) as limit:
        await run_agent_with_state("go", "s", versioned_store, agent=agent, request_id="r")
    (waiting,) = await versioned_store.get_tasks_by_session("s")
    clock.tick(3600)
    task = await run_agent_with_state("go", "s", versioned_store, agent=agent, request_id="r")

    assert limit.value.reset_at == 1796083200 + 3600
    assert (waiting.status, waiting.steps[1].status) == ("running", "pending")
    assert task.status == "completed"
    assert outside.log == ["charge 0", "charge 1"]


async def test_windows_survive_the_worker_and_are_shared_by_all(tmp_path: Any) -> None:
    path = tmp_path / "state.sqlite"
    allowed = []
    for number in range(3):
        async with d1_binding(path, is_migrated=number > 0) as db:
            store = D1StateStore(db)
            taken = [await store.take_rate("look", limit=5, window_s=3600) for _ in range(2)]
            allowed += [each.is_allowed for each in taken]

    assert allowed == [True] * 5 + [False]


async def test_a_window_opened_before_the_clock_jumped_back_does_not_block_for_long(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await versioned_store.take_rate("look", limit=1, window_s=60)

    clock.move_to("2026-11-01T00:00:00Z")

    assert (await versioned_store.take_rate("look", limit=1, window_s=60)).is_allowed


async def test_a_window_is_full_until_its_last_moment(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await versioned_store.take_rate("look", limit=1, window_s=60)

    clock.tick(59.999)
    assert not (await versioned_store.take_rate("look", limit=1, window_s=60)).is_allowed
    clock.tick(0.001)
    assert (await versioned_store.take_rate("look", limit=1, window_s=60)).is_allowed


async def test_what_the_other_side_says_about_waiting_counts_for_all(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    _, run = failing(1, ToolFailed("429", may_retry=True, retry_after_s=600))

    with pytest.raises(RateLimited):
        await run_once(versioned_store, Tool("call", run, "read", rate=RateLimit(99, 1)))
    clock.tick(599)
    blocked = await versioned_store.take_rate("call", limit=99, window_s=1)
    clock.tick(1)
    free = await versioned_store.take_rate("call", limit=99, window_s=1)

    assert (blocked.is_allowed, free.is_allowed) == (False, True)


# --- pages ---


async def test_a_cursor_survives_a_crash_in_the_middle_of_the_pages(
    versioned_store: StateStore,
) -> None:
    fetched: list[int] = []

    class Died(BaseException):
        pass

    async def fetch_all(call: ToolCall) -> list[int]:
        rows: list[int] = list(call.state.extra.get("rows", []))  # type: ignore[arg-type]
        page = int(call.cursor or 0)  # type: ignore[arg-type]
        while page < 4:
            fetched.append(page)
            rows.append(page * 100)
            page += 1
            await call.save_page(page, rows=list(rows))
            if fetched == [0, 1]:
                raise Died
        return rows

    made = Tool("pages", fetch_all, "read")
    with pytest.raises(Died):
        await run_once(versioned_store, made)
    task = await run_once(versioned_store, made)

    state = await versioned_store.get_tool_state(task.task_id, "pages")
    assert fetched == [0, 1, 2, 3]
    assert task.steps[0].output == [0, 100, 200, 300]
    assert state is not None
    assert (state.status, state.cursor, state.extra) == ("success", None, {})


# --- being watched ---


async def test_every_call_passes_whoever_observes(
    versioned_store: StateStore, effects: Effects, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, Any]] = []

    async def observe(name: str, arguments: Any, operation: Callable[[], Any]) -> object:
        seen.append((name, arguments))
        return await operation()

    monkeypatch.setattr(edgestate, "observe", observe)
    await run_once(versioned_store, effects.tool("look", "read"))

    assert seen == [("look", {"n": 0})]
    assert effects.log == ["look 0"]


def test_nobody_observes_on_the_edge() -> None:
    assert edgestate.observe is None
