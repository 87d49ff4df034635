"""The real parts, fetched once for all tests of this folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from localedge.port.verify.driver import Driver, driven
from localedge.port.verify.parts import Parts, fetched_parts


@pytest.fixture(scope="session")
def parts() -> Parts:
    """The real parts, from the cache of whoever runs the tests."""
    return asyncio.run(fetched_parts())


@pytest.fixture
async def driver(parts: Parts, tmp_path: Path) -> AsyncIterator[Driver]:
    """A driver with one namespace KV and one database DB, both empty."""
    async with opened(parts, tmp_path) as found:
        yield found


@asynccontextmanager
async def opened(parts: Parts, state: Path) -> AsyncIterator[Driver]:
    """A driver over the stores in the folder `state`."""
    async with driven(parts, state / "parts.log") as found:
        await found.open(state / "stores", kv={"KV": "kv"}, d1={"DB": "db"}, date="2026-11-01")
        yield found
