"""Projects in the layout of the official template, written for one test."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

NEWEST = "2026-11-01"
FLAGS = ["python_workers"]
PYPROJECT = """
[project]
name = "tested"
version = "0.1.0"
requires-python = ">=3.12"
dependencies = []

[dependency-groups]
dev = ["workers-py", "workers-runtime-sdk"]
"""


def template(folder: Path, code: str, **config: Any) -> Path:
    """A project as `pywrangler init` makes one, its entry being `code`; `config` adds keys."""
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "entry.py").write_text(dedent(code), "utf-8")
    (folder / "pyproject.toml").write_text(PYPROJECT, "utf-8")
    settings = {
        "$schema": "node_modules/wrangler/config-schema.json",
        "name": "tested",
        "main": "src/entry.py",
        "compatibility_date": NEWEST,
        "compatibility_flags": FLAGS,
        "observability": {"enabled": True},
        **config,
    }
    (folder / "wrangler.jsonc").write_text(
        f"// made by a tool\n{json.dumps(settings, indent=2)}\n", "utf-8"
    )
    return folder


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    """The files of `files` lie in `folder`."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
