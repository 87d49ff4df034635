"""The dev server that the demo runs: started on a state folder of its own, asked over HTTP."""

from __future__ import annotations

import asyncio
import fcntl
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.demo.processes import ROOT, process
from tests.waiting import wait_until

CONFIG = ROOT / "wrangler_like.toml"
LOCALEDGE = str(Path(sys.executable).with_name("localedge"))
COMMAND_S = 30.0
LEASE_S = 5
"""Shorter than the worker's own, so that nobody waits long for the lease of a dead worker."""


class Trouble(Exception):  # noqa: N818  (ends the demo with a sentence)
    """The demo cannot go on; the text says why and shows what a process wrote."""


@dataclass(frozen=True, slots=True)
class Isolate:
    """A process that serves requests, as the control endpoint reports it."""

    pid: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class Server:
    """A running `localedge dev`."""

    pid: int
    url: str
    state: Path
    http: httpx.AsyncClient

    async def isolates(self) -> list[Isolate]:
        """The isolates that live now."""
        response = await self.http.get(f"{self.url}/cdn-cgi/localedge/status")
        workers: list[dict[str, Any]] = response.raise_for_status().json()["workers"]
        rows = (row for worker in workers for row in worker["isolates"])
        return [Isolate(row["pid"], row["in_flight"]) for row in rows]


async def apply_migrations(state: Path) -> str:
    """The migrations are applied to the database in `state`; the command's last sentence.

    Errors: Trouble with its output if it fails.
    """
    command = ("d1", "migrations", "apply", "DB", "-c", CONFIG, "--local", "--persist-to", state)
    child = await asyncio.create_subprocess_exec(
        LOCALEDGE,
        *map(str, command),
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
    said = output.decode().strip()
    if child.returncode != 0:
        raise Trouble(f"The migrations could not be applied:\n{said}")
    return " ".join(["Applied", *said.rpartition("Applied")[2].split()])


@asynccontextmanager
async def dev_server(folder: Path, *, travel_url: str) -> AsyncIterator[Server]:
    """The reference worker on `localedge dev`, ready, its state below `folder`.

    Errors: Trouble if it ends or is not ready within 30 s.
    """
    state, log, env_file = folder / "state", folder / "dev.log", folder / "demo.env"
    env_file.write_text(f"TRAVEL_URL={travel_url}\nLEASE_S={LEASE_S}\n", "utf-8")
    port = free_port()
    command = [LOCALEDGE, "dev", "--config", str(CONFIG), "--port", str(port)]
    command += ["--persist-to", str(state), "--env-file", str(env_file)]
    async with (
        process(command, log=log) as (child, _),
        httpx.AsyncClient(trust_env=False, timeout=60) as http,
    ):
        server = Server(child.pid, f"http://127.0.0.1:{port}", state, http)

        async def is_ready() -> bool:
            if child.returncode is not None:
                said = log.read_text("utf-8", errors="replace")
                raise Trouble(f"localedge dev ended with exit code {child.returncode}:\n{said}")
            try:
                return (await http.get(server.url)).status_code == 200
            except httpx.TransportError:
                return False

        try:
            await wait_until(is_ready, within_s=30)
        except AssertionError as exc:
            said = log.read_text("utf-8", errors="replace")
            raise Trouble(f"localedge dev was not ready within 30 s:\n{said}") from exc
        yield server


def is_unlocked(state: Path) -> bool:
    """Whether nobody has the state: its lock goes with the last process of the server."""
    with (state / "lock").open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
