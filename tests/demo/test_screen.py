"""The demo's exit code says whether every claim was checked and holds."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from tests.demo.screen import Attempt, Count, Screen


@pytest.fixture
def screen() -> Screen:
    return Screen(claims=2, console=Console(file=io.StringIO(), width=80))


def test_the_exit_code_is_0_when_all_claims_hold(screen: Screen) -> None:
    screen.claim("One.", True)
    screen.claim("Two.", True)

    assert screen.exit_code() == 0


def test_the_exit_code_is_1_when_a_claim_does_not_hold(screen: Screen) -> None:
    screen.claim("One.", True)
    screen.claim("Two.", False, "something else")

    assert screen.exit_code() == 1
    assert screen.failed == ["Two."]


def test_the_exit_code_is_1_when_a_claim_was_not_checked(screen: Screen) -> None:
    screen.claim("One.", True)

    assert screen.exit_code() == 1


def test_tables_fit_80_columns() -> None:
    sheet = io.StringIO()
    screen = Screen(claims=0, console=Console(file=sheet, width=80))
    moment = "2026-12-01T12:00:00.000Z"

    screen.timeline("act", [Attempt("search_flights", 4_194_303, moment, moment, "word " * 10)])
    screen.effects("act", [Count("search_flights", f"agent-{'0' * 34}", 2, 1)])

    assert max(map(len, sheet.getvalue().splitlines())) <= 80
