"""A database on a file of its own, held as worker code holds it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.d1 import asking

from localedge.d1.engine import Engine
from localedge.d1.sqlite import open_engine


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database of this test lies."""
    return tmp_path / "db.sqlite"


@pytest.fixture
async def engine(path: Path) -> AsyncIterator[Engine]:
    async with open_engine(path) as engine:
        yield engine


@pytest.fixture
def db(engine: Engine) -> Any:
    """`env.DB`."""
    return asking.database(engine)
