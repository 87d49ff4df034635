"""Exported projects under the real wrangler, as far as it goes without an account."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from localedge.port.export.describing import WRANGLER
from localedge.port.scaffold import create
from localedge.port.verify.parts import node_program, npm_packages

pytestmark = pytest.mark.edge
ROOT = Path(__file__).parents[2]
SCHEMA = (
    "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~' "
    "AND name NOT LIKE '~_cf~_%' ESCAPE '~' AND name <> 'd1_migrations' ORDER BY name"
)


@dataclass(frozen=True)
class Wrangler:
    """The real wrangler, in a home of its own."""

    node: Path
    packages: Path
    home: Path

    def run(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """What wrangler says in `folder`."""
        program = self.packages / "node_modules" / "wrangler" / "bin" / "wrangler.js"
        return self._node(folder, program, *arguments)

    def script(self, folder: Path, text: str) -> str:
        """What a module that may import wrangler prints."""
        file = self.packages / "node_modules" / "wrangler" / "wrangler-dist" / "cli.js"
        lines = f"const wrangler = require({json.dumps(str(file))});\n{text}"
        done = self._node(folder, "-e", lines)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _node(self, folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        env = {
            **{name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ},
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home),
            "CI": "1",
            "WRANGLER_SEND_METRICS": "false",
            "NO_COLOR": "1",
        }
        command = [self.node, *arguments]
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def wrangler(tmp_path_factory: pytest.TempPathFactory) -> Wrangler:
    node = node_program()
    packages = asyncio.run(npm_packages(node, Path(__file__).parent / "wrangler", "wrangler"))
    return Wrangler(node, packages, tmp_path_factory.mktemp("home"))


def localedge(project: Path, *arguments: str) -> str:
    """What our command line prints in `project`."""
    command = [sys.executable, "-m", "localedge.cli", *arguments]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference worker, exported."""
    folder = tmp_path_factory.mktemp("reference") / "edge"
    localedge(ROOT, "export", str(folder))
    return folder


def test_the_wrangler_of_exports_is_the_one_that_is_tried_here(
    wrangler: Wrangler, tmp_path: Path
) -> None:
    assert wrangler.run(tmp_path, "--version").stdout.strip() == WRANGLER


def test_wrangler_would_deploy_the_reference_worker_with_all_of_its_modules(
    reference: Path, wrangler: Wrangler, tmp_path: Path
) -> None:
    done = wrangler.run(reference, "deploy", "--dry-run", "--outdir", str(tmp_path / "out"))

    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    for binding in ("env.SESSIONS", "env.DB (trip-agent)", "env.LEASE_S (15)"):
        assert binding in done.stdout
    modules = {path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*.py")}
    ours = {path.relative_to(reference / "worker") for path in reference.rglob("worker/**/*.py")}
    assert modules == ours


def test_wrangler_makes_the_same_tables_from_the_exported_migrations(
    reference: Path, wrangler: Wrangler, tmp_path: Path
) -> None:
    local = ("DB", "--local", "--persist-to", str(tmp_path / "state"))
    applied = wrangler.run(reference, "d1", "migrations", "apply", *local)
    read = wrangler.run(reference, "d1", "execute", *local, "--json", "--command", SCHEMA)

    assert applied.returncode == 0, applied.stderr
    assert json.loads(read.stdout)[0]["results"] == applied_here(tmp_path)


def applied_here(folder: Path) -> list[Any]:
    """The schema that our own command makes of the reference worker's migrations."""
    for name in ("wrangler_like.toml", "worker", "migrations"):
        (folder / name).symlink_to(ROOT / name)
    localedge(folder, "d1", "migrations", "apply", "DB")
    told = json.loads(localedge(folder, "d1", "execute", "DB", "--json", "--command", SCHEMA))
    rows: list[Any] = told[0]["results"]
    return rows


def test_ids_that_wrangler_writes_into_the_export_outlive_the_next_one(
    wrangler: Wrangler, tmp_path: Path
) -> None:
    create(tmp_path / "notes")
    edge = tmp_path / "notes" / "edge"
    localedge(tmp_path / "notes", "export")
    ids = {"id": "0123456789abcdef0123456789abcdef"}
    database = {"database_id": "01234567-89ab-cdef-0123-456789abcdef"}
    # What `wrangler kv namespace create … --update-config` does once the edge has answered.
    patch = {
        "kv_namespaces": [{"binding": "KV", **ids}],
        "d1_databases": [{"binding": "DB", "database_name": "notes", **database}],
    }
    wrangler.script(
        edge,
        f"wrangler.experimental_patchConfig({json.dumps(str(edge / 'wrangler.jsonc'))}, "
        f"{json.dumps(patch)}, false);",
    )

    localedge(tmp_path / "notes", "export", "--force")

    said = wrangler.run(edge, "deploy", "--dry-run")
    assert said.returncode == 0, said.stderr
    assert f"env.KV ({ids['id']})" in said.stdout
    text = (edge / "wrangler.jsonc").read_text("utf-8")
    assert database["database_id"] in text


def test_wrangler_would_deploy_a_worker_from_the_top_of_its_project(
    wrangler: Wrangler, tmp_path: Path
) -> None:
    project = tmp_path / "visits"
    project.mkdir()
    (project / "entry.py").write_text(
        "from workers import Response, WorkerEntrypoint\nimport parts.one\n\n\n"
        "class Default(WorkerEntrypoint):\n    async def fetch(self, request):\n"
        "        return Response('hi')\n"
    )
    (project / "parts").mkdir()
    (project / "parts" / "one.py").write_text("ONE = 1\n")
    (project / "wrangler_like.toml").write_text(
        'name = "visits"\nmain = "entry.py"\ncompatibility_date = "2026-11-01"\n'
        'compatibility_flags = ["python_workers"]\n[localedge]\nisolates = 1\n'
        '[env.staging]\nvars = { STAGE = "s" }\n'
    )
    localedge(project, "export")

    for environment in ("", "staging"):
        done = wrangler.run(project / "edge", "deploy", "--dry-run", "--env", environment)

        assert done.returncode == 0, done.stderr
        assert "parts/one.py" in done.stdout


def test_each_command_of_the_guide_that_needs_no_account_is_carried_out(
    wrangler: Wrangler, tmp_path: Path
) -> None:
    for name in ("wrangler_like.toml", "worker", "migrations", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    folder, seen = tmp_path, []

    for line in guide():
        match shlex.split(line):
            case ["localedge", *arguments]:
                localedge(folder, *arguments)
            case ["cd", name]:
                folder = folder / name
            case ["npx", "wrangler", *arguments]:
                done = wrangler.run(folder, *arguments)
                assert done.returncode == 0, done.stderr
        seen.append(line.split()[:2])

    assert seen.count(["npx", "wrangler"]) == 2
    assert [["localedge", verb] for verb in ("check", "verify", "export")] == seen[:3]


def guide() -> list[str]:
    """The lines of docs/porting.md that are for the shell and need no account."""
    text = (ROOT / "docs" / "porting.md").read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def test_the_guide_has_the_commands_that_an_export_prints(reference: Path) -> None:
    text = (ROOT / "docs" / "porting.md").read_text("utf-8")
    told = json.loads(localedge(ROOT, "export", str(reference), "--force", "--json"))

    lines = [line.replace(f"cd {reference}", "cd edge") for line in told["commands"]]
    assert [line for line in lines if f"\n{line}\n" not in text] == []
