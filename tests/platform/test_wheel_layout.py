"""In an installed wheel bindings and runtime lie in one folder, and tasks still end with events."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
from localedge import stream
from localedge.isolate import ownership
from localedge.kv import redis
from localedge.d1 import sqlite
from localedge.probe import Probe
from localedge.sdk import finder, web

async def of_a_worker(): ...
def is_binding(function, *arguments):
    coroutine = function(*arguments)
    try:
        return ownership._is_binding(coroutine)
    finally:
        coroutine.close()

finder.install()
from workers import asgi_lifespan
lifespan = asgi_lifespan.started(None)
print(
    redis.__file__.startswith(FOLDER),
    is_binding(redis.RedisConnection._looked, None),
    is_binding(Probe().run, None, None),
    is_binding(lambda: lifespan),
    is_binding(of_a_worker),
)
"""


@pytest.mark.processes
def test_only_the_bindings_own_tasks_outlive_an_event(tmp_path: Path) -> None:
    installed = tmp_path / "site-packages"
    for source in ("bindings", "runtime"):
        shutil.copytree(ROOT / source, installed, dirs_exist_ok=True)

    shown = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("FOLDER", repr(str(installed)))],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed)},
        timeout=30,
    ).stdout

    assert shown.split() == ["True", "True", "True", "False", "False"]
