"""Bugs that users of other systems reported, each as a test of this library.

The reports are those of section 5 of the requirements that concern one agent.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from tests.conformance.state_store import a_task
from tests.edgestate.world import Effects, d1_binding, kv_binding, plan_of

from edgestate import (
    Agent,
    Backoff,
    D1StateStore,
    FenceLost,
    InvalidId,
    KVStateStore,
    LeaseLost,
    StateStore,
    StepFailed,
    StepNotWaiting,
    StoreRejected,
    StoreUnavailable,
    Tool,
    ToolCall,
    ToolFailed,
    ToolState,
    VersionedTaskState,
    open_session,
    resolve_step,
    resume_abandoned_tasks,
    run_agent_with_state,
    save_task_with_version,
)
from edgestate.loop import run_task
from localedge.probe import Call, Observer, Outcome, Probe

pytestmark = pytest.mark.anyio

Freeze = Callable[[str], FrozenDateTimeFactory]
START = "2026-12-01T00:00:00Z"
ROOT = Path(__file__).parents[2]


class Died(BaseException):
    """The worker is gone."""


async def start(store: StateStore, agent: Agent, request_id: str = "r") -> VersionedTaskState:
    return await run_agent_with_state("go", "s", store, agent=agent, request_id=request_id)


def calling(function: Any, effect: Any = "idempotent", steps: int = 1, **options: Any) -> Agent:
    """An agent whose plan is `steps` calls of `function`."""
    made = Tool("call", function, effect, backoff=Backoff(0, 0), **options)
    return Agent(tools={"call": made}, plan=plan_of(*["call"] * steps))


async def test_langgraph_8039_result_and_pointer_are_one_write(versioned_store: StateStore) -> None:
    seen: list[tuple[int, int]] = []

    async def look(call: ToolCall) -> None:
        task = await versioned_store.get_task(call.task_id)
        assert task is not None
        finished = sum(step.status == "success" for step in task.steps)
        seen.append((task.current_step, finished))

    await start(versioned_store, calling(look, steps=4))

    assert seen == [(n, n) for n in range(4)]


async def test_langgraph_8764_an_accepted_task_is_there_after_a_kill(
    versioned_store: StateStore,
) -> None:
    async def die(call: ToolCall) -> None:
        raise Died

    with pytest.raises(Died):
        await start(versioned_store, calling(die))

    (task,) = await versioned_store.get_tasks_by_session("s")
    assert (task.status, task.request_id) == ("running", "r")


async def test_langgraph_8115_steps_that_end_together_are_all_stored(d1: D1StateStore) -> None:
    everybody = asyncio.Barrier(20)

    async def meet(call: ToolCall) -> int:
        async with asyncio.timeout(10):
            await everybody.wait()
        return call.step_index

    agent = Agent(
        tools={"meet": Tool("meet", meet, "read")}, plan=plan_of(*["meet"] * 20, group="all")
    )
    task = await start(d1, agent)

    stored = await d1.get_task(task.task_id)
    assert stored is not None
    assert [step.output for step in stored.steps] == list(range(20))


async def test_langgraph_8796_of_two_writers_of_one_version_one_wins(d1: D1StateStore) -> None:
    await d1.save_task(a_task())
    copies = [await d1.get_task("t") for _ in range(2)]

    results = await asyncio.gather(*(save_task_with_version(d1, c) for c in copies if c))

    assert sorted(result["success"] for result in results) == [False, True]


async def test_langgraph_7417_a_step_longer_than_its_lease_runs_once(d1: D1StateStore) -> None:
    tries: list[int] = []

    async def slow(call: ToolCall) -> str:
        tries.append(call.attempt)
        await asyncio.sleep(0.3)
        if len(tries) < 3:
            raise ToolFailed("not yet", may_retry=True)
        return "done"

    tool = Tool("slow", slow, "idempotent", timeout_s=0.4, backoff=Backoff(0.1, 0.1))
    agent = Agent(tools={"slow": tool}, plan=plan_of("slow"), lease_ttl_s=0.5)

    first = asyncio.ensure_future(start(d1, agent))
    second = asyncio.ensure_future(
        run_agent_with_state("go", "s", d1, agent=agent, request_id="r", wait_s=20)
    )
    ended = await asyncio.gather(first, second)

    assert [task.status for task in ended] == ["completed", "completed"]
    assert len(tries) == 3


async def test_langgraph_9002_what_failed_does_not_run_again_on_resume(
    versioned_store: StateStore,
) -> None:
    calls: list[int] = []

    async def fail(call: ToolCall) -> None:
        calls.append(call.step_index)
        raise ToolFailed("no")

    agent = calling(fail)
    for _ in range(3):
        with pytest.raises(StepFailed):
            await start(versioned_store, agent)

    assert calls == [0]


async def test_langgraph_7780_waiting_three_times_repeats_nothing(d1: D1StateStore) -> None:
    outside = Effects()

    async def charge(call: ToolCall) -> None:
        outside.log.append(f"charge {call.step_index}")
        raise ConnectionError("lost")

    agent = Agent(
        tools={"look": outside.tool("look", "read"), "charge": Tool("charge", charge)},
        plan=plan_of("look", "charge", "look", "charge", "look", "charge"),
    )
    task = await start(d1, agent)
    for index in (1, 3, 5):
        assert task.status == "waiting_tool"
        await resolve_step(d1, task, index, "done")
        task = await start(d1, agent)

    assert task.status == "completed"
    assert set(Counter(outside.log).values()) == {1}


async def test_langgraph_8836_an_answer_to_no_question_is_an_error(
    versioned_store: StateStore,
) -> None:
    await versioned_store.save_task(a_task())
    task = await versioned_store.get_task("t")
    assert task is not None

    with pytest.raises(StepNotWaiting):
        await resolve_step(versioned_store, task, 0, "done")


SAVER = """
import asyncio, sys
from pathlib import Path
from edgestate import D1StateStore, TaskState

