"""Every recorded D1 answer, replayed through the wrapper that worker code holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests import replay

from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.probe import Probe

CASES = replay.load("d1")


@pytest.mark.anyio
@pytest.mark.parametrize("case", sorted(set(CASES) - replay.differences("d1")))
async def test_a_recorded_d1_case_is_answered_as_recorded(case: str, tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = CASES[case]
    wrong = []
    async with open_engine(tmp_path / "db.sqlite") as engine:
        env = EnvWrapper({"DB": D1Database(engine)}, Probe())

        for number, step in enumerate(steps):
            answer = await replay.perform(env, step["call"])
            if problem := replay.mismatch(step, answer):
                wrong.append(f"step {number} {step['call'][1:]}: {problem}")

    assert not wrong, "\n".join(wrong)
