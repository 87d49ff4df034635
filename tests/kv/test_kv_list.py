"""Pages of keys: order, prefixes, limits, cursors, and what they cost the server."""

from __future__ import annotations

import asyncio
import base64
import re
from typing import Any

import pytest
from tests.conftest import Freeze

from localedge.clock import now_s
from localedge.errors import JsException
from localedge.kv.redis import RedisConnection
from localedge.kv.store import Entry, Store

pytestmark = pytest.mark.anyio


async def pages(kv: Any, **options: Any) -> list[list[str]]:
    """The names of all pages."""
    found: list[list[str]] = []
    cursor = None
    while True:
        page = await kv.list(**options, cursor=cursor)
        found.append([key["name"] for key in page["keys"]])
        if page["list_complete"]:
            return found
        cursor = page["cursor"]


async def put_all(kv: Any, names: list[str]) -> None:
    for name in names:
        await kv.put(name, "v")


async def test_keys_are_in_the_order_of_their_bytes(kv: Any) -> None:
    names = ["10", "9", "B", "_", "a", "é", "\uffff", "😀"]
    await put_all(kv, list(reversed(names)))

    assert await pages(kv) == [names]


async def test_a_page_of_exactly_all_keys_is_complete(kv: Any) -> None:
    await put_all(kv, ["a", "b", "c"])

    page = await kv.list(limit=3)

    assert list(page) == ["keys", "list_complete", "cacheStatus"]
    assert page["list_complete"] is True


async def test_a_page_that_is_not_complete_has_a_cursor(kv: Any) -> None:
    await put_all(kv, ["a", "b", "c"])

    page = await kv.list(limit=2)

    assert list(page) == ["keys", "list_complete", "cursor", "cacheStatus"]
    assert page["list_complete"] is False


@pytest.mark.parametrize("limit", [0, -5, None, "many", float("nan"), {}])
async def test_a_limit_that_is_no_positive_number_is_ignored(limit: Any, kv: Any) -> None:
    await put_all(kv, ["a", "b"])

    assert len((await kv.list(limit=limit))["keys"]) == 2


@pytest.mark.parametrize("limit", [1.9, "1", True])
async def test_a_limit_is_made_an_integer(limit: Any, kv: Any) -> None:
    await put_all(kv, ["a", "b"])

    assert len((await kv.list(limit=limit))["keys"]) == 1


async def test_a_limit_over_1000_is_refused(kv: Any) -> None:
    with pytest.raises(JsException) as caught:
        await kv.list(limit=1001)

    assert caught.value.message == (
        "KV GET failed: 400 Invalid key_count_limit of 1001. "
        "Please specify an integer less than 1000."
    )
    assert (await kv.list(limit=1000))["list_complete"] is True


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("a", ["a%", "a*", "a[", "a_b", "aé"]),
        ("a%", ["a%"]),
        ("a*", ["a*"]),
        ("a[", ["a["]),
        (5, ["5"]),
    ],
)
async def test_a_prefix_is_taken_literally(prefix: Any, expected: list[str], kv: Any) -> None:
    await put_all(kv, ["a%", "a*", "a[", "a_b", "aé", "A", "5"])

    assert await pages(kv, prefix=prefix) == [expected]


async def test_a_prefix_of_more_than_512_bytes_is_refused(kv: Any) -> None:
    with pytest.raises(JsException) as caught:
        await kv.list(prefix="é" * 257)

    assert caught.value.message == (
        "KV GET failed: 414 UTF-8 encoded length of 514 exceeds key length limit of 512."
    )


async def test_a_cursor_does_not_remember_the_prefix(kv: Any) -> None:
    await put_all(kv, ["a1", "a2", "b"])
    first = await kv.list(prefix="a", limit=1)

    rest = await kv.list(cursor=first["cursor"])

    assert [key["name"] for key in rest["keys"]] == ["a2", "b"]


async def test_a_cursor_survives_the_deletion_of_its_key(kv: Any) -> None:
    await put_all(kv, ["a", "b", "c"])
    first = await kv.list(limit=2)
    await kv.delete("b")

    rest = await kv.list(cursor=first["cursor"])

    assert [key["name"] for key in rest["keys"]] == ["c"]


async def test_keys_put_behind_a_cursor_appear_and_those_before_it_do_not(kv: Any) -> None:
    await put_all(kv, ["b", "d", "f"])
    first = await kv.list(limit=2)
    await put_all(kv, ["a", "c", "e"])

    rest = await kv.list(cursor=first["cursor"], limit=10)

    assert [key["name"] for key in rest["keys"]] == ["e", "f"]


@pytest.mark.parametrize(
    ("cursor", "expected"),
    [
        (base64.b64encode(b"b").decode(), ["c"]),
        ("YQ", ["b", "c"]),
        ("YQ==garbage", ["b", "c"]),
        ("***", ["a", "b", "c"]),
        ("_w", []),
        ("\ud800", ["a", "b", "c"]),
        (5, ["a", "b", "c"]),
    ],
)
async def test_any_text_is_a_cursor(cursor: Any, expected: list[str], kv: Any) -> None:
    await put_all(kv, ["a", "b", "c"])

    assert [key["name"] for key in (await kv.list(cursor=cursor))["keys"]] == expected


@pytest.fixture
async def crowd(store: Store, frozen: Freeze) -> list[str]:
    """10,000 keys, two of three of which have expired; the names of the others."""
    clock = frozen("2026-12-01T00:00:00Z")
    entries = [Entry(b"v"), Entry(b"v", None, now_s() + 60), Entry(b"v", None, now_s() + 3600)]
    await asyncio.gather(
        *(store.put(b"key %05d" % number, entries[number % 3]) for number in range(10_000))
    )
    clock.tick(3600)
    return [f"key {number:05}" for number in range(0, 10_000, 3)]


async def calls(connection: RedisConnection, *, reset: bool = False) -> dict[str, int]:
    """How often the server ran each command since the last reset."""
    if reset:
        await connection.execute(b"CONFIG", b"RESETSTAT")
        return {}
    text = await connection.execute(b"INFO", b"commandstats")
    assert isinstance(text, bytes)
    return {name: int(n) for name, n in re.findall(r"cmdstat_(\S+?):calls=(\d+)", text.decode())}


@pytest.mark.slow
async def test_ten_thousand_keys_many_of_them_expired_are_listed_in_pages(
    kv: Any, crowd: list[str], connection: RedisConnection
) -> None:
    await calls(connection, reset=True)
    found = await pages(kv, limit=500)
    first_time = await calls(connection)
    await calls(connection, reset=True)
    again = await pages(kv, limit=500)
    second_time = await calls(connection)

    assert [name for page in found for name in page] == crowd
    assert again == found
    assert "scan" not in first_time
    assert "keys" not in first_time
    # Each member is looked at once or, at the edge of a page, twice; the expired ones only once.
    assert first_time["hmget"] <= 10_000 + 2 * len(found)
    assert first_time["evalsha"] <= 30
    assert second_time["hmget"] <= len(crowd) + 2 * len(found)


@pytest.mark.slow
async def test_one_step_looks_at_a_bounded_number_of_keys(
    kv: Any, crowd: list[str], connection: RedisConnection
) -> None:
    await calls(connection, reset=True)

    await kv.list(limit=1)

    assert (await calls(connection))["hmget"] <= 64
