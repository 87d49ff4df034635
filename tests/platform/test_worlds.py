"""Compatibility dates and flags decide what they decide on the platform."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.platform.projects import FLAGS, template, write
from tests.runtime.edge import edge

from localedge.cli.edge_release import edge_release, local_surprises
from localedge.isolate.world import world_of
from localedge.project import load
from localedge.project.models import Project

CLASSES = """
from pyodide.ffi import JsProxy, to_js
from workers import Response, WorkerEntrypoint, env

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.KV.put("key", '{"a": [1]}', to_js({"expirationTtl": 60}))
        value = await self.env.KV.get("key", "json")
        missing = await self.env.KV.get("nothing")
        is_raw = isinstance(value, JsProxy)
        plain = value.to_py() if is_raw else value
        top = await env.KV.get("nothing")
        return Response(f"{is_raw} {plain} {missing!r} {top!r}")
"""
GLOBAL = """
from js import Response

def on_fetch(request, env, ctx):
    return Response.new("older")
"""


def project(folder: Path, date: str, *flags: str) -> Project:
    template(folder, GLOBAL, compatibility_date=date, compatibility_flags=[*FLAGS, *flags])
    return load(start=folder, process_env={})


DECIDED = [
    ("2025-08-13", (), (True, True, (3, 12))),
    ("2025-08-14", (), (True, False, (3, 12))),
    ("2025-08-14", ("disable_python_no_global_handlers",), (True, True, (3, 12))),
    ("2025-08-13", ("python_no_global_handlers",), (True, False, (3, 12))),
    ("2025-09-29", (), (True, False, (3, 13))),
    ("2025-09-28", ("python_workers_20250116",), (True, False, (3, 13))),
    ("2026-04-20", (), (True, False, (3, 13))),
    ("2026-04-21", (), (False, False, (3, 13))),
    ("2026-04-20", ("enable_python_external_sdk",), (False, False, (3, 13))),
    ("2026-11-01", ("disable_python_external_sdk",), (True, False, (3, 14))),
    ("2026-09-07", (), (False, False, (3, 13))),
    ("2026-09-08", (), (False, False, (3, 14))),
    ("2026-05-01", ("python_workers_20260610",), (False, False, (3, 14))),
]


@pytest.mark.parametrize(("date", "flags", "decided"), DECIDED)
def test_date_and_flags_decide_the_world(
    date: str, flags: tuple[str, ...], decided: tuple[object, ...], tmp_path: Path
) -> None:
    world = world_of(project(tmp_path, date, *flags))

    assert (world.is_legacy, world.allows_global_handlers, world.python) == decided


def test_an_sdk_that_comes_with_the_bundle_makes_an_older_date_modern(tmp_path: Path) -> None:
    write(tmp_path, {"python_modules/workers/__init__.py": ""})

    assert not world_of(project(tmp_path, "2026-03-01")).is_legacy


@pytest.mark.parametrize(
    ("date", "versions"),
    [
        ("2026-11-01", "Python 3.14.2 and pydantic 2.12.5 "),
        ("2026-03-01", "Python 3.13 and pydantic 2.10.6 "),
        ("2025-08-13", "Python 3.12 "),
    ],
)
def test_the_edges_python_and_pydantic_are_told(date: str, versions: str, tmp_path: Path) -> None:
    said = edge_release(project(tmp_path, date))

    assert f"On the edge: {versions}(compatibility date {date})" in said


@pytest.mark.parametrize(("local", "warned"), [((3, 13), True), ((3, 14), False)])
def test_a_python_older_than_the_edges_is_warned_of(
    local: tuple[int, int], warned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (*local, 0))

    said = "".join(local_surprises(project(tmp_path, "2026-11-01")))

    assert ("older than the edge's 3.14" in said) == warned


@pytest.mark.processes
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("date", "answer"),
    [
        ("2026-11-01", "False {'a': [1]} None None"),
        ("2026-04-20", "True {'a': [1]} jsnull jsnull"),
        ("2025-09-28", "True {'a': [1]} None None"),
    ],
)
async def test_env_is_raw_where_the_platform_has_it_raw(
    date: str, answer: str, tmp_path: Path
) -> None:
    template(tmp_path, CLASSES, compatibility_date=date, kv_namespaces=[{"binding": "KV"}])

    async with edge(tmp_path) as server:
        text = (await server.get("/")).text
        warned = "env holds raw objects of the platform" in server.logged()
        told = "the modern form, with native values" in server.logged()

    assert text == answer
    assert warned == told == ("raw" in answer or answer.startswith("True"))


@pytest.mark.processes
@pytest.mark.anyio
async def test_a_modules_own_handler_answers_until_the_date_that_ends_it(tmp_path: Path) -> None:
    template(tmp_path / "then", GLOBAL, compatibility_date="2025-08-13")
    template(tmp_path / "now", GLOBAL)

    async with edge(tmp_path / "then") as server:
        then = await server.get("/")
        raw = await server.wait_log("the modern form is class Default(WorkerEntrypoint)")
    async with edge(tmp_path / "now") as server:
        now = await server.get("/")
        muted = await server.wait_log("disable_python_no_global_handlers")

    assert then.text == "older"
    assert "on_fetch gets raw objects" in raw
    assert now.status_code == 500
    assert "Handler does not export a fetch() function." in now.text
    assert "handle nothing since compatibility date 2025-08-14" in muted
