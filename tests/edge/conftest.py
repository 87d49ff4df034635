"""The real parts, fetched once for all tests of this folder, and projects to run on them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from localedge.port.verify.comparing import Report
from localedge.port.verify.driver import Driver, driven
from localedge.port.verify.parts import Parts, fetched_parts
from localedge.port.verify.plan import Plan
from localedge.port.verify.report import as_text
from localedge.port.verify.verifying import Wishes, verify
from localedge.project import load
from localedge.project.models import Project

_CONFIG = """
name = "tried"
main = "src/entry.py"
compatibility_date = "2026-11-01"
compatibility_flags = ["python_workers"]
vars = { NAME = "Ada", NESTED = { a = 1 } }
[[kv_namespaces]]
binding = "KV"
id = "kv"
[[d1_databases]]
binding = "DB"
database_name = "db"
database_id = "db"
"""

_PATIENCE_S = 60.0
"""A busy machine is no difference."""

MakeProject = Callable[[str], Project]


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


@pytest.fixture
def project(tmp_path: Path) -> MakeProject:
    """`project(code)` is a project whose entry module is `code`, with bindings KV and DB."""

    def make(code: str) -> Project:
        root = tmp_path / "project"
        (root / "src").mkdir(parents=True)
        (root / "wrangler.toml").write_text(_CONFIG)
        (root / "src" / "entry.py").write_text(dedent(code))
        return load(start=root, process_env={})

    return make


async def compared(project: Project, plan: Plan, wishes: Wishes | None = None) -> Report:
    """What both sides make of `plan`."""
    patient = wishes or Wishes(patience_s=_PATIENCE_S)
    return await verify(project, plan, patient, on_record=lambda _record: None)


def told(report: Report) -> str:
    """The report as people see it: for the message of a test that fails."""
    return as_text(report, 160)
