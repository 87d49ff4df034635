"""The demo, as `make demo` runs it: to the end, and interrupted."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.demo.processes import ROOT
from tests.demo.screen import is_gone
from tests.waiting import wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.processes]


@asynccontextmanager
async def running_demo(
    tmp_path: Path, mark: str = "demo"
) -> AsyncIterator[tuple[asyncio.subprocess.Process, asyncio.StreamReader]]:
    """The demo in a process whose temporary folder is `tmp_path`; killed if it is left running."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.demo"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path), "LOCALEDGE_TEST_MARK": mark},
    )
    assert child.stdout is not None
    try:
        yield child, child.stdout
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


def marked(mark: str) -> list[int]:
    """Processes that were started, however indirectly, with the mark in their environment."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in environ.read_bytes():
                found.append(int(environ.parent.name))
        except OSError:
            continue  # It ended, or belongs to someone else.
    return found


async def test_the_demo_checks_all_its_claims_and_they_hold(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex

    async with running_demo(tmp_path, mark) as (child, output), asyncio.timeout(60):
        text = (await output.read()).decode()
        code = await child.wait()

    assert code == 0, text
    assert "All 26 claims hold" in text
    assert re.search(r"hold_seat +\d+ .* killed", text)
    assert re.search(r"charge_card +\d+ .* killed", text)
    assert re.search(r"charge_card +\d+ .* a person said: done", text)
    assert max(map(len, text.splitlines())) <= 100
    assert marked(mark) == []
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "moment"),
    [
        (signal.SIGINT, r"travel service outside"),
        (signal.SIGTERM, r"travel service outside"),
        (signal.SIGINT, r"SIGKILL to isolate"),
        (signal.SIGTERM, r"SIGKILL to isolate"),
        (signal.SIGINT, r"The task asks about step"),
    ],
)
async def test_an_interrupted_demo_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals, moment: str
) -> None:
    mark = uuid.uuid4().hex

    async with running_demo(tmp_path, mark) as (child, output), asyncio.timeout(60):
        while not re.search(moment, line := (await output.readline()).decode()):
            assert line, "the demo ended before the moment came"
        child.send_signal(number)
        rest = (await output.read()).decode()
        code = await child.wait()

    assert code == 128 + number, rest
    assert f"Ended by {number.name}" in rest
    await wait_until(lambda: is_gone(child.pid) and not marked(mark))
    assert os.listdir(tmp_path) == []


async def test_a_killed_demo_leaves_no_process_behind(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex

    async with running_demo(tmp_path, mark) as (child, output), asyncio.timeout(60):
        while "serves worker/" not in (line := (await output.readline()).decode()):
            assert line, "the demo ended before the moment came"
        child.kill()
        await child.wait()

        assert await wait_until(lambda: not marked(mark))