async def main(path, name):
    from tests.edgestate.world import d1_binding
    async with d1_binding(Path(path), is_migrated=True) as db:
        store = D1StateStore(db)
        for number in range(200):
            await store.save_task(TaskState(task_id=f"{name}-{number}", session_id="s", goal="go"))

asyncio.run(main(*sys.argv[1:]))
"""

DRAINER = """
import asyncio, sys
from pathlib import Path
from edgestate import D1StateStore

async def main(path, name):
    from tests.edgestate.world import d1_binding
    async with d1_binding(Path(path), is_migrated=True) as db:
        store = D1StateStore(db)
        while ids := await store.find_abandoned_tasks(max_claims=9, limit=25):
            for task_id in ids:
                claimed = await store.claim_task(task_id, name, ttl_s=600)
                if claimed is None:
                    continue
                lease, task = claimed
                if task.status == "completed":
                    continue
                print(task_id)
                task.status = "completed"
                await store.commit(task, [], lease=lease, release=True)

asyncio.run(main(*sys.argv[1:]))
"""


async def _in_processes(program: str, path: Path, count: int) -> list[str]:
    """What `count` processes that run `program` at once print; each ends with 0."""
    running = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", program, str(path), f"process-{number}"),
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        for number in range(count)
    ]
    async with asyncio.timeout(100):
        outputs = [await process.communicate() for process in running]
    assert [process.returncode for process in running] == [0] * count, outputs
    return [line for out, _ in outputs for line in out.decode().splitlines()]


@pytest.mark.processes
async def test_langgraph_8136_four_processes_save_without_a_locked_database(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state.sqlite"
    async with d1_binding(path) as db:
        store = D1StateStore(db)
        await open_session("s", "u", store)

        await _in_processes(SAVER, path, 4)

        assert len(await store.get_tasks_by_session("s")) == 800


@pytest.mark.processes
async def test_dbos_541_two_processes_claim_each_of_a_thousand_tasks_once(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    async with d1_binding(path) as db:
        await open_session("s", "u", D1StateStore(db))
        await db.prepare(
            "INSERT INTO agent_tasks (id, session_id, goal, created_at, updated_at) "
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
            "SELECT 'task ' || i, 's', 'go', 'c', 'u' FROM n"
        ).run()

        claims = await _in_processes(DRAINER, path, 2)

    assert len(claims) == len(set(claims)) == 1000


async def test_langgraph_redis_137_no_key_outlives_its_session(
    valkey_url: str, frozen: Freeze
) -> None:
    clock = frozen(START)
    async with kv_binding(valkey_url) as kv:
        store = KVStateStore(kv)
        await open_session("s", "u", store)
        agent = Agent(tools={"look": Effects().tool("look", "read")}, plan=plan_of("look", "look"))
        await start(store, agent)
        await store.save_tool_state(
            ToolState(tool_name="x", task_id=(await store.get_tasks_by_session("s"))[0].task_id),
            (await store.get_tasks_by_session("s"))[0].task_id,
        )

        clock.tick(86401)

        assert (await kv.list())["keys"] == []


async def test_dbos_544_a_request_sent_ten_times_at_once_runs_once(d1: D1StateStore) -> None:
    outside = Effects()
    agent = Agent(tools={"look": outside.tool("look", "read")}, plan=plan_of("look", "look"))

    answers = await asyncio.gather(
        *(
            run_agent_with_state("go", "s", d1, agent=agent, request_id="r", wait_s=20)
            for _ in range(10)
        )
    )

    assert len({answer.task_id for answer in answers}) == 1
    assert [answer.result for answer in answers] == [{"done": 1}] * 10
    assert outside.log == ["look 0", "look 1"]


async def test_dbos_805_a_run_that_died_between_steps_goes_on_within_a_lease(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    task = await versioned_store.create_task(a_task(steps=2, request_id="r"))
    claimed = await versioned_store.claim_task(task.task_id, "dead", ttl_s=60)
    assert claimed is not None
    lease, held = claimed
    held.steps[0].status = "success"
    await versioned_store.commit(held, [0], lease=lease)
    outside = Effects()
    agent = Agent(tools={"look": outside.tool("look", "read")}, plan=plan_of("look"))

    clock.tick(59)
    early = await resume_abandoned_tasks(versioned_store, agent=agent)
    clock.tick(1)
    late = await resume_abandoned_tasks(versioned_store, agent=agent)

    assert (early["resumed"], late["resumed"]) == ([], ["t"])
    assert outside.log == ["look 1"]


async def test_dbos_818_a_fenced_worker_makes_no_further_call(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    calls: list[int] = []

    async def overtaken(call: ToolCall) -> None:
        calls.append(call.step_index)
        clock.tick(61)
        assert await versioned_store.acquire_lease(call.task_id, "successor", ttl_s=60)

    with pytest.raises((FenceLost, LeaseLost)):
        await start(versioned_store, calling(overtaken, steps=5))

    assert calls == [0]
    (task,) = await versioned_store.get_tasks_by_session("s")
    assert task.steps[0].status == "pending"


@pytest.mark.parametrize("bad", ["", ":", "x" * 513])
async def test_dbos_759_no_ghost_can_be_created(versioned_store: StateStore, bad: str) -> None:
    agent = Agent(tools={"look": Effects().tool("look", "read")}, plan=plan_of("look"))

    with pytest.raises(InvalidId):
        await run_agent_with_state("go", bad, versioned_store, agent=agent)
    with pytest.raises(InvalidId):
        await start(versioned_store, agent, request_id=bad)

    for _ in range(3):
        assert await resume_abandoned_tasks(versioned_store, agent=agent) == {
            "resumed": [],
            "failed": {},
        }


async def test_temporal_1578_parallel_steps_keep_their_own_results_in_any_order(
    d1: D1StateStore,
) -> None:
    deaths = [Died()]
    ended: list[int] = []

    async def finish_backwards(call: ToolCall) -> str:
        await asyncio.sleep(0.01 * (4 - call.step_index))
        if call.step_index == 1 and deaths:
            raise deaths.pop()
        ended.append(call.step_index)
        return f"result {call.step_index}"

    agent = Agent(
        tools={"f": Tool("f", finish_backwards, "idempotent")},
        plan=plan_of(*["f"] * 4, group="all"),
    )
    with pytest.raises(Died):
        await start(d1, agent)

    task = await start(d1, agent)

    stored = await d1.get_task(task.task_id)
    assert stored is not None
    assert [step.output for step in stored.steps] == [f"result {n}" for n in range(4)]
    assert set(Counter(ended).values()) == {1}


async def test_temporal_368_a_worker_told_to_stop_keeps_the_result_that_it_has(
    tmp_path: Path,
) -> None:
    probe = Probe()
    async with d1_binding(tmp_path / "x.sqlite", probe=probe) as db:
        store = D1StateStore(db)
        await open_session("s", "u", store)
        outside = Effects()
        agent = Agent(
            tools={"charge": outside.tool("charge", "non_idempotent")}, plan=plan_of("charge")
        )
        running = asyncio.ensure_future(start(store, agent))

        class StopAtCommit(Observer):
            has_stopped = False

            async def before(self, call: Call) -> None:
                if outside.log and not self.has_stopped:
                    self.has_stopped = True
                    running.cancel()

            async def after(self, call: Call, outcome: Outcome) -> None:
                return None

        probe.attach(StopAtCommit())
        with pytest.raises(asyncio.CancelledError):
            await running

        (task,) = await store.get_tasks_by_session("s")
        assert (task.status, task.steps[0].output) == ("completed", {"done": 0})


async def test_restate_5196_a_hung_step_frees_its_task_when_the_lease_ends(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    await versioned_store.save_task(a_task())
    assert await versioned_store.claim_task("t", "hung", ttl_s=60)

    clock.tick(60)

    assert await versioned_store.claim_task("t", "next", ttl_s=60)


async def test_hatchet_1022_a_zombies_result_is_refused_and_there_is_one(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    await versioned_store.save_task(a_task(steps=1))
    zombie = await versioned_store.claim_task("t", "zombie", ttl_s=60)
    clock.tick(61)
    successor = await versioned_store.claim_task("t", "successor", ttl_s=60)
    assert zombie is not None
    assert successor is not None

    for (lease, task), output in ((successor, "right"), (zombie, "late")):
        task.steps[0].status = "success"
        task.steps[0].output = output
        if output == "late":
            with pytest.raises(FenceLost):
                await versioned_store.commit(task, [0], lease=lease)
        else:
            await versioned_store.commit(task, [0], lease=lease)

    stored = await versioned_store.get_task("t")
    assert stored is not None
    assert stored.steps[0].output == "right"


async def test_inngest_4897_each_branch_of_a_fan_out_runs_once(d1: D1StateStore) -> None:
    outside = Effects()
    agent = Agent(
        tools={"look": outside.tool("look", "read")}, plan=plan_of(*["look"] * 8, group="race")
    )

    await asyncio.gather(
        *(
            run_agent_with_state("go", "s", d1, agent=agent, request_id="r", wait_s=20)
            for _ in range(4)
        )
    )

    assert sorted(outside.log) == [f"look {n}" for n in range(8)]


class _KeepsLocks(D1StateStore):
    """A store whose clean-up does not work."""

    async def release_lease(self, task_id: str, holder: str) -> bool:
        raise StoreUnavailable("no")


async def test_cloudflare_agents_2305_a_finished_task_whose_cleanup_failed_stays_finished(
    db: Any,
) -> None:
    store = _KeepsLocks(db)
    await open_session("s", "u", store)
    outside = Effects()
    agent = Agent(tools={"look": outside.tool("look", "read")}, plan=plan_of("look"))

    first = await start(store, agent)
    again = await run_task(first, store, agent=agent)
    swept = await resume_abandoned_tasks(store, agent=agent)

    assert (first.status, again.status, swept["resumed"]) == ("completed", "completed", [])
    assert outside.log == ["look 0"]


async def test_cloudflare_agents_883_a_poison_task_is_set_aside_and_later_ones_proceed(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    outside = Effects()

    async def kill(call: ToolCall) -> None:
        raise Died

    agent = Agent(
        tools={"kill": Tool("kill", kill, "idempotent"), "look": outside.tool("look", "read")},
        plan=plan_of("look"),
        max_claims=3,
    )
    poison = a_task("poison", steps=1, updated_at="2020-01-01T00:00:00.000Z")
    poison.steps[0].action = "kill"
    await versioned_store.save_task(poison)
    await versioned_store.save_task(a_task("later", steps=1))

    for _ in range(3):
        with pytest.raises(Died):
            await resume_abandoned_tasks(versioned_store, agent=agent)
        clock.tick(61)
    result = await resume_abandoned_tasks(versioned_store, agent=agent)

    assert result["resumed"] == ["later"]
    assert list(await versioned_store.list_quarantined()) == ["poison"]


async def test_miniflare_484_a_bad_last_statement_leaves_nothing_of_the_first(
    d1: D1StateStore,
) -> None:
    await d1.save_task(a_task())
    task = await d1.get_task("t")
    assert task is not None
    task.goal = "changed"
    foreign = ToolState(tool_name="x", task_id="nothing")

    with pytest.raises(StoreRejected, match="FOREIGN KEY"):
        await d1.commit(task, [0], tools=[foreign])

    stored = await d1.get_task("t")
    assert stored is not None
    assert (stored.goal, stored.version) == ("go", 1)


async def test_express_idempotency_32_an_orphaned_request_is_taken_over(
    versioned_store: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    task = await versioned_store.create_task(a_task(steps=1, request_id="r"))
    assert await versioned_store.claim_task(task.task_id, "orphan", ttl_s=60)
    agent = Agent(tools={"look": Effects().tool("look", "read")}, plan=plan_of("look"))

    clock.tick(60)
    ended = await start(versioned_store, agent)

    assert (ended.task_id, ended.status) == ("t", "completed")


async def test_rsshub_23407_every_lifetime_that_is_given_to_kv_is_one_that_it_takes(
    valkey_url: str, frozen: Freeze
) -> None:
    clock = frozen(START)
    async with kv_binding(valkey_url) as kv:
        store = KVStateStore(kv)
        session = await open_session("s", "u", store)
        for _ in range(40):
            clock.tick(3600 * 0.7)
            await store.save_session(session)
            await store.save_task(a_task())
            await store.quarantine_task("other", "torn")
            await kv.delete("agent:task:t")

        keys = (await kv.list())["keys"]
        assert all(key["expiration"] for key in keys)
