"""What the tests of KV use: a real server, and a namespace of their own on it."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from localedge.binding import EnvWrapper
from localedge.kv.namespace import KvNamespace
from localedge.kv.redis import RedisConnection, connect
from localedge.kv.store import Store
from localedge.probe import Probe

_numbers = itertools.count()


@pytest.fixture
def kv_url(valkey_url: str) -> str:
    return valkey_url


@pytest.fixture
async def connection(kv_url: str) -> AsyncIterator[RedisConnection]:
    async with connect(kv_url) as opened:
        yield opened


@pytest.fixture
def namespace_id(request: pytest.FixtureRequest) -> str:
    """A namespace that no other test has."""
    return f"{request.node.name} {next(_numbers)}"


@pytest.fixture
def store(connection: RedisConnection, namespace_id: str) -> Store:
    return connection.store(namespace_id)


BindingOf = Callable[[Store], Any]


@pytest.fixture
def binding_of() -> BindingOf:
    """`binding_of(store)` is what worker code holds as `env.KV`."""
    return lambda store: EnvWrapper({"KV": KvNamespace(store)}, Probe()).KV


@pytest.fixture
def kv(store: Store, binding_of: BindingOf) -> Any:
    return binding_of(store)
