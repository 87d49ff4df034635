"""The team at work on `localedge dev` while its isolates are killed: a sample, and the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.team.soak import Soaked, soak

pytestmark = [pytest.mark.anyio, pytest.mark.processes]


async def check(
    folder: Path,
    database: Path,
    capsys: pytest.CaptureFixture[str],
    subtasks: int,
    **options: Any,
) -> Soaked:
    """The work is done right though isolates are killed; what it took is printed."""
    soaked = await soak(folder / "soak", database, subtasks, **options)

    with capsys.disabled():
        print(f"\n{soaked}")
    assert (soaked.subtasks, soaked.unfinished) == (subtasks, [])
    assert soaked.wrong == []
    assert soaked.is_gapless
    assert soaked.unexplained == []
    assert soaked.torn == []
    assert soaked.surprises == []
    return soaked


async def test_every_subtask_has_one_result_though_isolates_are_killed(
    tmp_path: Path, empty_database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soaked = await check(
        tmp_path, empty_database, capsys, 100, limit_s=100, kill_every_s=0.4, most_kills=3
    )

    assert soaked.kills >= 1
    assert soaked.dead_letters >= 1


@pytest.mark.long
@pytest.mark.timeout(1200)
async def test_two_thousand_subtasks_outlive_a_kill_every_second(
    tmp_path: Path, empty_database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soaked = await check(tmp_path, empty_database, capsys, 2000, limit_s=1100)

    # One each second, but for what it takes to see whom.
    assert soaked.kills >= 0.8 * soaked.took_s - 2
    assert soaked.takeovers >= soaked.kills / 2
    assert soaked.dead_letters >= 20
