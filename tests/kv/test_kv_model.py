"""KV against a plain dict, with made-up calls and a clock that moves."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from freezegun import freeze_time
from hypothesis import given, settings
from hypothesis import strategies as st

from localedge import clock
from localedge.binding import EnvWrapper
from localedge.kv.namespace import KvNamespace
from localedge.kv.redis import connect
from localedge.probe import Probe

_numbers = itertools.count()

KEYS = st.sampled_from(["a", "a/", "a/b", "ab", "b", "é", "é\0", "😀", "\uffff", "%", "10", "9"])
PREFIXES = st.one_of(KEYS, st.just(""), st.text(max_size=2))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 2, 2**53 - 2) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


@dataclass
class Model:
    """What a namespace is: values, metadata and ends by key."""

    entries: dict[str, tuple[bytes, Any, int | None]] = field(default_factory=dict)

    def live(self) -> dict[str, tuple[bytes, Any, int | None]]:
        now = clock.now_s()
        return {
            key: entry for key, entry in self.entries.items() if entry[2] is None or entry[2] > now
        }

    def listed(self, prefix: str) -> list[dict[str, Any]]:
        found = []
        for key, (_, metadata, end) in sorted(self.live().items(), key=lambda e: e[0].encode()):
            if not key.startswith(prefix):
                continue
            shown: dict[str, Any] = {"name": key}
            if end is not None:
                shown["expiration"] = end
            if metadata is not None:
                shown["metadata"] = metadata
            found.append(shown)
        return found


PUT = st.tuples(st.just("put"), KEYS, st.binary(max_size=8), JSON, st.none() | st.integers(60, 300))
DELETE = st.tuples(st.just("delete"), KEYS)
TICK = st.tuples(st.just("tick"), st.integers(0, 200))
LIST = st.tuples(st.just("list"), PREFIXES, st.integers(1, 5))
STEPS = st.lists(st.one_of(PUT, PUT, DELETE, TICK, LIST), max_size=25)


async def check_page_by_page(kv: Any, model: Model, prefix: str, limit: int) -> None:
    expected = model.listed(prefix)
    cursor = None
    while True:
        page = await kv.list(prefix=prefix, limit=limit, cursor=cursor)
        assert page["keys"] == expected[:limit]
        assert page["list_complete"] is (len(expected) <= limit)
        expected = expected[limit:]
        if page["list_complete"]:
            return
        cursor = page["cursor"]


async def perform(
    kv: Any, model: Model, step: tuple[Any, ...], tick: Callable[[float], object]
) -> None:
    match step:
        case ("put", key, value, metadata, ttl):
            options = {} if ttl is None else {"expirationTtl": ttl}
            await kv.put(key, value, metadata=metadata, **options)
            end = None if ttl is None else clock.now_s() + ttl
            model.entries[key] = (value, metadata, end)
        case ("delete", key):
            await kv.delete(key)
            model.entries.pop(key, None)
        case ("tick", seconds):
            tick(seconds)
        case ("list", prefix, limit):
            await check_page_by_page(kv, model, prefix, limit)


async def check_values(kv: Any, model: Model) -> None:
    live = model.live()
    for key in model.entries:
        found = await kv.getWithMetadata(key, "arrayBuffer")
        value, metadata, _ = live.get(key, (None, None, None))
        assert (found["value"], found["metadata"]) == (value, metadata)


@pytest.mark.slow
def test_a_namespace_behaves_like_a_dict_with_a_clock(valkey_url: str) -> None:
    @given(STEPS)
    def run(steps: list[tuple[Any, ...]]) -> None:
        asyncio.run(check(steps))

    async def check(steps: list[tuple[Any, ...]]) -> None:
        with freeze_time("2026-12-01T00:00:00Z", real_asyncio=True) as frozen:
            async with connect(valkey_url) as connection:
                store = connection.store(f"model {next(_numbers)}")
                kv = EnvWrapper({"KV": KvNamespace(store)}, Probe()).KV
                model = Model()
                for step in steps:
                    await perform(kv, model, step, frozen.tick)
                await check_values(kv, model)
                await check_page_by_page(kv, model, "", 3)

    run()


def test_several_clients_at_once_leave_one_of_the_last_writes_and_an_exact_list(
    valkey_url: str,
) -> None:
    """Each client writes its own order of values; no entry is ever a mixture of two writes."""
    writes = st.lists(st.tuples(KEYS, st.integers(0, 9), st.booleans()), max_size=12)

    @settings(max_examples=15)
    @given(st.lists(writes, min_size=2, max_size=4))
    def run(plans: list[list[tuple[str, int, bool]]]) -> None:
        asyncio.run(check(plans))

    async def client(url: str, namespace: str, name: int, plan: Any) -> None:
        async with connect(url) as connection:
            kv = EnvWrapper({"KV": KvNamespace(connection.store(namespace))}, Probe()).KV
            for key, number, is_put in plan:
                if is_put:
                    await kv.put(key, f"{name}:{number}", metadata=f"{name}:{number}")
                else:
                    await kv.delete(key)

    async def check(plans: list[list[tuple[str, int, bool]]]) -> None:
        namespace = f"clients {next(_numbers)}"
        async with asyncio.TaskGroup() as group:
            for name, plan in enumerate(plans):
                group.create_task(client(valkey_url, namespace, name, plan))
        async with connect(valkey_url) as connection:
            kv = EnvWrapper({"KV": KvNamespace(connection.store(namespace))}, Probe()).KV
            listed = {key["name"]: key["metadata"] for key in (await kv.list())["keys"]}
            written = {key for plan in plans for key, _, _ in plan}
            found = {key: await kv.getWithMetadata(key) for key in written}
        assert {k: f["metadata"] for k, f in found.items() if f["value"] is not None} == listed
        for key, entry in found.items():
            assert entry["value"] == entry["metadata"]
            assert entry["value"] in last_words(plans, key)

    run()


def last_words(plans: list[list[tuple[str, int, bool]]], key: str) -> set[str | None]:
    """What a key can have in the end: the last word of some client about it."""
    words: set[str | None] = set()
    for name, plan in enumerate(plans):
        about = [(number, is_put) for written, number, is_put in plan if written == key]
        if about:
            number, is_put = about[-1]
            words.add(f"{name}:{number}" if is_put else None)
    return words


@pytest.mark.parametrize("text", ["\ud800", "\udfff\ud800"])
def test_texts_with_lone_surrogates_are_prefixes_that_match_nothing(
    text: str, valkey_url: str
) -> None:
    async def check() -> dict[str, Any]:
        async with connect(valkey_url) as connection:
            kv = EnvWrapper({"KV": KvNamespace(connection.store("surrogates"))}, Probe()).KV
            await kv.put("a", "v")
            page: dict[str, Any] = await kv.list(prefix=text)
            return page

    page = asyncio.run(check())

    assert page["keys"] == []
