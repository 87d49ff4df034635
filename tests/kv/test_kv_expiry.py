"""Entries end by our clock, in get and in list alike."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conftest import Freeze

from localedge.kv.redis import RedisConnection

pytestmark = pytest.mark.anyio


async def names(kv: Any) -> list[str]:
    return [key["name"] for key in (await kv.list())["keys"]]


async def test_a_key_with_a_ttl_of_60_is_there_at_59_s_and_gone_at_60_s(
    kv: Any, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await kv.put("k", "v", expirationTtl=60)

    clock.tick(59)
    there = (await kv.get("k"), await kv.get(["k"]), await names(kv))
    clock.tick(1)
    gone = (await kv.get("k"), await kv.get(["k"]), await names(kv))

    assert there == ("v", {"k": "v"}, ["k"])
    assert gone == (None, {"k": None}, [])


async def test_a_session_of_a_day_is_there_at_23_h_59_and_gone_at_24_h(
    kv: Any, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T12:00:00Z")
    await kv.put("session", "v", expirationTtl=86_400)

    clock.tick(86_400 - 60)
    there = await kv.get("session")
    clock.tick(60)
    gone = await kv.get("session")

    assert (there, gone) == ("v", None)


async def test_an_expiration_is_a_second_of_our_clock(kv: Any, frozen: Freeze) -> None:
    clock = frozen("2030-01-01T00:00:00Z")
    end = 1_893_456_000 + 60
    await kv.put("k", "v", expiration=end)

    listed = await kv.list()
    clock.tick(60)

    assert listed["keys"] == [{"name": "k", "expiration": end}]
    assert await kv.get("k") is None


async def test_a_key_is_there_again_when_the_clock_goes_back(kv: Any, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await kv.put("k", "v", expirationTtl=60)

    clock.tick(3600)
    gone = await kv.get("k")
    clock.tick(-3590)

    assert gone is None
    assert await kv.get("k") == "v"


async def test_a_put_without_ttl_stays_for_ever(kv: Any, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await kv.put("k", "1", expirationTtl=60)
    await kv.put("k", "2")

    clock.tick(10 * 365 * 86_400)

    assert await kv.get("k") == "2"


async def test_the_server_reclaims_an_entry_a_day_after_its_end_by_our_clock(
    kv: Any, connection: RedisConnection, namespace_id: str, frozen: Freeze
) -> None:
    frozen("2020-01-01T00:00:00Z")
    await kv.put("k", "v", expirationTtl=60)

    keys = await connection.execute(b"KEYS", b"*:h:k")
    assert isinstance(keys, list)
    lives = [await connection.execute(b"PTTL", key) for key in keys if isinstance(key, bytes)]

    assert any(isinstance(ms, int) and 86_400_000 < ms <= 86_460_000 for ms in lives)


async def test_a_listed_expired_key_leaves_nothing_behind(
    kv: Any, connection: RedisConnection, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await kv.put("only here: leaves nothing", "v", expirationTtl=60)

    clock.tick(60)
    await kv.list()

    assert await connection.execute(b"KEYS", b"*:h:only here: leaves nothing") == []
