"""Fixtures that every area uses: one event loop kind, one Valkey, one way to stop the clock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from freezegun import freeze_time
from freezegun.api import FrozenDateTimeFactory
from hypothesis import HealthCheck, settings

from localedge.testing.kvserver import running

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
    with running(tmp_path_factory.mktemp("valkey")) as url:
        yield url


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
