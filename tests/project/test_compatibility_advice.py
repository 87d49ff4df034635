"""What to do about a date or flags that the runtime would refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.project.projects import HEAD, refused, toml


@pytest.mark.parametrize(
    ("flags", "advice"),
    [
        ('"python_wrkers_314"', 'Did you mean "python_workers_314"?'),
        ('"Odd-Flag"', "each flag once"),
        ('"python_workers"', "each flag once"),
        (
            '"enable_python_external_sdk", "disable_python_external_sdk"',
            "not with its opposite",
        ),
    ],
)
def test_a_refused_flag_comes_with_its_remedy(flags: str, advice: str, tmp_path: Path) -> None:
    toml(tmp_path, "", head=HEAD.replace('"python_workers"', f'"python_workers", {flags}'))

    hint = refused(tmp_path).hint

    assert advice in hint
    assert "YYYY-MM-DD" not in hint


def test_a_refused_date_says_what_dates_there_are(tmp_path: Path) -> None:
    toml(tmp_path, "", head=HEAD.replace("2026-10-01", "2999-10-01"))

    assert "Dates are YYYY-MM-DD" in refused(tmp_path).hint
