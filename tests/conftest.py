"""Fixtures that every area uses: one event loop kind, one Valkey, one way to stop the clock."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from freezegun import freeze_time
from freezegun.api import FrozenDateTimeFactory
from hypothesis import HealthCheck, settings

settings.register_profile(
    "localedge", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("LOCALEDGE_HYPOTHESIS", "localedge"))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real server for this test process: ours, or LOCALEDGE_TEST_REDIS_URL."""
    given = os.environ.get("LOCALEDGE_TEST_REDIS_URL")
    if given:
        yield given
        return
    with _running_valkey(tmp_path_factory.mktemp("valkey")) as url:
        yield url


class _running_valkey(AbstractContextManager[str]):  # noqa: N801  (used like a function)
    """Runs `valkey.running` on a loop in a thread of its own, so that sync fixtures can use it."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="valkey fixture")

    def __enter__(self) -> str:
        from localedge.supervisor import valkey

        self._thread.start()
        self._server = valkey.running(self._data_dir)
        starting = asyncio.run_coroutine_threadsafe(self._server.__aenter__(), self._loop)
        return starting.result(timeout=30)

    def __exit__(self, *_error: object) -> None:
        ending = self._server.__aexit__(None, None, None)
        asyncio.run_coroutine_threadsafe(ending, self._loop).result(timeout=30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=30)
        self._loop.close()


Freeze = Callable[[str], FrozenDateTimeFactory]


@pytest.fixture
def frozen() -> Iterator[Freeze]:
    """`frozen("2026-12-01T00:00:00Z")` stops the clock; the result's `tick(seconds)` moves it.

    `real_asyncio` leaves the loop's own timers running: without it asyncio hangs.
    """
    stops: list[Callable[[], None]] = []

    def freeze(moment: str) -> FrozenDateTimeFactory:
        freezer = freeze_time(moment, real_asyncio=True)
        factory = freezer.start()
        stops.append(freezer.stop)
        assert isinstance(factory, FrozenDateTimeFactory)
        return factory

    yield freeze
    for stop in reversed(stops):
        stop()
