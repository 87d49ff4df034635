"""What the tests of KV use: real servers, and a namespace of their own on one of them."""

from __future__ import annotations

import inspect
import itertools
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from localedge.binding import EnvWrapper
from localedge.kv.memory import MemoryStore
from localedge.kv.namespace import KvNamespace
from localedge.kv.redis import RedisConnection, connect
from localedge.kv.store import Store, WriteRate
from localedge.probe import Probe
from localedge.supervisor import valkey

_numbers = itertools.count()


def _redis_on_path() -> Path | None:
    """A real redis-server of version 7 or later, if the machine has one."""
    found = shutil.which("redis-server")
    if found is None:
        return None
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"\bv=(\d+)\.", said)
    is_redis = said.startswith("Redis")
    return Path(found) if is_redis and version and int(version[1]) >= 7 else None


REDIS = _redis_on_path()


@pytest.fixture(scope="session")
async def redis_url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The URL of the machine's own redis-server."""
    assert REDIS is not None
    async with valkey.running(tmp_path_factory.mktemp("redis"), program=REDIS) as url:
        yield url


SERVERS = ["valkey", *(["redis"] if REDIS else [])]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each kind of store in turn; a test that asks for a server itself gets servers only."""
    if "kv_kind" in metafunc.fixturenames:
        asks = {"connection", "kv_url", "places"} & {
            *inspect.signature(metafunc.function).parameters
        }
        metafunc.parametrize("kv_kind", SERVERS if asks else [*SERVERS, "memory"])


@pytest.fixture
def kv_url(request: pytest.FixtureRequest, kv_kind: str) -> str:
    """The URL of each kind of server in turn; none for the store in memory."""
    if kv_kind == "memory":
        return ""
    url: str = request.getfixturevalue(f"{kv_kind}_url")
    return url


class MemoryConnection:
    """Stands for a server where only namespaces are wanted."""

    def __init__(self) -> None:
        self._stores: dict[str, MemoryStore] = {}

    def store(self, namespace_id: str, *, write_rate: WriteRate = "off") -> Store:
        if namespace_id not in self._stores:
            self._stores[namespace_id] = MemoryStore(write_rate=write_rate)
        return self._stores[namespace_id]


@pytest.fixture
async def connection(kv_url: str) -> AsyncIterator[RedisConnection | MemoryConnection]:
    if not kv_url:
        yield MemoryConnection()
        return
    async with connect(kv_url) as opened:
        yield opened


@pytest.fixture
def namespace_id(request: pytest.FixtureRequest) -> str:
    """A namespace that no other test has."""
    return f"{request.node.name} {next(_numbers)}"


@pytest.fixture
def store(connection: RedisConnection | MemoryConnection, namespace_id: str) -> Store:
    return connection.store(namespace_id)


BindingOf = Callable[[Store], Any]


@pytest.fixture
def binding_of() -> BindingOf:
    """`binding_of(store)` is what worker code holds as `env.KV`."""
    return lambda store: EnvWrapper({"KV": KvNamespace(store)}, Probe()).KV


@pytest.fixture
def kv(store: Store, binding_of: BindingOf) -> Any:
    return binding_of(store)
