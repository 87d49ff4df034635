"""The team at work while its processes are killed: a sample, and the whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.team.soak import soak

pytestmark = [pytest.mark.anyio, pytest.mark.processes]


async def check(database: Path, subtasks: int, *, kill_every_s: float, limit_s: float) -> int:
    """The work is done right; how many processes were killed meanwhile."""
    soaked = await soak(database, subtasks, kill_every_s=kill_every_s, limit_s=limit_s)

    print(soaked)
    assert (soaked.subtasks, soaked.unfinished) == (subtasks, [])
    assert soaked.wrong_results == []
    assert soaked.is_gapless
    assert soaked.dead_letters == []
    return soaked.kills


async def test_every_subtask_has_one_result_though_processes_are_killed(database: Path) -> None:
    assert await check(database, 120, kill_every_s=1.0, limit_s=100) >= 1


@pytest.mark.long
@pytest.mark.timeout(1200)
async def test_two_thousand_subtasks_outlive_a_kill_every_second(database: Path) -> None:
    assert await check(database, 2000, kill_every_s=1.0, limit_s=1100) >= 10
