"""A fresh team for each test."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.edgestate.world import d1_binding, kv_binding
from tests.team.world import PATIENT, SlowDatabase, Team

from edgestate.team import D1Record


@pytest.fixture(scope="session")
async def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the tables, to copy."""
    path = tmp_path_factory.mktemp("team") / "empty.sqlite"
    async with d1_binding(path):
        pass
    return path


@pytest.fixture
def database(empty_database: Path, tmp_path: Path) -> Path:
    """A fresh database file with the tables."""
    return Path(shutil.copy(empty_database, tmp_path / "team.sqlite"))


@pytest.fixture
async def team(database: Path) -> AsyncIterator[Team]:
    async with d1_binding(database, is_migrated=True) as db:
        yield Team(db, D1Record(db, deadlines=PATIENT))


@pytest.fixture
async def cached_team(database: Path, valkey_url: str) -> AsyncIterator[tuple[Team, SlowDatabase]]:
    """A team with a cache, whose database can be slowed down, with short deadlines."""
    async with (
        d1_binding(database, is_migrated=True) as db,
        kv_binding(valkey_url) as kv,
    ):
        slow = SlowDatabase(db)
        yield Team(db, D1Record(slow, deadlines=PATIENT), kv), slow


@pytest.fixture
async def kv(valkey_url: str) -> AsyncIterator[Any]:
    async with kv_binding(valkey_url) as binding:
        yield binding
