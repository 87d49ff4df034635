"""Every recorded answer of KV, replayed on a real server through what worker code holds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.replay import differences, load, mismatch, perform

pytestmark = pytest.mark.anyio
CASES = load("kv")
MEANT = differences("kv")


@pytest.mark.parametrize("name", [name for name in CASES if name not in MEANT])
async def test_kv_answers_as_recorded(name: str, kv: Any) -> None:
    env = SimpleNamespace(KV=kv)

    wrong = []
    for number, step in enumerate(CASES[name]):
        answer = await perform(env, step["call"])
        if (found := mismatch(step, answer)) is not None:
            wrong.append(f"step {number} {step['call']!r:.200}: {found}")

    assert wrong == []


def test_each_meant_difference_names_a_recorded_case() -> None:
    assert set(CASES) >= MEANT
