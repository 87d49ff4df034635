"""Every recorded case of `d1 execute` (wrangler 4.164) run here."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.migrations.command_line import replay
from tests.replay import differences, load

CASES = load("execute")
DIFFERENCES = differences("execute")


@pytest.mark.parametrize("name", [name for name in CASES if name not in DIFFERENCES])
def test_execute_does_what_was_recorded(name: str, tmp_path: Path) -> None:
    assert replay(CASES[name], tmp_path) == []


def test_every_difference_of_execute_is_the_name_of_a_case() -> None:
    assert set(CASES) >= DIFFERENCES
