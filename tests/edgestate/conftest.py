"""Stores to test: every backend, fresh and with the library's tables."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.edgestate.world import Effects, d1_binding, kv_binding

from edgestate import D1StateStore, KVStateStore, MemoryStateStore, StateStore, open_session


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Any]:
    async with d1_binding(tmp_path / "state.sqlite") as binding:
        yield binding


@pytest.fixture
async def kv(valkey_url: str) -> AsyncIterator[Any]:
    async with kv_binding(valkey_url) as binding:
        yield binding


@pytest.fixture(params=["memory", "kv", "d1"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[StateStore]:
    """Each of the three stores."""
    if request.param == "memory":
        yield MemoryStateStore()
    elif request.param == "kv":
        async with kv_binding(request.getfixturevalue("valkey_url")) as binding:
            yield KVStateStore(binding)
    else:
        async with d1_binding(tmp_path / "store.sqlite") as binding:
            yield D1StateStore(binding)


@pytest.fixture(params=["memory", "d1"])
async def versioned_store(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[StateStore]:
    """Each store with versions and leases, with the open session "s" of user "u"."""
    if request.param == "memory":
        store: StateStore = MemoryStateStore()
        await open_session("s", "u", store)
        yield store
    else:
        async with d1_binding(tmp_path / "store.sqlite") as binding:
            store = D1StateStore(binding)
            await open_session("s", "u", store)
            yield store


@pytest.fixture
async def d1(db: Any) -> D1StateStore:
    """A D1 store with the open session "s" of user "u"."""
    store = D1StateStore(db)
    await open_session("s", "u", store)
    return store


@pytest.fixture
def effects() -> Effects:
    return Effects()
