"""What the page shows of an agent's state is what is stored, and a decision is taken once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.edgestate.world import Effects, d1_binding, plan_of

from edgestate import (
    Agent,
    D1StateStore,
    DecisionConflict,
    TaskNotFound,
    TaskQuarantined,
    clock,
    open_session,
    run_agent_with_state,
)
from localedge.binding import BindingWrapper
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.errors import OperatorError
from localedge.inspector import agents_data as data
from localedge.probe import Probe

pytestmark = pytest.mark.anyio


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Any]:
    async with d1_binding(tmp_path / "state.sqlite") as binding:
        yield binding


async def left_in_the_charge(db: Any) -> str:
    """A task whose worker died while it charged: its id. The lease is over."""
    effects = Effects()

    async def dies(_call: Any) -> Any:
        raise _Death

    charge = effects.tool("charge", "non_idempotent")
    agent = Agent(
        tools={
            "search": effects.tool("search", "read"),
            "charge": type(charge)("charge", dies, "non_idempotent"),
        },
        plan=plan_of("search", "charge"),
    )
    store = D1StateStore(db)
    await open_session("s-1", "ada", store)
    with pytest.raises(_Death):
        await run_agent_with_state("a trip", "s-1", store, agent=agent, request_id="r-1")
    (task,) = await store.get_tasks_by_session("s-1")
    return task.task_id


class _Death(BaseException):
    pass


async def waiting(db: Any) -> str:
    """The same task, after the next worker has found that it has to ask: its id."""
    task_id = await left_in_the_charge(db)
    effects = Effects()
    tools = {n: effects.tool(n, "read") for n in ("search", "charge")}
    agent = Agent(tools=tools, plan=plan_of("search", "charge"))
    store = D1StateStore(db)
    await run_agent_with_state("a trip", "s-1", store, agent=agent, request_id="r-1")
    return task_id


async def test_a_session_is_listed_with_what_belongs_to_it(db: Any) -> None:
    await waiting(db)

    page = await data.sessions(db, now_ms=clock.now_ms())

    (session,) = page.sessions
    assert (session.session_id, session.user_id) == ("s-1", "ada")
    assert (session.tasks, session.unfinished, session.waiting) == (1, 1, 1)
    assert 86_000_000 < session.expires_in_ms <= 86_400_000
    assert not page.more


async def test_sessions_come_in_pages_and_are_found_by_their_user(db: Any) -> None:
    store = D1StateStore(db)
    for number in range(5):
        await open_session(f"s-{number}", "ada" if number % 2 else "bob", store)

    first = await data.sessions(db, now_ms=clock.now_ms(), limit=3)
    rest = await data.sessions(db, now_ms=clock.now_ms(), limit=3, skip=3)
    adas = await data.sessions(db, now_ms=clock.now_ms(), text="ada")

    assert [first.more, rest.more] == [True, False]
    assert len({s.session_id for s in (*first.sessions, *rest.sessions)}) == 5
    assert sorted(s.session_id for s in adas.sessions) == ["s-1", "s-3"]


async def test_a_waiting_step_is_a_question_with_the_attempt_that_asks(db: Any) -> None:
    task_id = await waiting(db)

    (question,) = await data.questions(db)

    assert (question.task_id, question.step_index, question.action) == (task_id, 1, "charge")
    assert (question.why, question.effect, question.attempt) == ("uncertain", "non_idempotent", 1)
    assert question.input == {"n": 1}
    assert question.idempotency_key


async def test_done_stores_the_output_and_the_question_is_gone(db: Any) -> None:
    task_id = await waiting(db)

    await data.resolve(db, task_id, 1, "done", output={"paid": True}, attempt=1)

    whole = await data.task(db, task_id, now_ms=clock.now_ms())
    assert await data.questions(db) == ()
    assert whole.steps[1].output == {"paid": True}
    assert (whole.steps[1].resolution, whole.task.status) == ("done", "running")
    assert whole.task.is_abandoned


async def test_two_people_who_decide_differently_get_one_decision(db: Any) -> None:
    task_id = await waiting(db)
    await data.resolve(db, task_id, 1, "skip", attempt=1)

    with pytest.raises(DecisionConflict):
        await data.resolve(db, task_id, 1, "done", attempt=1)

    whole = await data.task(db, task_id, now_ms=clock.now_ms())
    assert whole.steps[1].resolution == "skip"


async def test_an_answer_to_an_earlier_attempt_is_refused(db: Any) -> None:
    task_id = await waiting(db)

    with pytest.raises(DecisionConflict):
        await data.resolve(db, task_id, 1, "retry", attempt=0)

    assert len(await data.questions(db)) == 1


async def test_a_lease_is_shown_with_what_is_left_of_it(db: Any) -> None:
    store = D1StateStore(db)
    task_id = await waiting(db)
    lease = await store.acquire_lease(task_id, "holder-1", ttl_s=30)
    assert lease is not None

    (shown,) = await data.leases(db, now_ms=clock.now_ms())
    later = await data.leases(db, now_ms=clock.now_ms() + 31_000)

    assert (shown.kind, shown.id, shown.holder, shown.fence) == (
        "task",
        task_id,
        "holder-1",
        lease.fence,
    )
    assert 29_000 < shown.left_ms <= 30_000
    assert later == ()


async def test_a_freed_task_can_be_claimed_at_once_under_a_new_fence(db: Any) -> None:
    store = D1StateStore(db)
    task_id = await waiting(db)
    lost = await store.acquire_lease(task_id, "holder-1", ttl_s=30)
    assert lost is not None

    freed = await data.free(db, task_id)

    taken = await store.acquire_lease(task_id, "holder-2", ttl_s=30)
    assert freed
    assert taken is not None
    assert taken.fence == lost.fence + 1


async def test_a_task_without_a_lease_has_nothing_to_free(db: Any) -> None:
    task_id = await waiting(db)

    freed = await data.free(db, task_id)

    assert not freed


async def test_looking_at_a_task_that_cannot_be_read_does_not_set_it_aside(db: Any) -> None:
    task_id = await waiting(db)
    await db.prepare("UPDATE agent_task_steps SET output = 'not json' WHERE step_index = 0").run()

    whole = await data.task(db, task_id, now_ms=clock.now_ms())

    assert whole.steps[0].output == "not json"
    assert (await data.task(db, task_id, now_ms=0)).task.quarantine_reason is None


async def test_an_output_that_lies_in_kv_does_not_keep_a_person_from_deciding(db: Any) -> None:
    task_id = await waiting(db)
    reference = "blob:agent:blob:t:0"
    statement = db.prepare("UPDATE agent_task_steps SET output = ? WHERE step_index = 0")
    await statement.bind(reference).run()

    await data.resolve(db, task_id, 1, "skip")

    whole = await data.task(db, task_id, now_ms=clock.now_ms())
    assert whole.steps[0].output == reference
    assert whole.task.quarantine_reason is None


async def test_a_task_that_is_set_aside_is_told_and_takes_no_decision(db: Any) -> None:
    task_id = await waiting(db)
    await D1StateStore(db).quarantine_task(task_id, "a step is missing")

    with pytest.raises(TaskQuarantined, match="a step is missing"):
        await data.resolve(db, task_id, 1, "skip")

    assert await data.questions(db) == ()


async def test_an_unknown_task_is_named(db: Any) -> None:
    with pytest.raises(TaskNotFound, match="task-0"):
        await data.task(db, "task-0", now_ms=0)


async def test_tasks_are_found_by_status_and_text(db: Any) -> None:
    task_id = await waiting(db)

    found = await data.tasks(db, now_ms=0, statuses=["waiting_tool"], text="trip")
    none = await data.tasks(db, now_ms=0, statuses=["completed"])

    assert [task.task_id for task in found.tasks] == [task_id]
    assert none.tasks == ()


async def test_a_database_without_the_tables_says_what_to_do(tmp_path: Path) -> None:
    async with open_engine(tmp_path / "empty.sqlite") as engine:
        empty: Any = BindingWrapper(D1Database(engine), "DB", Probe())
        kinds = await data.kinds(empty)

        with pytest.raises(OperatorError, match="migrations apply"):
            await data.questions(empty)

    assert kinds == {"agent": False, "team": False}
