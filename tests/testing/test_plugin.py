"""The pytest plugin, used as a project of its own uses it: in a pytest run in its folder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.processes

CONFIG = """
name = "shop"
main = "src/entry.py"
compatibility_date = "2026-10-01"
compatibility_flags = ["python_workers"]

[[kv_namespaces]]
binding = "KV"

[[d1_databases]]
binding = "DB"
"""
MIGRATION = "CREATE TABLE orders (id TEXT PRIMARY KEY, item TEXT NOT NULL);\n"
WORKER = """
import asyncio
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.url.endswith("/time"):
            row = await self.env.DB.prepare("SELECT unixepoch() AS now").first()
            return Response.json(row)
        done = await self.env.KV.get("paid")
        if done is None:
            await self.env.KV.put("paid", "yes", expirationTtl=60)
            await self.env.DB.prepare("INSERT INTO orders VALUES (?, ?)").bind("a", "hat").run()
            await asyncio.Event().wait()
        return Response("resumed")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "entry.py").write_text(WORKER)
    (tmp_path / "wrangler.toml").write_text(CONFIG)
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "0001_create_orders.sql").write_text(MIGRATION)
    (tmp_path / "conftest.py").write_text(
        "import pytest\n\n\n@pytest.fixture(scope='session')\n"
        "def anyio_backend() -> str:\n    return 'asyncio'\n"
    )
    return tmp_path


def run(project: Path, test: str) -> subprocess.CompletedProcess[str]:
    (project / "test_shop.py").write_text(test)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:valkey", "-p", "no:cacheprovider"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=100,
    )


def in_readme(file: str) -> str:
    readme = (ROOT / "README.md").read_text("utf-8")
    found = re.search(rf"```python\n(# {re.escape(file)}\n.*?)```", readme, re.DOTALL)
    assert found is not None, f"the README shows no {file}"
    return found[1]


def test_the_readme_s_test_kills_a_worker_in_a_request_and_resumes(project: Path) -> None:
    test = in_readme("tests/test_resume.py")
    (project / "src" / "entry.py").write_text(in_readme("src/entry.py"))

    result = run(project, test)

    assert result.returncode == 0, result.stdout + result.stderr
    assert len([line for line in test.splitlines() if line.strip()]) <= 15


def test_env_and_edge_see_the_same_stores_and_each_test_has_its_own(project: Path) -> None:
    result = run(
        project,
        """
import asyncio
import pytest

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("turn", [1, 2])
async def test_stores(env, edge, turn):
    assert await env.KV.get("paid") is None
    lost = asyncio.create_task(edge.fetch("/"))
    while await env.DB.prepare("SELECT item FROM orders").first("item") is None:
        await asyncio.sleep(0.01)
    assert await env.KV.get("paid") == "yes"
    await edge.kill()
    assert (await lost).headers["x-localedge-outcome"] == "internalError"


async def test_env_alone_has_the_migrated_tables(env):
    await env.DB.prepare("INSERT INTO orders VALUES ('b', 'coat')").run()
    assert await env.DB.prepare("SELECT count(*) FROM orders").first("count(*)") == 1
    await env.KV.put("k", "v")
    assert await env.KV.get("k") == "v"
""",
    )

    assert result.returncode == 0, result.stdout + result.stderr


def test_the_clock_moves_the_test_and_the_isolates_together(project: Path) -> None:
    result = run(
        project,
        """
import time
from datetime import datetime, timezone
import pytest

pytestmark = pytest.mark.anyio


async def test_clock(env, edge, clock):
    await env.KV.put("k", "v", expirationTtl=60)
    before = time.time()

    await clock.advance(59)
    still_there = await env.KV.get("k")
    await clock.advance(2)

    assert still_there == "v"
    assert await env.KV.get("k") is None
    assert 61 <= time.time() - before < 70
    seen = (await edge.fetch("/time")).json()["now"]
    assert abs(seen - time.time()) < 5

    await clock.set(datetime(2031, 5, 5, tzinfo=timezone.utc))
    seen = (await edge.fetch("/time")).json()["now"]
    assert abs(seen - datetime(2031, 5, 5, tzinfo=timezone.utc).timestamp()) < 5
    with pytest.raises(ValueError):
        await clock.set(datetime(2031, 5, 5))

    await clock.reset()
    assert abs(time.time() - before) < 60


async def test_the_next_test_has_the_machine_s_time(clock):
    assert time.time() < datetime(2031, 1, 1, tzinfo=timezone.utc).timestamp()
""",
    )

    assert result.returncode == 0, result.stdout + result.stderr


def test_a_worker_that_does_not_load_says_so_in_the_response(project: Path) -> None:
    (project / "src" / "entry.py").write_text("import nothing_of_that_name\n")

    result = run(
        project,
        """
import pytest


@pytest.mark.anyio
async def test_broken(edge):
    response = await edge.fetch("/")
    assert response.status_code == 500
    assert "nothing_of_that_name" in response.text
    with pytest.raises(LookupError):
        await edge.kill()
""",
    )

    assert result.returncode == 0, result.stdout + result.stderr
