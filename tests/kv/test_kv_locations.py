"""Eventual consistency: what a location has read stays for a while, and then does not."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conftest import Freeze
from tests.kv.conftest import BindingOf

from localedge.kv.redis import RedisConnection, connect

pytestmark = pytest.mark.anyio


class Places:
    """Two locations of one namespace, and how to see a third."""

    def __init__(self, connection: RedisConnection, namespace_id: str, binding_of: BindingOf):
        self._connection = connection
        self._namespace_id = namespace_id
        self._binding_of = binding_of
        self.vienna = self.at("vienna")
        self.lima = self.at("lima")

    def at(self, location: str) -> Any:
        """`env.KV` in a new isolate at `location`."""
        store = self._connection.store(self._namespace_id, location=location)
        return self._binding_of(store)


@pytest.fixture
def places(connection: RedisConnection, namespace_id: str, binding_of: BindingOf) -> Places:
    return Places(connection, namespace_id, binding_of)


async def test_a_read_elsewhere_stays_stale_for_60_s(places: Places, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await places.vienna.put("k", "old")
    await places.lima.get("k")
    await places.vienna.put("k", "new")

    clock.tick(59)
    stale = await places.lima.get("k")
    clock.tick(1)
    fresh = await places.lima.get("k")

    assert (stale, fresh) == ("old", "new")


async def test_an_absence_elsewhere_stays_for_60_s(places: Places, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await places.lima.get("k")
    await places.vienna.put("k", "v")

    clock.tick(59)
    stale = await places.lima.get("k")
    clock.tick(1)
    fresh = await places.lima.get("k")

    assert (stale, fresh) == (None, "v")


async def test_a_deleted_value_stays_elsewhere_for_60_s(places: Places, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await places.vienna.put("k", "v")
    await places.lima.get("k")
    await places.vienna.delete("k")

    stale = await places.lima.get("k")
    clock.tick(60)
    fresh = await places.lima.get("k")

    assert (stale, fresh) == ("v", None)


async def test_the_writer_sees_its_own_writes_at_once(places: Places) -> None:
    await places.vienna.get("k")
    await places.vienna.put("k", "1")
    after_put = await places.vienna.get("k")
    await places.vienna.put("k", "2")
    after_second = await places.vienna.get("k")
    await places.vienna.delete("k")

    assert (after_put, after_second) == ("1", "2")
    assert await places.vienna.get("k") is None


async def test_another_isolate_of_the_location_shares_its_cache(places: Places) -> None:
    await places.vienna.put("k", "old")
    await places.lima.get("k")
    await places.vienna.put("k", "new")

    assert await places.at("lima").get("k") == "old"
    assert await places.at("quito").get("k") == "new"


async def test_a_kill_does_not_empty_the_cache(
    kv_url: str, namespace_id: str, binding_of: BindingOf
) -> None:
    async with connect(kv_url) as first:
        writer = binding_of(first.store(namespace_id, location="vienna"))
        await writer.put("k", "old")
        await binding_of(first.store(namespace_id, location="lima")).get("k")
        await writer.put("k", "new")

    async with connect(kv_url) as second:
        value = await binding_of(second.store(namespace_id, location="lima")).get("k")

    assert value == "old"


async def test_cache_ttl_pins_a_value_for_longer(places: Places, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await places.vienna.put("k", "old")
    await places.lima.get("k", cacheTtl=300)
    await places.vienna.put("k", "new")

    clock.tick(299)
    stale = await places.lima.get("k", cacheTtl=300)
    clock.tick(1)
    fresh = await places.lima.get("k", cacheTtl=300)

    assert (stale, fresh) == ("old", "new")


async def test_a_later_read_with_a_smaller_cache_ttl_shortens_it(
    places: Places, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await places.vienna.put("k", "old")
    await places.lima.get("k", cacheTtl=300)
    await places.vienna.put("k", "new")

    clock.tick(20)
    pinned = await places.lima.get("k", cacheTtl=30)
    clock.tick(10)
    fresh = await places.lima.get("k", cacheTtl=300)

    assert (pinned, fresh) == ("old", "new")


async def test_an_expiration_comes_before_the_cache(places: Places, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await places.vienna.put("k", "v", expirationTtl=60)
    await places.lima.get("k", cacheTtl=3600)

    clock.tick(60)

    assert await places.lima.get("k", cacheTtl=3600) is None


async def test_the_cache_status_says_where_a_value_came_from(places: Places) -> None:
    await places.vienna.put("k", "v", metadata=1)

    first = await places.lima.getWithMetadata("k")
    second = await places.lima.getWithMetadata("k")

    assert first == {"value": "v", "metadata": 1, "cacheStatus": "MISS"}
    assert second == {"value": "v", "metadata": 1, "cacheStatus": "HIT"}


async def test_a_bulk_read_uses_the_cache_too(places: Places) -> None:
    await places.vienna.put("a", "old")
    await places.lima.get(["a", "b"])
    await places.vienna.put("a", "new")
    await places.vienna.put("b", "new")

    assert await places.lima.get(["a", "b"]) == {"a": "old", "b": None}


async def test_without_a_location_every_read_is_the_newest(places: Places, kv: Any) -> None:
    await kv.get("k")
    await places.vienna.put("k", "v")

    assert await kv.get("k") == "v"


async def names(kv: Any, **options: Any) -> list[str]:
    return [key["name"] for key in (await kv.list(**options))["keys"]]


async def test_a_list_elsewhere_stays_stale_for_60_s(places: Places, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await names(places.lima)
    await places.vienna.put("k", "v")

    clock.tick(59)
    stale = await names(places.lima)
    clock.tick(1)
    fresh = await names(places.lima)

    assert (stale, fresh) == ([], ["k"])


async def test_the_writer_lists_its_own_writes_at_once(places: Places) -> None:
    await names(places.vienna)
    await places.vienna.put("k", "v")
    after_put = await names(places.vienna)
    await places.vienna.delete("k")

    assert after_put == ["k"]
    assert await names(places.vienna) == []


async def test_a_listed_key_that_expires_is_gone_from_the_cached_page(
    places: Places, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    await places.vienna.put("a", "v", expirationTtl=60)
    await places.vienna.put("b", "v", metadata={"é": 1})
    clock.tick(30)
    await places.lima.list(limit=1)

    clock.tick(30)
    page = await places.lima.list(limit=1)
    rest = await places.lima.list(limit=1, cursor=page["cursor"])

    assert (page["keys"], page["list_complete"], page["cacheStatus"]) == ([], False, "HIT")
    assert rest["keys"] == [{"name": "b", "metadata": {"é": 1}}]


async def test_pages_that_were_asked_for_differently_are_different(places: Places) -> None:
    await places.vienna.put("a", "v")
    await places.vienna.put("b", "v")

    found = [await names(places.lima, **options) for options in ({}, {"limit": 1}, {"prefix": "b"})]

    assert found == [["a", "b"], ["a"], ["b"]]
