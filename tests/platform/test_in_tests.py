"""The bindings of a project in a test's own process, as the pytest plugin opens them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.platform.projects import template, write

from localedge.project import load
from localedge.testing.world import empty_world, opened


@pytest.mark.anyio
async def test_files_can_be_asked_for_without_a_server(tmp_path: Path) -> None:
    write(tmp_path, {"public/index.html": "home"})
    template(tmp_path, "", assets={"directory": "public", "binding": "ASSETS"})
    project = load(start=tmp_path, process_env={})
    world = await empty_world(project, tmp_path / "state")

    async with opened(world, None) as env:
        answer = await env.ASSETS.fetch("https://any.test/")
        text = await answer.text()

    assert (answer.status, text) == (200, "home")
    assert "workers" not in sys.modules
