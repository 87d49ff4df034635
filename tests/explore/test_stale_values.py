"""Every value, or absence, that a key had within the window is among the answers of a read."""

from __future__ import annotations

from typing import Any

from localedge.explore import Client, Outcome, Scenario, Setting
from localedge.explore.exploring import replayed
from localedge.explore.fixture import Explore
from localedge.explore.lab import opened
from localedge.explore.staleness import Staleness

KV = Setting(kv=("KV",))


async def put(env: Any, value: str, ttl_s: int | None = None) -> None:
    await env.KV.put("key", value, **({"expirationTtl": ttl_s} if ttl_s else {}))


async def delete(env: Any) -> None:
    await env.KV.delete("key")


async def read(env: Any) -> Any:
    return await env.KV.get("key")


async def read_twice(env: Any) -> list[Any]:
    return [await env.KV.get("key"), await env.KV.get("key")]


async def listed(env: Any) -> list[str]:
    found = await env.KV.list()
    return [key["name"] for key in found["keys"]]


def answers(explore: Explore, *steps: Any, last: Any = read) -> list[Any]:
    """What `last` returns in all stale runs after `steps`: functions, or seconds to wait."""
    found: list[Any] = []

    async def client(client: Client) -> None:
        for step in steps:
            if isinstance(step, int):
                await client.sleep(step)
            else:
                await client.run(*step)
        found.append(await client.run(last))

    with opened(Scenario(client, setting=KV), explore.folder) as lab:
        assert all(verdict.is_clean for verdict in Staleness(lab).runs())
    return sorted(found, key=repr)


def test_a_read_gets_each_value_of_the_last_minute_and_none_older(explore: Explore) -> None:
    old = (put, "one"), 61, (put, "two"), 5, (put, "three"), 5

    assert answers(explore, *old) == ["one", "three", "two"]
    assert answers(explore, *old, 51) == ["three", "two"]
    assert answers(explore, *old, 61) == ["three"]


def test_a_new_key_may_still_be_absent_and_a_deleted_one_still_there(explore: Explore) -> None:
    assert answers(explore, (put, "one"), 5) == ["one", None]
    assert answers(explore, (put, "one"), 61, (delete,), 5) == ["one", None]


def test_an_entry_that_expired_within_the_minute_may_still_be_there(explore: Explore) -> None:
    assert answers(explore, (put, "one", 60), 70) == ["one", None]
    assert answers(explore, (put, "one", 60), 70, (put, "two"), 5) == ["one", "two", None]
    assert answers(explore, (put, "one", 60), 130) == [None]


def test_two_reads_of_one_run_may_each_be_stale(explore: Explore) -> None:
    found = answers(explore, (put, "one"), 5, last=read_twice)

    assert found == [["one", "one"], ["one", None], [None, "one"], [None, None]]


def test_a_list_may_lag_behind_each_key(explore: Explore) -> None:
    assert answers(explore, (put, "one"), 5, last=listed) == [["key"], []]


def test_the_counter_example_needs_one_old_answer(explore: Explore) -> None:
    async def client(client: Client) -> None:
        await client.run(put, "one")
        await client.sleep(61)
        await client.run(put, "two")
        for _ in range(3):
            assert await client.run(read) == "two"

    report = explore.report(Scenario(client, setting=KV), stale=True)

    (told,) = report.told
    assert told.verdict.outcome is Outcome.DIVERGED
    assert [str(choice) for choice in told.verdict.choices] == ["3 stale value 1"]
    with opened(Scenario(client, setting=KV), explore.folder) as lab:
        assert replayed(lab, told.verdict.choices)[0].outcome is Outcome.DIVERGED
