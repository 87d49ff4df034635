"""Small projects on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from localedge.errors import Exit, OperatorError
from localedge.project import load
from localedge.project.models import Project

HEAD = 'name = "shop"\nmain = "entry.py"\ncompatibility_date = "2026-10-01"\n'
HEAD += 'compatibility_flags = ["python_workers"]\n'


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """`files`, and a worker `entry.py`, in `folder`."""
    for name, text in {"entry.py": "", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def toml(folder: Path, text: str, *, name: str = "wrangler_like.toml", head: str = HEAD) -> Path:
    """A project whose configuration is `head` and `text`."""
    return write(folder, {name: head + text})


def loaded(folder: Path, **options: Any) -> Project:
    """The project in `folder`."""
    return load(start=folder, **{"process_env": {}, **options})


def refused(folder: Path, **options: Any) -> OperatorError:
    """Why the project in `folder` is refused."""
    with pytest.raises(OperatorError) as caught:
        loaded(folder, **options)
    assert caught.value.exit is Exit.CONFIG
    return caught.value
