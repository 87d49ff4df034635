"""A real `localedge dev` on a worker of the test's own, for the tests of the runtime."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import httpx
from tests.waiting import wait_until

from localedge.supervisor.forks import is_alive
from localedge.supervisor.state import Run, read_run

LOCALEDGE = str(Path(sys.executable).with_name("localedge"))
ENTRY = """\
from workers import WorkerEntrypoint, Response
import asyncio, os, time

class Default(WorkerEntrypoint):
    async def fetch(self, request):
"""


def worker(body: str) -> str:
    """The source of a worker whose `fetch(self, request)` is `body`."""
    return ENTRY + indent(dedent(body), " " * 8)


def write_project(folder: Path, source: str, *, config: str = "", local: str = "") -> None:
    """A project in `folder`: config keys, keys of the `[localedge]` table, the worker's source."""
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "entry.py").write_text(source, "utf-8")
    (folder / "wrangler_like.toml").write_text(
        'name = "tested"\nmain = "src/entry.py"\ncompatibility_date = "2026-11-01"\n'
        f'compatibility_flags = ["python_workers"]\n{config}\n[localedge]\n{local}\n',
        "utf-8",
    )


@dataclass
class Edge:
    """A running server.

    Shape: `log` grows with what it writes to stderr; `process` is the command itself.
    """

    folder: Path
    process: asyncio.subprocess.Process
    run: Run
    http: httpx.AsyncClient
    log: list[str]

    async def get(self, path: str, **options: Any) -> httpx.Response:
        """The answer to a GET."""
        return await self.http.get(path, **options)

    async def status(self) -> dict[str, Any]:
        """What the status endpoint says about the first worker."""
        answer = await self.http.get("/cdn-cgi/localedge/status")
        worker: dict[str, Any] = answer.json()["workers"][0]
        return worker

    async def isolates(self) -> list[int]:
        """The pids of the isolates that are loaded."""
        return [isolate["pid"] for isolate in (await self.status())["isolates"]]

    async def order(self, path: str, **parameters: str | int | float) -> httpx.Response:
        """The answer to an order of the command line."""
        return await self.http.post(
            f"/cdn-cgi/localedge/{path}",
            params=parameters,
            headers={"authorization": f"Bearer {self.run.token}"},
        )

    async def wait_full(self, isolates: int = 3) -> list[int]:
        """The pids once that many isolates are loaded."""

        async def pids() -> list[int] | None:
            found = await self.isolates()
            return found if len(found) == isolates else None

        found = await wait_until(pids)
        assert found is not None
        return found

    async def wait_log(self, text: str) -> str:
        """The log line that has `text` in it, once it is there."""
        found = await wait_until(lambda: [line for line in self.log if text in line])
        return found[0]

    def logged(self) -> str:
        """The log so far."""
        return "\n".join(self.log)


@asynccontextmanager
async def edge(folder: Path, *arguments: str) -> AsyncIterator[Edge]:
    """`localedge dev` runs on the project in `folder` and has said that it is ready."""
    process = await start(folder, *arguments)
    log: list[str] = []
    reading = asyncio.ensure_future(_read(process, log))
    try:
        await wait_until(
            lambda: any("Ready on" in line for line in log) or process.returncode is not None,
            within_s=20,
        )
        assert process.returncode is None, "\n".join(log)
        run = read_run(folder / ".localedge")
        assert run is not None
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=0)
        async with httpx.AsyncClient(
            base_url=run.url, timeout=20, trust_env=False, limits=limits
        ) as http:
            yield Edge(folder, process, run, http, log)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        async with asyncio.timeout(20):
            await process.wait()
            await reading


async def start(folder: Path, *arguments: str) -> asyncio.subprocess.Process:
    """`localedge dev` has been started on the project in `folder`, on a free port."""
    return await asyncio.create_subprocess_exec(
        LOCALEDGE,
        "dev",
        "--port",
        "0",
        *arguments,
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )


async def ended(process: asyncio.subprocess.Process) -> tuple[int, str]:
    """The exit code of a command and what it wrote to stderr."""
    async with asyncio.timeout(20):
        _, said = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()


async def gone(pids: list[int], *, within_s: float = 5) -> None:
    """None of `pids` is alive (a zombie that nobody reaps yet counts as gone)."""
    await wait_until(lambda: not [pid for pid in pids if is_running(pid)], within_s=within_s)


def is_running(pid: int) -> bool:
    """Whether `pid` exists and is no zombie."""
    if sys.platform != "linux":
        return is_alive(pid)
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def children(pid: int) -> list[int]:
    """The pids of the living descendants of `pid`."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for text in task.read_text("utf-8").split():
            found.extend([int(text), *children(int(text))])
    return [child for child in found if is_running(child)]


def kill(pid: int) -> None:
    """SIGKILL for one process."""
    os.kill(pid, signal.SIGKILL)


async def _read(process: asyncio.subprocess.Process, log: list[str]) -> None:
    assert process.stderr is not None
    async for line in process.stderr:
        log.append(line.decode("utf-8", "replace").rstrip("\n"))
