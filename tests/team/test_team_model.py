"""The whole repository layer against a simple model: agents of all roles, kills, clock, repeats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from tests.conftest import Freeze
from tests.team.machine import BEGINNING, TeamMachine

from edgestate.team.sql import messages


def play(empty_database: Path, clock: Any, **options: Any) -> None:
    """The machine runs; one stopped clock for all examples, since stopping one is slow."""
    TeamMachine.empty = empty_database
    TeamMachine.clock = clock
    case = TeamMachine.TestCase
    case.settings = settings(deadline=None, **options)
    case().runTest()


@pytest.mark.slow
def test_the_team_behaves_as_its_model(
    empty_database: Path, frozen: Freeze, anyio_backend: str
) -> None:
    is_long = settings.get_current_profile_name() == "long"

    play(
        empty_database,
        frozen(BEGINNING),
        max_examples=400 if is_long else 10,
        stateful_step_count=50 if is_long else 30,
    )


@pytest.mark.slow
def test_the_model_notices_messages_that_are_never_consumed(
    empty_database: Path, frozen: Freeze, anyio_backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = messages.CONSUME.replace("SET consumed_at = MAX(?3, delivered_at)", "SET seq = seq")
    monkeypatch.setattr(
        messages, "CONSUME", mutant.replace("agent_id = ?2", "agent_id = ?2 AND ?3")
    )

    with pytest.raises(AssertionError):
        play(
            empty_database,
            frozen(BEGINNING),
            max_examples=50,
            stateful_step_count=30,
            phases=[Phase.generate],
            derandomize=True,
            database=None,
        )
