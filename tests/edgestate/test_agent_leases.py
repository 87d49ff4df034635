"""Leases: one holder at a time, a fence that only grows, and late writers refused."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from tests.conformance.state_store import a_task
from tests.edgestate.world import d1_binding
from tests.waiting import wait_until

from edgestate import (
    D1StateStore,
    FenceLost,
    KVStateStore,
    LeaseLost,
    LeaseTooShort,
    StateStore,
    TaskNotFound,
    TaskQuarantined,
    Unsupported,
    VersionConflict,
    acquire_task_lock,
    release_task_lock,
)
from edgestate.errors import StoreUnavailable
from edgestate.keeper import LeaseKeeper, TimedOut
from edgestate.traits import Lease
from localedge.errors import JsException

pytestmark = pytest.mark.anyio

Freeze = Callable[[str], FrozenDateTimeFactory]
START = "2026-12-01T00:00:00Z"


@pytest.fixture
async def leased(versioned_store: StateStore) -> StateStore:
    """A store with the task "t"."""
    await versioned_store.save_task(a_task())
    return versioned_store


async def taken(store: StateStore, holder: str, ttl_s: float = 60) -> Lease:
    lease = await store.acquire_lease("t", holder, ttl_s=ttl_s)
    assert lease is not None
    return lease


async def test_a_lease_is_held_until_its_last_second(leased: StateStore, frozen: Freeze) -> None:
    clock = frozen(START)
    await taken(leased, "a")

    clock.tick(59.999)
    assert await leased.acquire_lease("t", "b", ttl_s=60) is None
    clock.tick(0.001)
    assert await leased.acquire_lease("t", "b", ttl_s=60) is not None


async def test_every_lease_has_a_larger_fence(leased: StateStore, frozen: Freeze) -> None:
    clock = frozen(START)
    fences = []
    for holder in "abc":
        fences.append((await taken(leased, holder)).fence)
        clock.tick(61)
    fences.append((await taken(leased, "d")).fence)
    await leased.release_lease("t", "d")
    fences.append((await taken(leased, "d")).fence)

    assert fences == [1, 2, 3, 4, 5]


async def test_the_same_holder_gets_its_lease_again_with_a_new_fence(leased: StateStore) -> None:
    first = await taken(leased, "a")
    again = await taken(leased, "a")

    assert again.fence == first.fence + 1


async def test_of_twenty_that_come_at_once_one_gets_the_lease(leased: StateStore) -> None:
    leases = await asyncio.gather(
        *(leased.acquire_lease("t", f"holder {n}", ttl_s=60) for n in range(20))
    )

    assert sum(lease is not None for lease in leases) == 1


async def test_only_the_owner_releases(leased: StateStore) -> None:
    await taken(leased, "a")

    assert not await leased.release_lease("t", "b")
    assert await leased.acquire_lease("t", "b", ttl_s=60) is None
    assert await leased.release_lease("t", "a")
    assert not await leased.release_lease("t", "a")
    assert await leased.acquire_lease("t", "b", ttl_s=60) is not None


async def test_renewing_keeps_the_fence_and_moves_the_end(
    leased: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    lease = await taken(leased, "a")

    for _ in range(5):
        clock.tick(50)
        lease = await leased.renew_lease(lease)

    assert lease.fence == 1
    assert await leased.acquire_lease("t", "b", ttl_s=60) is None


async def test_a_lease_that_ended_is_not_renewed(leased: StateStore, frozen: Freeze) -> None:
    clock = frozen(START)
    lease = await taken(leased, "a")

    clock.tick(60)

    with pytest.raises(LeaseLost) as refusal:
        await leased.renew_lease(lease)
    assert (refusal.value.task_id, refusal.value.holder) == ("t", "a")


async def test_a_lease_that_another_has_is_not_renewed(leased: StateStore, frozen: Freeze) -> None:
    clock = frozen(START)
    lease = await taken(leased, "a")
    clock.tick(60)
    await taken(leased, "b")

    with pytest.raises(LeaseLost):
        await leased.renew_lease(lease)
    assert await leased.acquire_lease("t", "c", ttl_s=60) is None


@pytest.mark.parametrize("ttl_s", [0, -1, float("nan")])
async def test_a_time_to_live_of_nothing_is_refused_and_deletes_nothing(
    leased: StateStore, ttl_s: float
) -> None:
    lease = await taken(leased, "a")

    with pytest.raises(ValueError, match="more than 0 s"):
        await leased.renew_lease(lease, ttl_s=ttl_s)
    with pytest.raises(ValueError, match="more than 0 s"):
        await leased.acquire_lease("t", "b", ttl_s=ttl_s)

    assert await leased.acquire_lease("t", "b", ttl_s=60) is None


async def test_a_write_under_an_old_fence_changes_nothing(
    leased: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    lease = await taken(leased, "a")
    late = await leased.get_task("t")
    assert late is not None
    clock.tick(61)
    await taken(leased, "b")

    late.goal = "late"
    late.steps[0].status = "success"
    with pytest.raises(FenceLost) as refusal:
        await leased.commit(late, [0], lease=lease)

    assert (refusal.value.fence, refusal.value.actual) == (1, 2)
    stored = await leased.get_task("t")
    assert stored is not None
    assert (stored.goal, stored.steps[0].status) == ("go", "pending")


async def test_a_plain_save_does_not_write_past_a_lease(leased: StateStore) -> None:
    read_before = await leased.get_task("t")
    assert read_before is not None
    await taken(leased, "a")

    with pytest.raises((FenceLost, VersionConflict)):
        await leased.save_task(read_before)


async def test_a_claim_sets_the_task_running_and_shows_it_as_it_is(leased: StateStore) -> None:
    claimed = await leased.claim_task("t", "a", ttl_s=60)

    assert claimed is not None
    lease, task = claimed
    assert (task.status, task.version, task.fence) == ("running", 2, lease.fence)


async def test_there_is_no_lease_on_what_is_not_there(leased: StateStore) -> None:
    with pytest.raises(TaskNotFound):
        await leased.acquire_lease("nothing", "a", ttl_s=60)
    await leased.quarantine_task("t", "torn")
    with pytest.raises(TaskQuarantined):
        await leased.acquire_lease("t", "a", ttl_s=60)


async def test_a_task_that_never_gets_anywhere_is_set_aside(
    leased: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    for number in range(3):
        assert await leased.find_abandoned_tasks(max_claims=3, limit=9) == ["t"]
        assert await leased.claim_task("t", f"worker {number}", ttl_s=60) is not None
        assert await leased.find_abandoned_tasks(max_claims=3, limit=9) == []
        clock.tick(61)

    assert await leased.find_abandoned_tasks(max_claims=3, limit=9) == []
    assert "3 times" in (await leased.list_quarantined())["t"]


# --- keeping a lease while something runs ---


async def test_a_long_call_is_kept_by_renewing(leased: StateStore) -> None:
    lease = await taken(leased, "a", ttl_s=0.3)
    keeper = LeaseKeeper(leased, lease)

    async def work() -> str:
        await asyncio.sleep(0.8)
        return "done"

    assert await keeper.run(work, timeout_s=10) == "done"
    assert await leased.acquire_lease("t", "b", ttl_s=60) is None


async def test_a_call_is_cancelled_when_its_lease_is_lost(leased: StateStore) -> None:
    lease = await taken(leased, "a", ttl_s=0.3)
    keeper = LeaseKeeper(leased, lease)
    ended = asyncio.Event()

    async def work() -> None:
        await leased.release_lease("t", "a")
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    with pytest.raises(LeaseLost):
        await keeper.run(work, timeout_s=60)
    assert ended.is_set()


class _Deaf(D1StateStore):
    """A store that no longer answers renewals."""

    async def renew_lease(self, lease: Lease, *, ttl_s: float | None = None) -> Lease:
        raise StoreUnavailable("gone")


async def test_a_call_is_cancelled_when_its_lease_ends_unrenewed(db: Any) -> None:
    store = _Deaf(db)
    lease = Lease("t", "a", 1, expires_at=_now() + 0.3, ttl_s=0.3)

    with pytest.raises(LeaseLost):
        await LeaseKeeper(store, lease).run(lambda: asyncio.sleep(60), timeout_s=60)


def _now() -> float:
    import time

    return time.time()


async def test_a_call_that_ignores_its_cancellation_is_left_behind(leased: StateStore) -> None:
    keeper = LeaseKeeper(leased, None)
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    with pytest.raises(TimedOut):
        await keeper.run(stubborn, timeout_s=0.01)
    release.set()


async def test_nothing_begins_that_could_outlive_the_lease(leased: StateStore) -> None:
    keeper = LeaseKeeper(leased, await taken(leased, "a", ttl_s=30))

    await keeper.have(29, "tool")
    with pytest.raises(LeaseTooShort):
        await keeper.have(31, "tool")


async def test_a_clock_set_back_does_not_lengthen_a_lease(
    leased: StateStore, frozen: Freeze
) -> None:
    clock = frozen(START)
    keeper = LeaseKeeper(leased, await taken(leased, "a", ttl_s=30))

    clock.move_to("2026-11-30T00:00:00Z")

    assert keeper.left_s() <= 30


# --- the document's lock ---


async def test_the_lock_on_a_lease_excludes(leased: StateStore, frozen: Freeze) -> None:
    clock = frozen(START)

    assert await acquire_task_lock(leased, "t", "a")
    assert not await acquire_task_lock(leased, "t", "b")
    clock.tick(29)
    assert not await acquire_task_lock(leased, "t", "b")
    clock.tick(1)
    assert await acquire_task_lock(leased, "t", "b", 60)
    await release_task_lock(leased, "t", "a")
    assert not await acquire_task_lock(leased, "t", "c")
    await release_task_lock(leased, "t", "b")
    assert await acquire_task_lock(leased, "t", "c")


async def test_kv_is_no_lock_unless_a_hint_is_enough(kv: Any) -> None:
    for given in (kv, KVStateStore(kv)):
        with pytest.raises(Unsupported, match="advisory=True"):
            await acquire_task_lock(given, "t", "a", 60)
        with pytest.raises(Unsupported, match="advisory=True"):
            await release_task_lock(given, "t", "a")


async def test_the_advisory_lock_is_held_at_59_s_and_free_at_60(kv: Any, frozen: Freeze) -> None:
    clock = frozen(START)

    assert await acquire_task_lock(kv, "t", "a", advisory=True)
    clock.tick(59)
    assert not await acquire_task_lock(kv, "t", "b", advisory=True)
    clock.tick(1)
    assert await acquire_task_lock(kv, "t", "b", advisory=True)


async def test_the_advisory_lock_is_released_by_its_owner_only(kv: Any) -> None:
    store = KVStateStore(kv)
    assert await acquire_task_lock(store, "t", "a", advisory=True)

    await release_task_lock(store, "t", "b", advisory=True)
    assert not await acquire_task_lock(store, "t", "b", advisory=True)
    await release_task_lock(store, "t", "a", advisory=True)
    assert await acquire_task_lock(store, "t", "b", advisory=True)


async def test_a_short_advisory_lock_is_the_platforms_400(kv: Any) -> None:
    with pytest.raises(JsException, match="Expiration TTL must be at least 60"):
        await acquire_task_lock(kv, "t", "a", 30, advisory=True)


# --- a process that sleeps through its lease ---

SLEEPER = """
import asyncio, json, sys
from pathlib import Path
from edgestate import D1StateStore, FenceLost
from tests.edgestate.world import d1_binding

