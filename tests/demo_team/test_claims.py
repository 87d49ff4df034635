"""What the demo claims can fail: the outcome is really compared."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import pytest
from rich.console import Console
from tests.demo.screen import Screen
from tests.demo_team.facts import Facts
from tests.demo_team.story import CLAIMS, EARLY, KILLS, Run, check

FACTS = Facts(
    results={"g": 1, "g/summary/0": 2},
    is_rebuilt=True,
    dead_letters=[],
    torn=[],
    events=9,
    takeovers=1,
    rates=[],
)
ENTRY: dict[str, Any] = {"document": "a", "index": {"x": 1}, "summarise": "A.", "attempts": 2}


def runs() -> tuple[Run, Run]:
    """Two runs of which everything holds."""
    calm = Run([ENTRY], 1.0, set(), facts=FACTS)
    kills = [("worker", 0)] * KILLS
    return calm, Run([copy.deepcopy(ENTRY)], 1.0, set(), kills, EARLY, FACTS)


def failed(calm: Run, fire: Run) -> list[str]:
    screen = Screen(claims=CLAIMS, console=Console(quiet=True))
    check(screen, calm, fire, 1)
    return screen.failed


def test_two_equal_runs_fail_no_claim() -> None:
    assert failed(*runs()) == []


@pytest.mark.parametrize("key", ["summarise", "index", "attempts", "document"])
def test_an_outcome_that_differs_in_anything_fails_its_claim(key: str) -> None:
    calm, fire = runs()
    fire.report[0][key] = {"x": 2} if key == "index" else 7

    assert failed(calm, fire) == ["The outcome equals that of the run in peace."]


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"results": {"g": 1, "g/summary/0": 1}}, "Every attempt"),
        ({"is_rebuilt": False}, "History has no gap"),
        ({"dead_letters": ["a: why"]}, "Nothing was given up"),
        ({"torn": ["a task is completed and has no result"]}, "No symptom"),
    ],
)
def test_what_the_database_says_fails_its_claim(change: dict[str, Any], claim: str) -> None:
    calm, fire = runs()
    fire.facts = dataclasses.replace(FACTS, **change)

    (sentence,) = failed(calm, fire)

    assert sentence.startswith(claim)
