"""An empty project becomes one with durable agents: vendor, migrate, run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from tests.demo.processes import process
from tests.demo.server import LOCALEDGE, free_port
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


async def test_a_worker_in_an_empty_project_runs_on_the_vendored_library(tmp_path: Path) -> None:
    root = make_project(tmp_path / "mine", migrations=("0001_users.sql",))
    await run(root, "agent", "vendor")
    await run(root, "d1", "migrations", "apply", "DB", "--local")
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [LOCALEDGE, "dev", "--config", str(root / "wrangler.toml"), "--port", str(port)]

    async with process(command, log=tmp_path / "log"), httpx.AsyncClient(trust_env=False) as http:

        async def is_ready() -> bool:
            try:
                return (await http.get(f"{url}/cdn-cgi/localedge/status")).status_code == 200
            except httpx.TransportError:
                return False

        await wait_until(is_ready, within_s=30)
        answer = await http.get(url, timeout=30)

    assert answer.json() == {
        "status": "completed",
        "outputs": ["hello ada", "hello bob"],
        "library": str(root / "src" / "edgestate" / "__init__.py"),
    }
