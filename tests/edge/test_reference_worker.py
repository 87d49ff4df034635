"""The reference workers give the same answers, and leave the same stores, on the real parts."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.demo.processes import ROOT, travel_service
from tests.edge.conftest import compared, told

from localedge.port.verify.plan import Plan
from localedge.port.verify.scenario import plan_of_scenario
from localedge.project import load
from localedge.project.models import Project

pytestmark = [pytest.mark.edge, pytest.mark.anyio]

_HERE = Path(__file__).parent
_SCENARIOS = _HERE / "scenarios"
_PYPROJECT = '[tool.localedge]\nedge-packages = ["pydantic==2.14.4"]'
_TEAM = """
name = "team"
main = "worker/team.py"
compatibility_date = "2026-11-01"
compatibility_flags = ["python_workers"]
vars = {{ TRAVEL_URL = "{travel_url}" }}
[[d1_databases]]
binding = "DB"
database_name = "team"
database_id = "team"
migrations_dir = "migrations"
"""
_TRAVEL = "http://127.0.0.1:8788"
_LEASE_S = 8
"""So long that nobody has to renew it, on a slow machine either; a crash waits for it."""


@pytest.fixture
async def travel_url() -> AsyncIterator[str]:
    async with travel_service() as url:
        yield url


def scenario(name: str, travel_url: str) -> Plan:
    file = _SCENARIOS / name
    return plan_of_scenario(file.read_text().replace(_TRAVEL, travel_url), file)


def reference(folder: Path, config: str, travel_url: str = _TRAVEL) -> Project:
    env_file = folder / "test.env"
    env_file.write_text(f"TRAVEL_URL={travel_url}\nLEASE_S={_LEASE_S}\n")
    return load(start=ROOT, config=ROOT / config, env_files=(env_file,), process_env={})


def team_project(root: Path, travel_url: str) -> Project:
    """A project whose worker is workers/team.py, beside the bundle of the reference workers."""
    shutil.copytree(ROOT / "worker", root / "worker")
    shutil.copytree(ROOT / "migrations", root / "migrations")
    shutil.copy(_HERE / "workers" / "team.py", root / "worker")
    (root / "pyproject.toml").write_text(_PYPROJECT)
    (root / "wrangler.toml").write_text(_TEAM.format(travel_url=travel_url))
    return load(start=root, process_env={})


async def test_the_trip_agent_gives_the_same_answers(tmp_path: Path, travel_url: str) -> None:
    project = reference(tmp_path, "wrangler_like.toml", travel_url)

    report = await compared(project, scenario("trip.toml", travel_url))

    assert report.count == 0, told(report)
    assert report.state == []


async def test_the_trip_agent_resumes_alike_after_it_was_killed(
    tmp_path: Path, travel_url: str
) -> None:
    project = reference(tmp_path, "wrangler_like.toml", travel_url)

    report = await compared(project, scenario("crashes.toml", travel_url))

    assert report.count == 0, told(report)
    assert [step.theirs for step in report.steps].count("crashed") == 2


async def test_a_team_of_agents_does_the_same_though_its_members_die(
    tmp_path: Path, travel_url: str
) -> None:
    project = team_project(tmp_path / "team", travel_url)

    report = await compared(project, scenario("team.toml", travel_url))

    assert report.count == 0, told(report)
    assert [step.theirs for step in report.steps].count("crashed") == 2
