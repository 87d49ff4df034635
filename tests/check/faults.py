"""Small projects with one fault each, and near misses of them.

A line that ends with the word HERE, in a comment, is where the fault is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

from localedge.cli.check import examine
from localedge.port.check.finding import Finding
from localedge.project.options import load_arguments

CONFIG = """{
  "name": "shop",
  "main": "src/entry.py",
  "compatibility_date": "2026-10-01",
  "compatibility_flags": ["python_workers"],
  "kv_namespaces": [{ "binding": "KV", "id": "kv" }],
  "d1_databases": [{ "binding": "DB", "database_name": "shop", "database_id": "db" }],
  "r2_buckets": [{ "binding": "FILES", "bucket_name": "files" }]
}
"""
PYPROJECT = """[project]
name = "shop"
version = "0.1.0"
requires-python = ">=3.12"
dependencies = []

[dependency-groups]
dev = ["workers-py", "workers-runtime-sdk"]
"""
MIGRATION = """CREATE TABLE notes (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  size INTEGER
);
"""
Files = Mapping[str, str]


@dataclass(frozen=True)
class Case:
    """A project that breaks `rule`, at `line` if not at a mark, and one that nearly does."""

    rule: str
    fault: Files
    near: Files
    line: tuple[str, int] | None = None


def handler(body: str, top: str = "") -> dict[str, str]:
    """A worker whose fetch handler is `body`."""
    return worker(
        f"from workers import Response, WorkerEntrypoint\n{dedent(top)}\n\n"
        "class Default(WorkerEntrypoint):\n    async def fetch(self, request):\n"
        f"{indent(dedent(body).strip(), ' ' * 8)}\n        return Response('')\n"
    )


def module(top: str) -> dict[str, str]:
    """A worker with `top` at the top of its main module."""
    return handler("pass", top)


def worker(text: str) -> dict[str, str]:
    """A worker whose main module is `text`."""
    return {"src/entry.py": dedent(text)}


def entrypoint(methods: str) -> dict[str, str]:
    """A worker whose default entrypoint has just `methods`."""
    return worker(
        "from workers import Response, WorkerEntrypoint\n\n\nclass Default(WorkerEntrypoint):\n"
        + indent(dedent(methods), "    ")
    )


def migration(text: str) -> dict[str, str]:
    """A project with one more migration."""
    return {"migrations/0002_more.sql": dedent(text)}


def config(old: str, new: str) -> dict[str, str]:
    """A project whose configuration has `new` where it had `old`."""
    assert old in CONFIG
    return {"wrangler.jsonc": CONFIG.replace(old, new)}


def dated(date: str) -> dict[str, str]:
    """A project with that compatibility date."""
    return config("2026-10-01", date)


def pyproject(old: str, new: str) -> dict[str, str]:
    """A project whose pyproject.toml has `new` where it had `old`."""
    assert old in PYPROJECT
    return {"pyproject.toml": PYPROJECT.replace(old, new)}


def build(folder: Path, files: Files) -> None:
    """A project in `folder` with `files`, and what it needs besides."""
    plain = {
        "wrangler.jsonc": CONFIG,
        "pyproject.toml": PYPROJECT,
        "migrations/0001_notes.sql": MIGRATION,
        **handler("pass"),
    }
    for name, text in {**plain, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def findings(folder: Path, files: Files, *, env: str | None = None) -> list[Finding]:
    """What the check finds in a project with `files`."""
    build(folder, files)
    (arguments,) = load_arguments(cwd=folder, process_env={}, env=env)
    return examine(arguments)[1]


def marked(folder: Path, files: Files) -> list[tuple[str, int]]:
    """The places that are marked with HERE."""
    return sorted(
        (name, number)
        for name in files
        for number, line in enumerate((folder / name).read_text("utf-8").split("\n"), start=1)
        if line.rstrip().endswith("HERE")
    )


def places(folder: Path, found: list[Finding], rule: str) -> list[tuple[str, int]]:
    """Where `rule` was found."""
    return sorted({(one.shown(folder), one.line) for one in found if one.rule.id == rule})
