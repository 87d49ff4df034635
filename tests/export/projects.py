"""Small projects that are exported."""

from __future__ import annotations

from pathlib import Path

import pytest

from localedge.cli.main import main

ENTRY = """\
from greeting import greet
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(greet("Ada"))
"""
CONFIG = """\
name = "notes"
main = "src/entry.py"
compatibility_date = "2026-11-01"
compatibility_flags = ["python_workers"]

[vars]
GREETING = "hello"

[[kv_namespaces]]
binding = "CACHE"
id = "cache"

[[d1_databases]]
binding = "DB"
database_name = "notes"
database_id = "notes"
migrations_dir = "migrations"

[localedge]
isolates = 3
"""
MIGRATION = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL);\n"
FILES = {
    "wrangler_like.toml": CONFIG,
    "src/entry.py": ENTRY,
    "src/greeting.py": "def greet(name):\n    return name\n",
    "migrations/0001_create_notes.sql": MIGRATION,
}


def write(folder: Path, files: dict[str, str]) -> Path:
    """`folder` has `files`, by relative path."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def run(*arguments: str) -> int:
    """The exit code of `localedge export` with `arguments`."""
    with pytest.raises(SystemExit) as caught:
        main(["export", *arguments])
    assert isinstance(caught.value.code, int)
    return caught.value.code
