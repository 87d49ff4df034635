"""The forms in which workers use the platform give the same on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.edge.conftest import MakeProject, compared, told

from localedge.port.verify.sources import read_plan

pytestmark = [pytest.mark.edge, pytest.mark.anyio]
_HERE = Path(__file__).parent


async def test_every_form_of_a_worker_answers_alike(project: MakeProject) -> None:
    worker = (_HERE / "workers" / "forms.py").read_text()

    report = await compared(project(worker), read_plan(_HERE / "scenarios" / "forms.toml"))

    assert report.count == 0, told(report)
    assert report.state == []
