"""What must not break anything: records torn, results too large or no JSON, a store in trouble."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.state_store import a_task
from tests.edgestate.world import d1_binding, kv_binding, plan_of

from edgestate import (
    Agent,
    D1StateStore,
    KVStateStore,
    RecordTooLarge,
    StateStore,
    StepFailed,
    StoreRejected,
    StoreUnavailable,
    TaskQuarantined,
    Tool,
    ToolCall,
    keys,
    open_session,
    run_agent_with_state,
)
from localedge.errors import JsException
from localedge.probe import Call, Observer, Outcome, Probe

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE agent_task_steps SET output = '{' WHERE task_id = 'bad'",
        "UPDATE agent_task_steps SET messages = '[1' WHERE task_id = 'bad'",
        "UPDATE agent_tasks SET counters = '{\"n\": \"x\"}' WHERE id = 'bad'",
        "UPDATE agent_tasks SET current_step = 99 WHERE id = 'bad'",
        "UPDATE agent_tasks SET schema_number = 3 WHERE id = 'bad'",
        "DELETE FROM agent_task_steps WHERE task_id = 'bad' AND step_index = 1",
        "UPDATE agent_task_steps SET input = x'00' WHERE task_id = 'bad'",
    ],
)
async def test_a_torn_record_in_d1_is_set_aside_and_the_others_go_on(
    d1: D1StateStore, db: Any, damage: str
) -> None:
    await d1.save_task(a_task("bad"))
    await d1.save_task(a_task("good"))
    await db.prepare(damage).run()

    listed = await d1.get_tasks_by_session("s")

    assert [task.task_id for task in listed] == ["good"]
    assert list(await d1.list_quarantined()) == ["bad"]
    with pytest.raises(TaskQuarantined):
        await d1.get_task("bad")
    with pytest.raises(TaskQuarantined):
        await d1.claim_task("bad", "worker", ttl_s=60)


@pytest.mark.parametrize("text", ["", "{", "null", '{"schema": 9}', '{"taskId": "bad"}'])
async def test_a_torn_record_in_kv_is_set_aside_and_the_others_go_on(kv: Any, text: str) -> None:
    store = KVStateStore(kv)
    await open_session("s", "u", store)
    await store.save_task(a_task("bad"))
    await store.save_task(a_task("good"))
    await kv.put(keys.task("bad"), text)

    listed = await store.get_tasks_by_session("s")

    assert [task.task_id for task in listed] == ["good"]
    assert list(await store.list_quarantined("s")) == ["bad"]
    with pytest.raises(TaskQuarantined):
        await store.get_task("bad")


async def test_a_torn_record_is_kept_for_whoever_looks_at_it(kv: Any) -> None:
    store = KVStateStore(kv)
    await open_session("s", "u", store)
    await store.save_task(a_task("bad"))
    await kv.put(keys.task("bad"), "{torn")
    with pytest.raises(TaskQuarantined):
        await store.get_task("bad")

    with pytest.raises(TaskQuarantined):
        await store.save_task(a_task("bad"))

    assert await kv.get(keys.task("bad")) == "{torn"


async def test_a_record_under_another_tasks_key_is_not_believed(kv: Any) -> None:
    store = KVStateStore(kv)
    await open_session("s", "u", store)
    await store.save_task(a_task("one"))
    await kv.put(keys.task("two"), await kv.get(keys.task("one")))

    with pytest.raises(TaskQuarantined, match="holds task one"):
        await store.get_task("two")


# --- sizes ---

THREE_MB = "x" * 3_000_000


async def test_an_output_of_3_mb_is_refused_before_anything_is_written(d1: D1StateStore) -> None:
    task = a_task()
    await d1.save_task(task)

    task.goal = "changed"
    task.steps[0].output = THREE_MB
    with pytest.raises(RecordTooLarge) as refusal:
        await d1.save_task(task)

    stored = await d1.get_task("t")
    assert (refusal.value.size_bytes, refusal.value.limit_bytes) == (3_000_011, 1_995_904)
    assert stored is not None
    assert (stored.goal, stored.steps[0].output, stored.version) == ("go", None, 1)


async def test_an_output_just_small_enough_is_stored(d1: D1StateStore) -> None:
    task = a_task()
    task.steps[0].output = "x" * 1_900_000

    await d1.save_task(task)

    stored = await d1.get_task("t")
    assert stored is not None
    assert stored.steps[0].output == "x" * 1_900_000


async def test_a_large_output_goes_to_kv_and_comes_back(db: Any, kv: Any) -> None:
    store = D1StateStore(db, blobs=kv)
    await open_session("s", "u", store)
    task = a_task()
    task.steps[1].output = {"rows": THREE_MB}

    await store.save_task(task)

    stored = await store.get_task("t")
    row = await db.prepare("SELECT output FROM agent_task_steps WHERE step_index = 1").first()
    (blob,) = (await kv.list())["keys"]
    assert stored is not None
    assert stored.steps[1].output == {"rows": THREE_MB}
    assert row["output"] == f"blob:{blob['name']}"
    assert blob["expiration"] > 0


async def test_an_output_that_is_gone_from_kv_sets_its_task_aside(db: Any, kv: Any) -> None:
    store = D1StateStore(db, blobs=kv)
    await open_session("s", "u", store)
    task = a_task()
    task.steps[1].output = THREE_MB
    await store.save_task(task)
    (blob,) = (await kv.list())["keys"]
    await kv.delete(blob["name"])

    with pytest.raises(TaskQuarantined, match="is not in KV"):
        await store.get_task("t")


async def test_an_output_larger_than_kv_takes_is_refused(db: Any, kv: Any) -> None:
    store = D1StateStore(db, blobs=kv)
    await open_session("s", "u", store)
    task = a_task()
    task.steps[0].output = "x" * (25 * 1024 * 1024)

    with pytest.raises(RecordTooLarge):
        await store.save_task(task)


async def returning(store: StateStore, value: Any, **options: Any) -> Any:
    async def run(call: ToolCall) -> Any:
        return value

    agent = Agent(tools={"run": Tool("run", run, **options)}, plan=plan_of("run"))
    return await run_agent_with_state("go", "s", store, agent=agent, request_id="r")


@pytest.mark.parametrize("effect", ["read", "non_idempotent"])
async def test_a_step_whose_result_is_too_large_fails_and_says_that_it_ran(
    d1: D1StateStore, effect: Any
) -> None:
    with pytest.raises(StepFailed, match=r"the step ran, but .* allowed are 1995904"):
        await returning(d1, THREE_MB, effect=effect)

    (task,) = await d1.get_failed_tasks("s")
    assert (task.steps[0].status, task.steps[0].error_code) == ("failed", "result_not_stored")
    assert task.outcome == "step_failed"


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object(), b"bytes", {"at": {1: object()}}])
async def test_a_step_whose_result_is_no_json_fails_and_says_that_it_ran(
    d1: D1StateStore, value: Any
) -> None:
    with pytest.raises(StepFailed, match="the step ran, but"):
        await returning(d1, value, effect="read")

    (task,) = await d1.get_failed_tasks("s")
    assert task.steps[0].output is None


# --- a store in trouble ---


class Trouble(Observer):
    """Makes calls of one kind fail, before or after they were carried out."""

    def __init__(self, error: Exception, *, after: bool, times: int = 1, kind: str = "d1") -> None:
        self._error, self._after, self.times = error, after, times
        self._kind = kind

    async def before(self, call: Call) -> None:
        await self._meet(call, is_after=False)

    async def after(self, call: Call, outcome: Outcome) -> None:
        await self._meet(call, is_after=True)

    async def _meet(self, call: Call, *, is_after: bool) -> None:
        if call.kind == self._kind and is_after == self._after and self.times > 0:
            self.times -= 1
            raise self._error


LOST = JsException("D1_ERROR: Network connection lost.")


async def test_a_lost_connection_is_an_unknown_outcome(tmp_path: Path) -> None:
    probe = Probe()
    async with d1_binding(tmp_path / "x.sqlite", probe=probe) as db:
        store = D1StateStore(db)
        await open_session("s", "u", store)
        probe.attach(Trouble(LOST, after=True))

        with pytest.raises(StoreUnavailable, match="Network connection lost"):
            await store.save_task(a_task())

        assert await store.get_task("t") is not None


@pytest.mark.parametrize("after", [True, False])
async def test_a_commit_whose_answer_is_lost_is_made_once(tmp_path: Path, after: bool) -> None:
    probe = Probe()
    async with d1_binding(tmp_path / "x.sqlite", probe=probe) as db:
        store = D1StateStore(db)
        await open_session("s", "u", store)

        async def run(call: ToolCall) -> int:
            probe.attach(Trouble(LOST, after=after, times=3))
            return 5

        agent = Agent(tools={"run": Tool("run", run)}, plan=plan_of("run"))
        task = await run_agent_with_state("go", "s", store, agent=agent)

        stored = await store.get_task(task.task_id)
        assert stored is not None
        assert (stored.status, stored.steps[0].output) == ("completed", 5)
        assert stored.version == task.version


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("KV PUT failed: 500 Internal Server Error", StoreUnavailable),
        ("KV PUT failed: 429 Too Many Requests", StoreUnavailable),
        ("KV PUT failed: 400 Invalid expiration", StoreRejected),
        ("KV PUT failed: 413 Value length", StoreRejected),
    ],
)
async def test_trouble_in_kv_says_whether_something_was_written(
    valkey_url: str, text: str, kind: type[Exception]
) -> None:
    probe = Probe()
    async with kv_binding(valkey_url, probe=probe) as kv:
        store = KVStateStore(kv)
        await open_session("s", "u", store)
        probe.attach(Trouble(JsException(text), after=False, kind="kv"))

        with pytest.raises(kind):
            await store.get_session("s")


@pytest.mark.parametrize("binding", ["kv", "d1"])
async def test_a_store_that_does_not_answer_is_an_unknown_outcome(
    binding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silent:
        def prepare(self, sql: str) -> Any:
            return self

        def bind(self, *values: object) -> Any:
            return self

        async def batch(self, statements: object) -> None:
            await asyncio.sleep(60)

        async def get(self, key: object) -> None:
            await asyncio.sleep(60)

    monkeypatch.setattr("edgestate.kv_call.TIMEOUT_S", 0.01)
    monkeypatch.setattr("edgestate.d1_call.TIMEOUT_S", 0.01)
    silent: Any = Silent()
    store: StateStore = KVStateStore(silent) if binding == "kv" else D1StateStore(silent)

    with pytest.raises(StoreUnavailable):
        await store.get_task("t")


async def test_missing_tables_are_refused_with_the_databases_words(tmp_path: Path) -> None:
    async with d1_binding(tmp_path / "x.sqlite", is_migrated=True) as db:
        with pytest.raises(StoreRejected, match="no such table: agent_tasks"):
            await D1StateStore(db).get_task("t")


async def test_an_error_that_is_not_the_stores_passes_through(tmp_path: Path) -> None:
    probe = Probe()
    async with d1_binding(tmp_path / "x.sqlite", probe=probe) as db:
        store = D1StateStore(db)
        probe.attach(Trouble(ZeroDivisionError("ours"), after=False))

        with pytest.raises(ZeroDivisionError):
            await store.get_task("t")


def test_every_error_can_be_told_apart_and_says_whether_to_try_again() -> None:
    import edgestate
    from edgestate import StateError

    errors = [
        e for e in vars(edgestate).values() if isinstance(e, type) and issubclass(e, StateError)
    ]
    codes = [error.code for error in errors]

    assert len(set(codes)) == len(codes)
    assert all(isinstance(error.retryable, bool) for error in errors)
    assert json.dumps(codes)
