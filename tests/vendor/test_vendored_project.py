"""An empty project becomes one with durable agents: vendor, migrate, run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.demo.processes import process
from tests.demo.server import LOCALEDGE, free_port
from tests.demo.test_readme import block
from tests.vendor.projects import make_project
from tests.waiting import wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.processes]


async def run(root: Path, *command: str) -> None:
    """The command is done in the project, without an error."""
    child = await asyncio.create_subprocess_exec(
        LOCALEDGE,
        *command,
        cwd=root,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(60):
        said, _ = await child.communicate()
    assert child.returncode == 0, said.decode()


async def answer_of(root: Path, log: Path) -> Any:
    """What the project's worker answers once the library is vendored and its tables are there."""
    await run(root, "agent", "vendor")
    await run(root, "d1", "migrations", "apply", "DB", "--local")
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [LOCALEDGE, "dev", "--config", str(root / "wrangler.toml"), "--port", str(port)]
    async with process(command, log=log), httpx.AsyncClient(trust_env=False) as http:

        async def is_ready() -> bool:
            try:
                return (await http.get(f"{url}/cdn-cgi/localedge/status")).status_code == 200
            except httpx.TransportError:
                return False

        await wait_until(is_ready, within_s=30)
        return (await http.get(url, timeout=30)).json()


async def test_a_worker_in_an_empty_project_runs_on_the_vendored_library(tmp_path: Path) -> None:
    root = make_project(tmp_path / "mine", migrations=("0001_users.sql",))

    answer = await answer_of(root, tmp_path / "log")

    assert answer == {
        "status": "completed",
        "outputs": ["hello ada", "hello bob"],
        "library": str(root / "src" / "edgestate" / "__init__.py"),
    }


async def test_the_agent_of_the_readme_completes_its_task(tmp_path: Path) -> None:
    root = make_project(tmp_path / "mine", entry=block("python", having="run_agent_with_state"))

    answer = await answer_of(root, tmp_path / "log")

    assert answer == {"status": "completed", "steps": [{"flight": "LE 204"}, {"paid": "LE 204"}]}
