"""The project's server in a test: `localedge dev` as a process, on stores of the test's own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx

from localedge.supervisor.state import Run, read_run
from localedge.testing.clock import TestClock
from localedge.testing.world import World

T = TypeVar("T")
_PATIENCE_S: Final = 30.0
_PAUSE_S: Final = 0.005
_CONTROL: Final = "/cdn-cgi/localedge"


class Edge:
    """The server of the project under test.

    Shape: `url` is where it listens on loopback, `kv_url` its KV server, None when it has none.
    """

    def __init__(self, run: Run, log: Path, client: httpx.AsyncClient) -> None:
        self.url = run.url
        self.kv_url = run.kv_url
        self._log = log
        self._token = run.token
        self._client = client

    async def fetch(
        self,
        path: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        body: bytes | str | None = None,
    ) -> httpx.Response:
        """The worker's response to one request.

        Errors: httpx.RemoteProtocolError when the isolate dies after its headers are out; before
        that, the response is a 500 with `x-localedge-outcome: internalError`.
        """
        return await self._client.request(
            method, path, headers=headers, json=json, content=body, timeout=_PATIENCE_S
        )

    async def isolates(self) -> list[dict[str, Any]]:
        """The isolates of the worker: `pid`, `generation`, `in_flight`, `served` of each."""
        answer = await self._client.get(f"{_CONTROL}/status")
        found: list[dict[str, Any]] = answer.raise_for_status().json()["workers"][0]["isolates"]
        return found

    async def busy(self) -> int:
        """The pid of an isolate that works on a request, as soon as there is one."""

        async def busiest() -> int | None:
            return next((i["pid"] for i in await self.isolates() if i["in_flight"]), None)

        return await _until(busiest)

    async def kill(self, pid: int | None = None) -> int:
        """SIGKILL the isolate `pid`, or the busiest one; return its pid once it is gone.

        Errors: LookupError when there is no such isolate.
        """
        known = {i["pid"]: i["in_flight"] for i in await self.isolates()}
        if not known:
            raise LookupError(f"no isolate is there to kill; the server's log:\n{self.log()}")
        chosen = max(known, key=lambda one: known[one]) if pid is None else pid
        if chosen not in known:
            raise LookupError(f"no isolate has the pid {chosen}; there are {sorted(known)}")
        os.kill(chosen, signal.SIGKILL)

        async def is_gone() -> bool:
            return chosen not in [i["pid"] for i in await self.isolates()]

        await _until(is_gone)
        return chosen

    async def scheduled(self, cron: str = "") -> str:
        """Fire the worker's cron trigger and return its outcome ("ok", "exception" …)."""
        path = "/cdn-cgi/handler/scheduled"
        answer = await self._client.get(path, params={"cron": cron}, timeout=_PATIENCE_S)
        return answer.text

    def log(self) -> str:
        """All that the server and its workers have printed."""
        return _text(self._log)

    async def move_clock(self, offset_s: float) -> None:
        """The workers' clock is `offset_s` ahead of the machine's."""
        path = f"{_CONTROL}/clock"
        current = (await self._client.get(path)).raise_for_status().json()["offset_s"]
        order = {"Authorization": f"Bearer {self._token}"}
        step = {"advance": str(offset_s - current)}
        (await self._client.post(path, params=step, headers=order)).raise_for_status()


@asynccontextmanager
async def serving(world: World, clock: TestClock) -> AsyncIterator[Edge]:
    """The server of `world`'s project, which follows `clock`; nothing of it is left at the end.

    Errors: RuntimeError with the server's log when it does not start.
    """
    log = world.state / "dev.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "localedge.cli", "dev", "--port", "0"),
            *("--config", str(world.project.file), "--persist-to", str(world.state)),
            stdout=output,
            stderr=output,
        )
    try:
        run = await _started(process, world.state, log)
        async with httpx.AsyncClient(base_url=run.url, trust_env=False) as client:
            edge = Edge(run, log, client)
            await clock.follow(edge.move_clock)
            yield edge
            clock.leave(edge.move_clock)
    finally:
        await _ended(process)


async def _started(process: asyncio.subprocess.Process, state: Path, log: Path) -> Run:
    async def run() -> Run | None:
        if process.returncode is not None:
            raise RuntimeError(f"localedge dev ended with {process.returncode}:\n{_text(log)}")
        return read_run(state)

    return await _until(run)


def _text(log: Path) -> str:
    return log.read_text("utf-8", errors="replace")


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def _until(condition: Callable[[], Awaitable[T | None]]) -> T:
    async with asyncio.timeout(_PATIENCE_S):
        while True:
            if value := await condition():
                return value
            await asyncio.sleep(_PAUSE_S)
