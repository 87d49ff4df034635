"""What went wrong in the documents' three generations, with and without what prevents it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.team.world import SlowDatabase, Team, claimed

from edgestate.errors import FenceLost, StateError
from edgestate.team import (
    Cache,
    Subtask,
    Tally,
    TeamMember,
    Versioned,
    examine,
)
from edgestate.team import cache as cache_module

pytestmark = pytest.mark.anyio


# --- generation 1: pulled an old value, and did the task again ---


async def pulled(team: Team, database: SlowDatabase, *, decide_on_cache: bool) -> int:
    """How often the work is done when B looks at a status that is older than A's claim."""
    await team.goal("a")
    a, b = await team.worker(1), await team.worker(2)
    done = 0
    await b.task_view("a")
    await claimed(a)
    done += 1
    if decide_on_cache:
        seen = await b.task_view("a", min_version=1)
        assert seen is not None
        assert isinstance(seen.value, dict)
        done += seen.value["status"] == "pending"
    else:
        done += await b.board.claim() is not None
    return done


async def test_an_old_value_in_the_cache_starts_no_task(
    cached_team: tuple[Team, SlowDatabase],
) -> None:
    assert await pulled(*cached_team, decide_on_cache=False) == 1


async def test_who_decides_on_the_cache_does_the_task_again(
    cached_team: tuple[Team, SlowDatabase],
) -> None:
    assert await pulled(*cached_team, decide_on_cache=True) == 2


# --- generation 2: a late refill puts an old value over a newer one; status without result ---


async def refilled(kv: Any) -> int:
    """The version that is cached after a slow reader wrote what it had read long ago."""
    slow, quick = Cache(kv, Tally()), Cache(kv, Tally())
    await quick.put("task", "a", Versioned("completed", 3))
    await slow.put("task", "a", Versioned("running", 2))
    held = await quick.newest("task", "a")
    assert held is not None
    return held.version


async def test_a_late_refill_of_the_cache_replaces_nothing_newer(kv: Any) -> None:
    assert await refilled(kv) == 3


async def test_with_one_key_for_all_versions_a_late_refill_wins(
    kv: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "cache_key", lambda kind, id_, _: f"team:{kind}:{id_}:")

    assert await refilled(kv) == 2


async def test_completion_and_summary_are_stored_together_or_not_at_all(team: Team) -> None:
    await team.goal("a")
    worker = await team.worker()
    held = await claimed(worker)

    with pytest.raises(StateError):
        effect = worker.messages.sending("nobody", "note", 1)
        await worker.board.complete(held, 1, summary="one", effects=[effect])

    assert (await worker.board.task("a")).status == "running"
    assert await worker.board.result("a") is None
    assert await team.rows("SELECT * FROM task_snapshots") == []


# --- 0 rows and ABA: generation 3 ---


async def test_a_reopened_task_that_another_runs_is_not_completed_by_its_first_holder(
    team: Team,
) -> None:
    await team.goal("a")
    a, b = await team.worker(1), await team.worker(2)
    first = await claimed(a)
    await a.board.release(first, reason="not sure")
    second = await claimed(b)

    with pytest.raises(FenceLost):
        await a.board.complete(first, "a's", summary="a's")
    await b.board.complete(second, "b's", summary="b's")

    result = await b.board.result("a")
    assert result is not None
    assert result.value == "b's"


async def test_ten_workers_at_once_leave_a_team_without_symptoms(team: Team) -> None:
    await team.goal(*(Subtask(f"t{n}", "work", n) for n in range(30)))
    workers = [await team.worker(n) for n in range(1, 11)]

    async def work(worker: TeamMember) -> int:
        done = 0
        while held := await worker.board.claim():
            await worker.board.complete(held, held.task.input, summary="done")
            done += 1
        return done

    done = await asyncio.gather(*(work(worker) for worker in workers))

    assert sum(done) == 30
    assert [s.key for s in await examine(team.record) if s.is_found] == []