async def main(path, go):
    async with d1_binding(Path(path), is_migrated=True) as db:
        store = D1StateStore(db)
        lease, task = await store.claim_task("t", "sleeper", ttl_s=0.5)
        print("claimed", flush=True)
        while not Path(go).exists():
            await asyncio.sleep(0.01)
        task.goal = "written by the sleeper"
        try:
            await store.commit(task, [], lease=lease)
            print(json.dumps("written"), flush=True)
        except FenceLost as error:
            print(json.dumps([error.fence, error.actual]), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.processes
async def test_a_stopped_process_that_wakes_late_is_refused(tmp_path: Path) -> None:
    path, go = tmp_path / "state.sqlite", tmp_path / "go"
    async with d1_binding(path) as db:
        from edgestate import open_session

        store = D1StateStore(db)
        await open_session("s", "u", store)
        await store.save_task(a_task())
        sleeper = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SLEEPER, str(path), str(go)),
            stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        try:
            assert sleeper.stdout is not None
            async with asyncio.timeout(30):
                assert await sleeper.stdout.readline() == b"claimed\n"
                os.kill(sleeper.pid, signal.SIGSTOP)
                successor = await wait_until(lambda: store.claim_task("t", "successor", ttl_s=60))
                assert successor is not None
                go.touch()
                os.kill(sleeper.pid, signal.SIGCONT)
                said = json.loads(await sleeper.stdout.readline())
        finally:
            os.kill(sleeper.pid, signal.SIGKILL)
            await sleeper.wait()

        stored = await store.get_task("t")
        assert said == [1, 2]
        assert stored is not None
        assert stored.goal == "go"
