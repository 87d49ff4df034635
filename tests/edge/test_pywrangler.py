"""Projects of `localedge init` under the real pywrangler, as far as it goes without an account."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.runtime.edge import edge

from localedge.cli.agent import library_folder
from localedge.port.scaffold import Library, create
from localedge.port.verify.fetching import filled, run
from localedge.port.verify.parts import cache_folder, node_program, npm_packages
from localedge.project import load
from localedge.project.compatibility import python_release

pytestmark = pytest.mark.edge
PACKAGES = ("workers-py==1.17.9", "workers-runtime-sdk==1.9.5", "uv==0.13.9")
READING = """
import json, logging
from pywrangler import resolve, sync, utils
sync.check_requirements_txt()
utils.check_wrangler_config()
config = utils._parse_wrangler_config()
print(json.dumps([utils.get_python_version(), resolve.parse_requirements(), config]))
"""
DATES = ["2025-08-01", "2025-09-28", "2025-09-29", "2026-04-21", "2026-09-07", "2026-09-08"]


@dataclass(frozen=True)
class Pywrangler:
    """The real pywrangler, with the wrangler that exports are tried with."""

    packages: Path
    wrangler: Path
    home: Path

    def python(self, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """What Python says in `project`, where pywrangler can be imported."""
        node = node_program().parent
        npx = self.home / "bin" / "npx"
        npx.parent.mkdir(exist_ok=True)
        # The one beside the wheel's node does not find its own library.
        library = node.parent / "lib" / "node_modules" / "npm" / "bin" / "npx-cli.js"
        npx.write_text(f'#!/bin/sh\nexec node "{library}" "$@"\n', "utf-8")
        npx.chmod(0o755)
        programs = (self.packages / "bin", npx.parent, node, Path("/usr/bin"), Path("/bin"))
        env = {
            "PATH": os.pathsep.join(map(str, programs)),
            "PYTHONPATH": str(self.packages),
            "HOME": str(self.home),
            "CI": "1",
            "WRANGLER_SEND_METRICS": "false",
        }
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True)

    def run(self, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """What `pywrangler` says; its `npx wrangler` is ours."""
        modules = project / "node_modules"
        if not modules.exists():
            modules.symlink_to(self.wrangler / "node_modules")
        return self.python(project, "-m", "pywrangler", *arguments)


@pytest.fixture(scope="module")
def pywrangler(tmp_path_factory: pytest.TempPathFactory) -> Pywrangler:
    async def fill(folder: Path) -> None:
        target = ("--target", str(folder), "--quiet", "--disable-pip-version-check")
        code, said = await run([sys.executable, "-m", "pip", "install", *target, *PACKAGES], folder)
        assert code == 0, said

    name = "pywrangler-" + "-".join(one.partition("==")[2] for one in PACKAGES)
    packages = asyncio.run(filled(cache_folder() / name, fill))
    pins = Path(__file__).parent / "wrangler"
    wrangler = asyncio.run(npm_packages(node_program(), pins, "wrangler"))
    return Pywrangler(packages, wrangler, tmp_path_factory.mktemp("home"))


@pytest.fixture(params=["plain", "agent"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A new project of each kind."""
    library = Library(library_folder(), "1.0") if request.param == "agent" else None
    return create(tmp_path / "made", library=library).folder


def test_pywrangler_reads_what_localedge_reads(pywrangler: Pywrangler, project: Path) -> None:
    done = pywrangler.python(project, "-c", READING)

    assert done.returncode == 0, done.stdout + done.stderr
    python, requirements, config = json.loads(done.stdout)
    ours = load(start=project, process_env={})
    assert ours.compatibility_date is not None
    release = python_release(ours.compatibility_date, ours.compatibility_flags)
    assert release.python.startswith(python)
    assert requirements in ([], ["pydantic"])
    assert (config["name"], config["main"]) == (ours.name, "src/entry.py")


@pytest.mark.parametrize("date", DATES)
def test_pywrangler_and_localedge_take_a_date_for_the_same_python(
    date: str, pywrangler: Pywrangler, tmp_path: Path
) -> None:
    create(tmp_path)
    config = tmp_path / "wrangler.jsonc"
    ours = load(start=tmp_path, process_env={})
    config.write_text(
        config.read_text("utf-8").replace(str(ours.compatibility_date), date), "utf-8"
    )

    done = pywrangler.python(tmp_path, "-c", READING)

    if date < "2025-09-29":
        # It knows no date at which 3.12 began: it takes that for whatever is older.
        assert done.returncode in (0, 1)
        return
    python = json.loads(done.stdout)[0]
    assert python_release(date, ("python_workers",)).python.startswith(python)


def test_its_migrations_are_applied_by_pywrangler(pywrangler: Pywrangler, project: Path) -> None:
    done = pywrangler.run(project, "d1", "migrations", "apply", "DB", "--local")

    assert done.returncode == 0, done.stdout + done.stderr
    for migration in (project / "migrations").iterdir():
        assert migration.name in done.stdout


def test_pywrangler_gets_as_far_as_fetching_an_interpreter(
    pywrangler: Pywrangler, tmp_path: Path
) -> None:
    create(tmp_path)

    done = pywrangler.run(tmp_path, "sync")

    # Without a network for it, uv ends where it looks for the edge's Python; nothing before is
    # refused. With one, all of it is done.
    said = done.stdout + done.stderr
    assert done.returncode == 0 or "uv venv" in said, said
    assert "wrangler.jsonc" not in said


@pytest.mark.processes
@pytest.mark.anyio
async def test_the_real_sdk_in_the_projects_environments_is_never_imported(
    pywrangler: Pywrangler, tmp_path: Path
) -> None:
    create(tmp_path)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for name in (".venv", ".venv-workers"):
        packages = tmp_path / name / "lib" / version / "site-packages"
        packages.parent.mkdir(parents=True)
        packages.symlink_to(pywrangler.packages)
        config = tmp_path / name / "pyvenv.cfg"
        config.write_text(f"home = /usr\nversion_info = {sys.version.split()[0]}\n", "utf-8")

    async with edge(tmp_path) as server:
        answer = await server.get("/")

    assert answer.text == "Hello, World!"
