"""The same deaths by SIGKILL: forked isolates on SQLite files and a real Valkey."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCENARIOS = Path(__file__).parent / "scenarios"

pytestmark = pytest.mark.processes


def real(file: str, name: str, deaths: int) -> dict[str, Any]:
    """The row of so many deaths. A process of its own plays them: this one has threads."""
    options = ["--scenario", name, "--real", str(deaths), "--jobs", "2", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "localedge.cli", "explore", str(SCENARIOS / file), *options],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=ROOT,
    )
    assert done.stdout, done.stderr
    row: dict[str, Any] = json.loads(done.stdout)["rows"][0]
    return row


def test_a_trip_is_booked_once_when_its_isolates_are_killed() -> None:
    row = real("trip.py", "book", 18)

    assert row["kind"] == "SIGKILL, real stores"
    assert set(row["counts"]) == {"PASS", "ASKED"}
    assert row["runs"] == 18


def test_the_documents_code_repeats_effects_when_its_isolates_are_killed() -> None:
    row = real("document.py", "effects", 8)

    assert row["counts"]["DUPLICATE"] > 0
    assert row["failures"][0]["choices"][0]["do"] in ("before", "after")
