"""The whole repository layer against a simple model: agents of all roles, kills, clock, repeats."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import RULE_MARKER
from tests.conftest import Freeze
from tests.team.machine import TeamMachine
from tests.team.machine_world import BEGINNING
from tests.team.mutants import MUTANTS

from edgestate.team import desk


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits before it asks the database again: here it is gone, not busy."""
    monkeypatch.setattr(desk, "PAUSE_S", 0.0)


SAMPLE = (
    "facts are read without their ACL",
    "the holder and its fence are ignored",
    "fingerprints of requests are ignored",
)


def is_rule(name: str) -> bool:
    """Whether the machine has a rule of that name."""
    return hasattr(getattr(TeamMachine, name), RULE_MARKER)


def play(
    empty_database: Path, clock: Any, rules: tuple[str, ...] | None = None, **options: Any
) -> None:
    """The machine runs, with these rules or all; one stopped clock, since stopping it is slow."""
    everything = [name for name, _ in inspect.getmembers(TeamMachine) if is_rule(name)]
    left_out = [] if rules is None else [name for name in everything if name not in rules]
    machine: Any = type("Machine", (TeamMachine,), dict.fromkeys(left_out))
    machine.empty = empty_database
    machine.clock = clock
    case = machine.TestCase
    case.settings = settings(deadline=None, **options)
    case().runTest()


@pytest.mark.slow
def test_the_team_behaves_as_its_model(
    empty_database: Path, frozen: Freeze, anyio_backend: str
) -> None:
    play(empty_database, frozen(BEGINNING), max_examples=4, stateful_step_count=40)


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_the_team_behaves_as_its_model_for_long(
    empty_database: Path, frozen: Freeze, anyio_backend: str
) -> None:
    play(empty_database, frozen(BEGINNING), max_examples=400, stateful_step_count=60)


def check_that_it_is_noticed(
    mutant: str, empty_database: Path, frozen: Freeze, patch: pytest.MonkeyPatch
) -> None:
    """The model and the library disagree once the protection is gone."""
    plant, rules = MUTANTS[mutant]
    assert all(is_rule(name) for name in rules)
    options: dict[str, Any] = {
        "phases": [Phase.generate],
        "derandomize": True,
        "database": None,
        "report_multiple_bugs": False,
    }
    plant(patch)

    # In short lives first; some take long ones, of which many are too long to be drawn.
    with pytest.raises(AssertionError):
        for steps, examples in ((30, 60), (60, 100), (150, 60)):
            play(
                empty_database,
                frozen(BEGINNING),
                rules,
                max_examples=examples,
                stateful_step_count=steps,
                **options,
            )


@pytest.mark.slow
@pytest.mark.parametrize("mutant", SAMPLE)
def test_the_model_notices_a_protection_that_is_gone(
    mutant: str,
    empty_database: Path,
    frozen: Freeze,
    anyio_backend: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check_that_it_is_noticed(mutant, empty_database, frozen, monkeypatch)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mutant", [name for name in MUTANTS if name not in SAMPLE])
def test_the_model_notices_every_protection_that_is_gone(
    mutant: str,
    empty_database: Path,
    frozen: Freeze,
    anyio_backend: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check_that_it_is_noticed(mutant, empty_database, frozen, monkeypatch)
