"""Every batch that the library sends: a guard stands directly after the write that it guards."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.conformance.state_store import a_task
from tests.edgestate.world import Effects, plan_of

from edgestate import (
    Agent,
    D1StateStore,
    RateLimit,
    SessionState,
    TaskState,
    ToolState,
    load_or_reject_session,
    resolve_step,
    resume_abandoned_tasks,
    run_agent_with_state,
    save_task_with_version,
    sql,
    sweep_sessions,
    update_task,
)

pytestmark = pytest.mark.anyio


class Recorder:
    """`env.DB` that remembers the text of every batch."""

    def __init__(self, db: Any) -> None:
        self._db = db
        self.batches: list[list[str]] = []
        self._texts: dict[int, str] = {}

    def prepare(self, text: str) -> Any:
        return _Statement(self._db.prepare(text), text)

    async def batch(self, statements: Any) -> Any:
        self.batches.append([statement.text for statement in statements])
        return await self._db.batch([statement.inner for statement in statements])


class _Statement:
    def __init__(self, inner: Any, text: str) -> None:
        self.inner, self.text = inner, text

    def bind(self, *values: Any) -> Any:
        return _Statement(self.inner.bind(*values), self.text)


@pytest.fixture
async def recorder(db: Any, effects: Effects) -> Recorder:
    """A recorder after the library has done everything that it can do."""
    recorder = Recorder(db)
    store = D1StateStore(recorder)
    await store.save_session(SessionState(session_id="s", user_id="u"))
    await store.save_task(TaskState(task_id="plain", session_id="s", goal="go"))
    task = a_task(steps=6)
    await save_task_with_version(store, task)
    await save_task_with_version(store, task)
    await update_task(store, "t", lambda task: None)
    await store.create_task(TaskState(task_id="made", session_id="s", goal="go"))
    lease = await store.acquire_lease("t", "h", ttl_s=60)
    assert lease is not None
    await store.renew_lease(lease)
    await store.commit(task.model_copy(update={"version": 3}), [0], lease=lease, release=True)
    await store.release_lease("t", "h")
    await store.save_tool_state(ToolState(tool_name="x", task_id="t"), "t")
    await store.get_tool_state("t", "x")
    await store.block_tool("x", until=0)
    await store.list_sessions_by_user("u")
    await store.get_failed_tasks()
    await load_or_reject_session("s", store)
    tools = {
        "charge": effects.tool("charge", "non_idempotent", rate=RateLimit(9, 60)),
        "look": effects.tool("look", "read"),
    }
    agent = Agent(tools=tools, plan=plan_of("look", "charge"))
    done = await run_agent_with_state("go", "s", store, agent=agent, request_id="r")
    assert done.status == "completed"
    with pytest.raises(Exception, match="asks nothing"):
        await resolve_step(store, done, 1, "retry")
    await resume_abandoned_tasks(store, agent=agent)
    await store.quarantine_task("plain", "torn")
    await store.list_quarantined()
    await sweep_sessions(store)
    await store.delete_session("s")
    return recorder


async def test_every_statement_was_sent(recorder: Recorder) -> None:
    sent = {text for batch in recorder.batches for text in batch}
    public = {
        name: text
        for name, text in vars(sql).items()
        if name.isupper() and not name.startswith("_") and not name.endswith("COLUMNS")
    }

    unsent = {name for name, text in public.items() if text not in sent}
    assert unsent == {"SELECT_SESSION_VERSION"}


async def test_a_guard_follows_the_write_that_it_guards_and_nothing_is_between(
    recorder: Recorder,
) -> None:
    guards = {
        sql.GUARD_COMMIT: (sql.COMMIT_TASK, sql.MOVE_POINTER),
        sql.GUARD_PUT: (sql.PUT_TASK,),
    }
    guarded = 0
    for batch in recorder.batches:
        for place, text in enumerate(batch):
            if "agent_guard" in text:
                assert place > 0
                assert batch[place - 1] in guards[text]
                guarded += 1

    assert guarded >= 8


async def test_no_guarded_write_goes_without_its_guard(recorder: Recorder) -> None:
    for batch in recorder.batches:
        for place, text in enumerate(batch):
            if text in (sql.COMMIT_TASK, sql.MOVE_POINTER, sql.PUT_TASK):
                assert "agent_guard" in batch[place + 1]


async def test_no_guard_can_insert_a_null(recorder: Recorder) -> None:
    for guard in (sql.GUARD_COMMIT, sql.GUARD_PUT):
        assert re.search(r"CASE WHEN .* THEN '\w+' ELSE '\w+' END", " ".join(guard.split()))


async def test_the_guard_table_stays_empty(recorder: Recorder, db: Any) -> None:
    assert await db.prepare("SELECT COUNT(*) AS n FROM agent_guard").first("n") == 0


async def test_a_step_without_intent_is_stored_in_one_batch_with_the_pointer(
    db: Any, effects: Effects
) -> None:
    recorder = Recorder(db)
    store = D1StateStore(recorder)
    await store.save_session(SessionState(session_id="s", user_id="u"))
    agent = Agent(tools={"look": effects.tool("look", "idempotent")}, plan=plan_of(*["look"] * 10))
    recorder.batches.clear()

    await run_agent_with_state("go", "s", store, agent=agent, request_id="r")

    # One that starts the task, and one for each of the ten steps; the last ends the lease too.
    assert len(recorder.batches) == 11
    assert recorder.batches[1] == [sql.MOVE_POINTER, sql.GUARD_COMMIT, sql.SET_RESULT]
    assert recorder.batches[-1] == [sql.COMMIT_TASK, sql.GUARD_COMMIT, sql.SET_RESULT]


async def test_a_charge_costs_one_batch_more_than_its_results(db: Any, effects: Effects) -> None:
    recorder = Recorder(db)
    store = D1StateStore(recorder)
    await store.save_session(SessionState(session_id="s", user_id="u"))
    charge = effects.tool("charge", "non_idempotent")
    agent = Agent(tools={"charge": charge}, plan=plan_of(*["charge"] * 10))
    recorder.batches.clear()

    await run_agent_with_state("go", "s", store, agent=agent, request_id="r")

    # The intent of each step but the first is in the batch of the result before it.
    assert len(recorder.batches) == 12
