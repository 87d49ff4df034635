"""The forms in which workers use the platform give the same on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.demo.processes import ROOT
from tests.edge.conftest import MakeProject, compared, told

from localedge.port.verify.sources import read_plan
from localedge.port.verify.verifying import Wishes

pytestmark = [pytest.mark.edge, pytest.mark.anyio]
_HERE = Path(__file__).parent
_FASTAPI = (
    *("annotated-doc", "anyio", "fastapi", "idna", "opentelemetry-api", "pydantic"),
    *("pydantic_core", "python-multipart", "starlette", "typing-inspection", "typing_extensions"),
)


def pins(*names: str) -> list[str]:
    """The requirements of our own constraints, so that both sides have the same versions."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return [line for line in lines if line.partition("==")[0] in names]


async def test_every_form_of_a_worker_answers_alike(project: MakeProject) -> None:
    worker = (_HERE / "workers" / "forms.py").read_text()

    report = await compared(project(worker), read_plan(_HERE / "scenarios" / "forms.toml"))

    assert report.count == 0, told(report)
    assert report.state == []


async def test_a_fastapi_application_answers_alike(project: MakeProject) -> None:
    worker = (_HERE / "workers" / "fastapi_app.py").read_text()
    plan = read_plan(_HERE / "scenarios" / "fastapi.toml")

    report = await compared(
        project(worker), plan, Wishes(requirements=pins(*_FASTAPI), patience_s=60)
    )

    assert report.count == 0, told(report)
    assert [step.theirs for step in report.steps].count("200") == 9


async def test_a_worker_of_the_older_world_answers_alike(project: MakeProject) -> None:
    made = project((_HERE / "workers" / "legacy.py").read_text())
    flags = ("python_workers", "disable_python_no_global_handlers")
    older = made.model_copy(update={"compatibility_flags": flags})

    report = await compared(older, read_plan(_HERE / "scenarios" / "legacy.toml"))

    assert report.count == 0, told(report)
    assert [step.theirs for step in report.steps] == ["200", "200", "200", "404", "ok"]
