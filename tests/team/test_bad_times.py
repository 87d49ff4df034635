"""A database that is slow or gone, and a cache that is: reads degrade, writes happen once."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from tests.conftest import Freeze
from tests.team.world import PATIENT, SlowDatabase, Team, claimed

from edgestate.errors import StoreUnavailable
from edgestate.team import Breaker, Cache, D1Record, Deadlines, Tally, Versioned
from edgestate.team.cache import cache_key

pytestmark = pytest.mark.anyio

SHORT = Deadlines(read_s=0.2, write_s=0.4)


async def fact_of(team: Team) -> None:
    planner = await team.planner()
    await planner.knowledge.create("norm", "be brief", kind="norm", visibility="public")


def test_the_documents_deadlines_are_the_default() -> None:
    assert Deadlines() == Deadlines(read_s=0.5, write_s=2.0)


async def test_a_read_falls_back_to_the_cache_and_says_that_it_is_stale(
    cached_team: tuple[Team, SlowDatabase],
) -> None:
    team, database = cached_team
    await fact_of(team)
    worker = await team.worker()
    fresh = await worker.knowledge.get("norm")

    database.is_down = True
    stale = await worker.knowledge.get("norm")

    assert fresh is not None
    assert stale is not None
    assert (fresh.stale, stale.stale, stale.value, stale.version) == (False, True, "be brief", 1)
    assert team.record.tally["stale_reads"] == 1


async def test_what_is_private_is_not_in_the_cache(cached_team: tuple[Team, SlowDatabase]) -> None:
    team, database = cached_team
    worker = await team.worker()
    await worker.knowledge.create("habit", 1, kind="preference", visibility="private")
    await worker.knowledge.get("habit")

    database.is_down = True

    with pytest.raises(StoreUnavailable):
        await worker.knowledge.get("habit")


async def test_a_write_without_the_database_fails_and_is_not_in_the_cache(
    cached_team: tuple[Team, SlowDatabase],
) -> None:
    team, database = cached_team
    await fact_of(team)
    planner = await team.planner()
    fact = await planner.knowledge.get("norm")
    assert fact is not None

    database.is_down = True
    with pytest.raises(StoreUnavailable):
        await planner.knowledge.update(fact, "be long")
    stale = await planner.knowledge.get("norm")

    assert stale is not None
    assert stale.value == "be brief"


async def test_a_write_that_timed_out_is_sent_again_and_happened_once(
    cached_team: tuple[Team, SlowDatabase], caplog: pytest.LogCaptureFixture
) -> None:
    team, database = cached_team
    planner, worker = await team.planner(), await team.worker()
    team.record.deadlines = SHORT
    database.delay_s, database.times = 3, 1

    with caplog.at_level(logging.WARNING):
        await planner.messages.send("worker-1", "note", "once")
    team.record.deadlines = PATIENT
    await planner.desk.write_down()

    assert [m.content for m in await worker.messages.poll()] == ["once"]
    assert "database too slow" in caplog.text
    assert (await team.counters())["timeouts_write"] == 1


async def test_a_claim_whose_answer_was_lost_is_still_one_claim(
    cached_team: tuple[Team, SlowDatabase],
) -> None:
    team, database = cached_team
    await team.goal("a", "b")
    worker = await team.worker()
    team.record.deadlines = SHORT
    database.delay_s, database.times = 3, 1

    await claimed(worker)

    assert len(await team.rows("SELECT * FROM task_status WHERE status = 'running'")) == 1


async def test_a_database_that_answers_after_three_seconds_is_given_up_in_time(
    cached_team: tuple[Team, SlowDatabase],
) -> None:
    team, database = cached_team
    planner, _ = await team.planner(), await team.worker()
    team.record.deadlines = SHORT
    database.delay_s, database.times = 3, 99
    enrolling = database.calls

    with pytest.raises(StoreUnavailable, match="outcome is unknown"):
        await planner.messages.send("worker-1", "note", "late")
    with pytest.raises(StoreUnavailable):
        await planner.board.task("goal")

    # Three tries of the write; then the breaker is open and nobody waits for a read.
    assert database.calls == enrolling + 3
    assert team.record.breaker.state == "open"


async def test_a_cache_that_is_gone_costs_nothing_but_its_speed(team: Team) -> None:
    class Gone:
        calls = 0

        def __getattr__(self, name: str) -> Any:
            async def fail(*_: Any, **__: Any) -> Any:
                self.calls += 1
                raise OSError("KV is gone")

            return fail

    gone = Gone()
    team.kv = gone
    await fact_of(team)
    worker = await team.worker()

    facts = [await worker.knowledge.get("norm", min_version=1) for _ in range(10)]

    assert all(fact is not None and not fact.stale for fact in facts)
    # After three failures in a row it is left alone.
    assert gone.calls == 3
    assert worker.cache.breaker.state == "open"


async def test_an_older_value_never_replaces_a_newer_one(kv: Any) -> None:
    cache = Cache(kv, Tally())

    await cache.put("task", "a", Versioned("new", 12))
    await cache.put("task", "a", Versioned("old", 9))
    await cache.put("task", "a b", Versioned("another", 99))

    assert await cache.newest("task", "a") == Versioned("new", 12)


async def test_a_cached_value_older_than_wanted_is_read_again(
    cached_team: tuple[Team, SlowDatabase],
) -> None:
    team, _ = cached_team
    await fact_of(team)
    planner, worker = await team.planner(), await team.worker()
    fact = await worker.knowledge.get("norm")
    assert fact is not None
    await planner.knowledge.update(fact, "be clear")

    seen = await worker.knowledge.get("norm", min_version=1)
    wanted = await worker.knowledge.get("norm", min_version=2)

    assert seen is not None
    assert wanted is not None
    assert (seen.value, wanted.value) == ("be brief", "be clear")


async def test_a_cached_value_that_cannot_be_read_is_as_good_as_none(kv: Any) -> None:
    await kv.put(cache_key("task", "a", 3), "not JSON")

    assert await Cache(kv, Tally()).newest("task", "a") is None


async def test_a_breaker_opens_after_failures_in_a_row_and_lets_one_try(frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    breaker = Breaker("x", failures_allowed=2, open_s=10)

    breaker.failed()
    breaker.succeeded()
    breaker.failed()
    assert breaker.allows()
    breaker.failed()
    assert not breaker.allows()
    clock.tick(10)
    tries = [breaker.allows(), breaker.allows()]
    breaker.succeeded()

    assert tries == [True, False]
    assert (breaker.state, breaker.opened) == ("closed", 1)


async def test_a_breaker_that_opened_is_counted_in_the_database(
    cached_team: tuple[Team, SlowDatabase], frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    team, database = cached_team
    planner, _ = await team.planner(), await team.worker()
    database.is_down = True
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await planner.board.task("a")

    database.is_down = False
    clock.tick(11)
    await planner.messages.send("worker-1", "note", 1)

    assert (await team.counters())["breaker_opened_database"] == 1


def test_a_record_has_a_breaker_of_its_own() -> None:
    one, two = D1Record(SlowDatabase(None)), D1Record(SlowDatabase(None))

    assert one.breaker is not two.breaker
