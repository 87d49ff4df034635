"""The worker, its bindings and the travel service outside, for each test."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.demo.processes import travel_service
from tests.demo.travel_control import TravelControl
from tests.worker.edge import Edge, running_edge


@pytest.fixture(scope="session")
async def travel_process() -> AsyncIterator[TravelControl]:
    async with travel_service() as url, httpx.AsyncClient(trust_env=False, timeout=20) as http:
        yield TravelControl(http, url)


@pytest.fixture
async def travel(travel_process: TravelControl) -> TravelControl:
    await travel_process.reset()
    return travel_process


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "trip-agent.sqlite"


@pytest.fixture
async def edge(database: Path, valkey_url: str, travel: TravelControl) -> AsyncIterator[Edge]:
    async with running_edge(
        database,
        valkey_url=valkey_url,
        namespace=uuid.uuid4().hex,
        travel_url=travel.url,
    ) as running:
        yield running
