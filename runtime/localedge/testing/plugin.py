"""The pytest plugin: the project's bindings, its server, and the clock, with state per test.

Tests are asynchronous: mark them with `@pytest.mark.anyio`. Everything is imported when a fixture
is first asked for, so that other test runs pay nothing for the plugin.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from localedge.binding import EnvWrapper
    from localedge.explore.fixture import Explore
    from localedge.project.models import Project
    from localedge.testing.clock import TestClock
    from localedge.testing.edge import Edge
    from localedge.testing.world import World


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("localedge_config", "the project's config file, relative to the root folder")


@pytest.fixture(scope="session")
def localedge_project(pytestconfig: pytest.Config) -> Project:
    """The project under test: the ini option `localedge_config`, else found from the root."""
    from localedge.testing.world import find_project

    given = str(pytestconfig.getini("localedge_config") or "")
    return find_project(pytestconfig.rootpath, Path(given) if given else None)


@pytest.fixture
async def localedge_world(localedge_project: Project, tmp_path: Path) -> World:
    """The project with empty stores of this test's own, migrations applied."""
    from localedge.testing.world import empty_world

    return await empty_world(localedge_project, tmp_path / "localedge-state")


@pytest.fixture
async def clock() -> AsyncIterator[TestClock]:
    """The time in the test and in all isolates: `await clock.advance(seconds)`."""
    from localedge.testing.clock import TestClock

    moved = TestClock()
    yield moved
    await moved.reset()


@pytest.fixture
async def localedge_server(
    localedge_world: World, clock: TestClock, request: pytest.FixtureRequest
) -> AsyncIterator[Edge | None]:
    """The server of a test that asks for `edge`, before its `env` looks for the stores."""
    if "edge" not in request.fixturenames:
        yield None
        return
    from localedge.testing.edge import serving

    async with serving(localedge_world, clock) as server:
        yield server


@pytest.fixture
def edge(localedge_server: Edge) -> Edge:
    """The project's server: `await edge.fetch("/path")`, `await edge.kill()`."""
    return localedge_server


@pytest.fixture
async def env(localedge_world: World, localedge_server: Edge | None) -> AsyncIterator[EnvWrapper]:
    """The project's bindings in the test's own process, on the same stores as `edge`."""
    from localedge.testing.world import opened

    kv_url = localedge_server.kv_url if localedge_server is not None else None
    async with opened(localedge_world, kv_url) as wrapper:
        yield wrapper


@pytest.fixture
def explore(pytestconfig: pytest.Config) -> Explore:
    """`explore(scenario)` plays every crash, order and stale read; for tests that are not async."""
    from localedge.explore.fixture import Explore

    return Explore(pytestconfig.rootpath)
