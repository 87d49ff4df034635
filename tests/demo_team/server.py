"""`localedge dev` with the whole document team, asked and ordered over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from tests.demo.processes import ROOT, process
from tests.demo.server import COMMAND_S, LOCALEDGE, Trouble, free_port
from tests.waiting import wait_until

from localedge.supervisor.state import read_run

CONFIGS: Final = tuple(ROOT / f"{role}.toml" for role in ("planner", "worker", "critic"))
VARS: Final = "WORK_S=0.08\nSHIFT_S=10\n"


@dataclass(frozen=True, slots=True)
class Isolate:
    """A process that serves a worker."""

    worker: str
    pid: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class TeamServer:
    """The running team.

    Shape: `state` is the folder of its local state, `token` what its control endpoints want.
    """

    pid: int
    url: str
    state: Path
    token: str
    http: httpx.AsyncClient

    async def isolates(self) -> list[Isolate]:
        """The isolates of all three workers."""
        return [
            Isolate(worker["name"], row["pid"], row["in_flight"])
            for worker in (await self._status())["workers"]
            for row in worker["isolates"]
        ]

    async def wake(self) -> None:
        """The clock stands just before the next minute: all crons fire at once."""
        now: float = (await self._status())["clock"]["now"]
        at = (now // 60 + 1) * 60 - 0.02
        headers = {"authorization": f"Bearer {self.token}"}
        url = f"{self.url}/cdn-cgi/localedge/clock"
        (await self.http.post(url, params={"set": at}, headers=headers)).raise_for_status()

    async def _status(self) -> dict[str, Any]:
        answer = await self.http.get(f"{self.url}/cdn-cgi/localedge/status")
        status: dict[str, Any] = answer.raise_for_status().json()
        return status


async def apply_migrations(state: Path) -> None:
    """The team's database in `state` has its tables. Errors: Trouble."""
    arguments = ("d1", "migrations", "apply", "DB", "-c", CONFIGS[0], "--local")
    child = await asyncio.create_subprocess_exec(
        LOCALEDGE,
        *map(str, arguments),
        "--persist-to",
        str(state),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=ROOT,
    )
    try:
        async with asyncio.timeout(COMMAND_S):
            output, _ = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode != 0:
        raise Trouble(f"The migrations could not be applied:\n{output.decode()}")


@asynccontextmanager
async def team_server(folder: Path) -> AsyncIterator[TeamServer]:
    """The team on `localedge dev`, ready, its state below `folder`.

    Errors: Trouble if it ends or is not ready within 30 s.
    """
    state, log, env_file = folder / "state", folder / "dev.log", folder / "team.env"
    await asyncio.to_thread(env_file.write_text, VARS, "utf-8")
    port = free_port()
    command = [LOCALEDGE, "dev", "--port", str(port), "--persist-to", str(state)]
    command += ["--env-file", str(env_file)]
    for config in CONFIGS:
        command += ["-c", str(config)]
    async with (
        process(command, log=log) as (child, _),
        httpx.AsyncClient(trust_env=False, timeout=30) as http,
    ):
        url = f"http://127.0.0.1:{port}"

        async def is_ready() -> bool:
            if child.returncode is not None:
                said = log.read_text("utf-8", errors="replace")
                raise Trouble(f"localedge dev ended with exit code {child.returncode}:\n{said}")
            try:
                return (await http.get(url)).status_code == 200
            except httpx.TransportError:
                return False

        try:
            await wait_until(is_ready, within_s=30)
        except AssertionError as exc:
            said = log.read_text("utf-8", errors="replace")
            raise Trouble(f"localedge dev was not ready within 30 s:\n{said}") from exc
        run = read_run(state)
        if run is None:
            raise Trouble("localedge dev wrote no run.json")
        yield TeamServer(child.pid, url, state, run.token, http)
