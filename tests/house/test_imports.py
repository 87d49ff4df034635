"""The import contracts hold, and each of them would notice a breach."""

from __future__ import annotations

import re
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


ONE_WAY = "imports go one way"
BINDINGS = "bindings import nothing of the runtime"
WORKER = "worker code imports nothing of localedge"
EDGESTATE = "edgestate only in the CLI and the inspector"
SQLITE = "SQLite only in d1/sqlite.py"
STARLETTE = "Starlette only in the gateway, the inspector and the test client"
BREACHES = [
    ("bindings/localedge/kv", "import localedge.project.models", BINDINGS),
    ("bindings/localedge/d1", "import localedge.supervisor", BINDINGS),
    ("runtime/localedge/isolate", "import localedge.cli.main", ONE_WAY),
    ("runtime/localedge/explore", "import localedge.cli.main", ONE_WAY),
    ("runtime/localedge/sdk", "import localedge.gateway", ONE_WAY),
    ("worker/trip_agent", "import localedge.clock", WORKER),
    ("worker/doc_team", "import localedge.kv", WORKER),
    ("worker/edgestate", "import localedge.errors", WORKER),
    ("runtime/localedge/cli", "import redis", "redis only in kv/redis.py"),
    ("runtime/localedge/project", "import sqlite3", SQLITE),
    ("bindings/localedge/kv", "import aiosqlite", SQLITE),
    ("runtime/localedge/isolate", "import starlette.responses", STARLETTE),
    ("runtime/localedge/gateway", "import edgestate.models", EDGESTATE),
    ("runtime/localedge/port", "import edgestate", EDGESTATE),
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
    for number, (folder, line, _) in enumerate(BREACHES):
        (house / folder / f"planted_{number}_.py").write_text(f"{line}\n", "utf-8")
    (house / "runtime" / "localedge" / "planted_room.py").write_text("", "utf-8")
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


def told_by(report: str, contract: str) -> str:
    """What the report says below the heading of a broken contract."""
    _, _, broken = report.partition("Broken contracts")
    _, heading, rest = broken.partition(f"{contract}\n{'-' * len(contract)}\n")
    assert heading, f"{contract!r} is not broken"
    return rest.partition("\n---")[0]


@pytest.mark.parametrize(("number", "contract"), [(n, b[2]) for n, b in enumerate(BREACHES)])
def test_a_planted_breach_is_found(report: str, number: int, contract: str) -> None:
    assert f"planted_{number}_" in told_by(report, contract)


def test_a_module_without_a_place_among_the_layers_is_found(report: str) -> None:
    assert "planted_room" in told_by(report, ONE_WAY)


def test_no_file_of_the_bundle_imports_localedge() -> None:
    imports = re.compile(r"^\s*(import|from)\s+localedge\b", re.MULTILINE)

    found = [p for p in (ROOT / "worker").rglob("*.py") if imports.search(p.read_text("utf-8"))]

    assert found == []
