"""The team demo, as `make demo-team` runs it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from tests.demo.processes import ROOT

pytestmark = [pytest.mark.anyio, pytest.mark.processes]


async def test_the_team_reaches_the_same_outcome_while_its_isolates_are_killed(
    tmp_path: Path,
) -> None:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.demo_team"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    try:
        async with asyncio.timeout(110):
            output, _ = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()

    text = output.decode()
    assert child.returncode == 0, text
    assert "All 9 claims hold" in text
    assert os.listdir(tmp_path) == []
