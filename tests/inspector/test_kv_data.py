"""What the page shows of KV is what is stored, and what locations have cached."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from localedge import clock
from localedge.errors import Exit, OperatorError
from localedge.inspector import kv_data as data
from localedge.inspector.kv_models import Put
from localedge.kv.redis import RedisConnection, connect
from localedge.kv.redis_store import redis_prefix
from localedge.kv.store import Entry
from localedge.project.models import KVNamespace, Local, Project

pytestmark = pytest.mark.anyio
_numbers = itertools.count()


@pytest.fixture
async def connection(valkey_url: str) -> AsyncIterator[RedisConnection]:
    async with connect(valkey_url) as opened:
        yield opened


@pytest.fixture
def id_() -> str:
    return f"inspected {next(_numbers)}"


def project(name: str, *namespaces: tuple[str, str], **local: Any) -> Project:
    return Project(
        root=Path(),
        file=Path("wrangler.toml"),
        name=name,
        main=None,
        kv_namespaces=tuple(KVNamespace(binding=b, id=i) for b, i in namespaces),
        local=Local(**local),
    )


async def test_a_namespace_of_two_workers_is_shown_once_with_both_names(
    connection: RedisConnection, id_: str
) -> None:
    await data.put(connection, id_, "a", Put(text="1"))

    (shown,) = await data.namespaces(
        connection, [project("one", ("CACHE", id_)), project("two", ("STORE", id_))]
    )

    assert [(b.worker, b.binding) for b in shown.bindings] == [("one", "CACHE"), ("two", "STORE")]
    assert (shown.keys, shown.consistency) == (1, "strong")


async def test_keys_come_in_pages_with_size_and_metadata(
    connection: RedisConnection, id_: str
) -> None:
    for number in range(5):
        await data.put(connection, id_, f"k{number}", Put(text="x" * number, metadata={"n": 1}))
    await data.put(connection, id_, "other", Put(text=""))

    first = await data.keys(connection, id_, prefix="k", limit=3)
    rest = await data.keys(connection, id_, prefix="k", limit=3, cursor=first.cursor)

    assert [key.name for key in (*first.keys, *rest.keys)] == ["k0", "k1", "k2", "k3", "k4"]
    assert [key.size_bytes for key in rest.keys] == [3, 4]
    assert first.keys[0].metadata == {"n": 1}
    assert rest.cursor is None


async def test_a_value_is_shown_as_text_json_and_hex(connection: RedisConnection, id_: str) -> None:
    await data.put(connection, id_, "k", Put(text='{"a":[1]}', metadata="m", expiration_ttl=90))

    shown = await data.value(connection, id_, "k")

    assert shown.text == '{"a":[1]}'
    assert shown.json_text == '{\n  "a": [\n    1\n  ]\n}'
    assert shown.hex.split() == [
        "00000000",
        "7b",
        "22",
        "61",
        "22",
        "3a",
        "5b",
        "31",
        "5d",
        "7d",
        '{"a":[1]}',
    ]
    assert shown.metadata == "m"
    assert shown.expiration is not None
    assert 85_000 < shown.expiration * 1000 - shown.now_ms <= 90_000


async def test_bytes_that_are_no_text_are_shown_as_hex_and_can_be_written_so(
    connection: RedisConnection, id_: str
) -> None:
    await data.put(connection, id_, "k", Put(hex="ff 00fe"))

    shown = await data.value(connection, id_, "k")

    assert (shown.text, shown.json_text, shown.size_bytes) == (None, None, 3)
    assert shown.hex.startswith("00000000  ff 00 fe ")


async def test_a_large_value_is_cut_between_characters(
    connection: RedisConnection, id_: str
) -> None:
    await data.put(connection, id_, "k", Put(text="a" + "é" * data.SHOWN_BYTES))

    shown = await data.value(connection, id_, "k")

    assert shown.size_bytes == 2 * data.SHOWN_BYTES + 1
    assert shown.shown_bytes == data.SHOWN_BYTES
    assert shown.text is not None
    assert shown.text.endswith("éé")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (Put(text="v", expiration_ttl=5), "Expiration TTL must be at least 60"),
        (Put(text="v", metadata="x" * 2000), "Metadata length of 2002 exceeds limit of 1024"),
        (Put(text="v", hex="00"), "exactly one of"),
        (Put(), "exactly one of"),
        (Put(hex="0g"), "not hexadecimal"),
    ],
)
async def test_what_the_platform_refuses_is_refused_with_its_text(
    connection: RedisConnection, id_: str, given: Put, text: str
) -> None:
    with pytest.raises(OperatorError, match=text):
        await data.put(connection, id_, "k", given)

    assert (await data.keys(connection, id_)).keys == ()


async def test_a_deleted_key_is_gone(connection: RedisConnection, id_: str) -> None:
    await data.put(connection, id_, "k", Put(text="v"))

    await data.delete(connection, id_, "k")

    with pytest.raises(OperatorError, match='"k" has no value'):
        await data.value(connection, id_, "k")


async def test_a_key_ends_by_the_time_of_the_workers(connection: RedisConnection, id_: str) -> None:
    await data.put(connection, id_, "k", Put(text="v", expiration_ttl=600))

    with clock.ahead(601):
        later = await data.keys(connection, id_)

    assert later.keys == ()


async def test_each_location_is_shown_with_what_it_has_and_how_old_it_is(
    connection: RedisConnection, id_: str
) -> None:
    key = b"odd:*key?[x]\\"
    zurich = connection.store(id_, location="zürich")
    lisbon = connection.store(id_, location="lisbon")
    await zurich.put(key, Entry(b"old"))
    await zurich.get(key, cache_ttl_s=60)
    await connection.store(id_).put(key, Entry(b"new"))
    with clock.ahead(20):
        await lisbon.get(key, cache_ttl_s=120)

    with clock.ahead(30):
        shown = await data.value(connection, id_, key.decode())
    with clock.ahead(100):
        later = await data.value(connection, id_, key.decode())

    assert [(c.location, c.text, c.is_newest) for c in shown.copies] == [
        ("lisbon", "new", True),
        ("zürich", "old", False),
    ]
    lisbons, zurichs = shown.copies
    assert 29_000 <= zurichs.age_ms <= 31_500
    assert 28_500 <= zurichs.left_ms <= 31_000
    assert 9_000 <= lisbons.age_ms <= 11_500
    assert [c.location for c in later.copies] == ["lisbon"]


async def test_an_absence_that_a_location_has_cached_is_shown(
    connection: RedisConnection, id_: str
) -> None:
    await connection.store(id_, location="oslo").get(b"k", cache_ttl_s=60)

    shown = await data.value(connection, id_, "k")

    assert [(c.location, c.text, c.is_newest) for c in shown.copies] == [("oslo", None, True)]


async def test_a_namespace_counts_what_each_location_has_cached(
    connection: RedisConnection, id_: str
) -> None:
    oslo = connection.store(id_, location="oslo")
    for key in (b"a", b"b"):
        await oslo.get(key, cache_ttl_s=60)

    (shown,) = await data.namespaces(
        connection, [project("w", ("KV", id_), consistency="eventual")]
    )

    assert shown.locations == {"oslo": 2}


async def test_a_cursor_of_nothing_is_named(connection: RedisConnection, id_: str) -> None:
    with pytest.raises(OperatorError, match="not a cursor"):
        await data.keys(connection, id_, cursor="a")


async def test_a_server_that_is_not_there_is_told_with_what_to_do(tmp_path: Path) -> None:
    async with connect(f"unix://{tmp_path}/none.sock") as nowhere:
        with pytest.raises(OperatorError, match="does not answer") as told:
            await data.keys(nowhere, "n")

    assert (told.value.code, told.value.exit) == ("kv/unreachable", Exit.UNREACHABLE)


async def test_an_entry_that_is_damaged_is_told_and_hides_no_other(
    connection: RedisConnection, id_: str
) -> None:
    await data.put(connection, id_, "bad", Put(text="v"))
    await data.put(connection, id_, "good", Put(text="v"))
    damaged = redis_prefix(id_) + b"h:bad"
    await connection.execute(b"DEL", damaged)
    await connection.execute(b"SET", damaged, b"something else")

    with pytest.raises(OperatorError, match='entry of key "bad" is corrupt'):
        await data.value(connection, id_, "bad")

    assert [key.name for key in (await data.keys(connection, id_)).keys] == ["bad", "good"]
    assert (await data.value(connection, id_, "good")).text == "v"
