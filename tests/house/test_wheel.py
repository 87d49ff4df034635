"""The wheel installs `localedge` and `edgestate` and nothing else."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
        timeout=100,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_two_top_level_names(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"localedge", "edgestate"}


def test_the_wheel_has_the_driver_of_the_real_parts(wheel: Path) -> None:
    folder = ROOT / "runtime" / "localedge" / "port" / "verify" / "node"
    with zipfile.ZipFile(wheel) as archive:
        packed = {Path(name).name for name in archive.namelist() if "/verify/node/" in name}

    assert packed == {file.name for file in folder.iterdir() if file.is_file()}
    assert {"driver.mjs", "package-lock.json", ".npmrc"} <= packed


def test_the_wheel_installed_in_a_clean_venv_offers_both_names(wheel: Path, tmp_path: Path) -> None:
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", wheel],
        check=True,
        capture_output=True,
        timeout=100,
    )
    program = (
        "import importlib.util as u\n"
        "find = lambda n: u.find_spec(n) is not None\n"
        "print([find(n) for n in ('localedge', 'localedge.clock', 'localedge.project', 'edgestate',"
        " 'worker', 'bindings', 'workers', 'trip_agent')])"
    )

    shown = subprocess.run(
        [python, "-c", program], check=True, capture_output=True, text=True, cwd=tmp_path
    ).stdout

    assert shown.strip() == "[True, True, True, True, False, False, False, False]"
