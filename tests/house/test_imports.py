"""The import contracts hold, and each of them would notice a breach."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]


def test_all_import_contracts_are_kept() -> None:
    result = subprocess.run(LINT, cwd=ROOT, capture_output=True, text=True, timeout=100)

    assert result.returncode == 0, result.stdout


BREACHES = [
    ("bindings/localedge/kv/planted.py", "import localedge.project.models", "bindings import"),
    ("runtime/localedge/isolate/planted.py", "import localedge.cli.main", "imports go one way"),
    ("worker/trip_agent/planted.py", "import localedge.clock", "worker code imports nothing"),
    ("runtime/localedge/cli/planted.py", "import redis", "redis only"),
    ("runtime/localedge/project/planted.py", "import sqlite3", "SQLite only"),
    ("runtime/localedge/isolate/planted.py", "import starlette.responses", "Starlette only"),
    ("runtime/localedge/explore/planted.py", "import localedge.cli.main", "imports go one way"),
    ("runtime/localedge/gateway/planted.py", "import edgestate.models", "edgestate only"),
    ("runtime/localedge/port/planted.py", "import edgestate", "edgestate only"),
]


@pytest.fixture(scope="module")
def copy_of_the_house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three source roots in another folder, with every breach planted at once."""
    house = tmp_path_factory.mktemp("house")
    for root in ("bindings", "runtime", "worker"):
        shutil.copytree(
            ROOT / root, house / root, ignore=shutil.ignore_patterns("__pycache__", ".*")
        )
    shutil.copy(ROOT / "pyproject.toml", house)
    for number, (file, line, _) in enumerate(BREACHES):
        path = house / file
        path.with_name(f"planted_{number}.py").write_text(f"{line}\n", "utf-8")
    return house


@pytest.fixture(scope="module")
def report(copy_of_the_house: Path) -> str:
    paths = ":".join(str(copy_of_the_house / root) for root in ("bindings", "runtime", "worker"))
    program = (
        "import sys; sys.path = [p for p in sys.path if 'localedge' not in p]\n"
        "sys.meta_path = [f for f in sys.meta_path if 'editable' not in repr(f)]\n"
        f"sys.path[:0] = {paths.split(':')!r}\n"
        "from importlinter.cli import lint_imports\n"
        "sys.exit(lint_imports(cache_dir=None, no_cache=True))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=copy_of_the_house,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert result.returncode == 1, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize(("number", "contract"), [(n, b[2]) for n, b in enumerate(BREACHES)])
def test_a_planted_breach_is_found(report: str, number: int, contract: str) -> None:
    assert f"planted_{number}" in report, contract
