"""Every recorded case of `d1 migrations` (wrangler 4.164) run here."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.migrations.command_line import replay
from tests.replay import differences, load, sampled

CASES = load("migrations")
DIFFERENCES = differences("migrations")


@pytest.mark.parametrize(
    "name", sampled([name for name in CASES if name not in DIFFERENCES], every=8)
)
def test_migrations_do_what_was_recorded(name: str, tmp_path: Path) -> None:
    assert replay(CASES[name], tmp_path) == []


def test_every_difference_is_the_name_of_a_case() -> None:
    assert set(CASES) >= DIFFERENCES
