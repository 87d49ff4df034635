"""Neighbours of the recorded cases: what wrangler 4.164 answered to them on 2026-12-01.

`recorded.json` has the form of tests/vectors/migrations.json (see the README there).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.migrations.command_line import JsonCase, replay
from tests.replay import sampled

CASES: dict[str, JsonCase] = json.loads(
    (Path(__file__).parent / "recorded.json").read_text("utf-8")
)


@pytest.mark.parametrize("name", sampled(CASES, every=8))
def test_neighbours_do_what_was_recorded(name: str, tmp_path: Path) -> None:
    assert replay(CASES[name], tmp_path) == []
