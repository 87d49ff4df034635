"""The explorer's D1 in memory answers every recorded case as the engine on a file does."""

from __future__ import annotations

from typing import Any

import pytest
from tests import replay

from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.memory import MemoryEngine
from localedge.probe import Probe

CASES = replay.load("d1")


@pytest.mark.anyio
@pytest.mark.parametrize("case", sorted(set(CASES) - replay.differences("d1")))
async def test_a_recorded_d1_case_is_answered_in_memory_as_recorded(case: str) -> None:
    steps: list[dict[str, Any]] = CASES[case]
    wrong = []
    engine = MemoryEngine()
    env = EnvWrapper({"DB": D1Database(engine)}, Probe())

    for number, step in enumerate(steps):
        answer = await replay.perform(env, step["call"])
        if problem := replay.mismatch(step, answer):
            wrong.append(f"step {number} {step['call'][1:]}: {problem}")

    engine.close()
    assert not wrong, "\n".join(wrong)
