"""Starting other processes and ending them by their id, whatever happens in between."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from localedge.isolate.lifeline import tie_to

ROOT = Path(__file__).parents[2]
READY_S = 30.0
END_S = 15.0


@asynccontextmanager
async def travel_service() -> AsyncIterator[str]:
    """The address of a travel service that runs as long as the context."""
    command = [sys.executable, "-m", "tests.demo.travel", "--port", "0", "--with-parent"]
    async with process(command, stdin=asyncio.subprocess.PIPE, first_line=True) as started:
        yield started[1]


@asynccontextmanager
async def process(
    command: Sequence[str],
    *,
    log: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int = asyncio.subprocess.DEVNULL,
    first_line: bool = False,
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A process that runs as long as the context, and the first line it printed if asked for.

    It has a session of its own: an interrupt at the terminal reaches us, and we end it in order.
    If we are killed ourselves, the kernel kills it (Linux).
    Errors: TimeoutError if the first line does not come within 30 s; what it writes goes to `log`.
    """
    output = log.open("wb") if log else None
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE if first_line else output,
            stderr=output,
            start_new_session=True,
            cwd=ROOT,
            env=env,
            preexec_fn=partial(tie_to, os.getpid()) if sys.platform == "linux" else None,
        )
    finally:
        if output:
            output.close()
    try:
        yield child, await _first_line(child) if first_line else ""
    finally:
        await _end(child)


async def _first_line(child: asyncio.subprocess.Process) -> str:
    assert child.stdout is not None
    async with asyncio.timeout(READY_S):
        return (await child.stdout.readline()).decode().strip()


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is not None:
        return
    os.kill(child.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(END_S):
            await child.wait()
    except TimeoutError:
        os.kill(child.pid, signal.SIGKILL)
        await child.wait()
