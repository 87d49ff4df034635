"""Makes a new project in a folder, without touching anything that is there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localedge.errors import OperatorError
from localedge.port import template
from localedge.project.compatibility import default_date
from localedge.project.search import OWN_NAME, WRANGLER_NAMES

_DEFAULT: Final = "worker"
_LONGEST_NAME: Final = 54
"""Of a worker on workers.dev. Source: developers.cloudflare.com/workers/configuration/routing/
workers-dev, read 2026-12-01."""


@dataclass(frozen=True, slots=True)
class Created:
    """A new project: its folder, its name, and its files relative to the folder."""

    folder: Path
    name: str
    files: tuple[str, ...]


def create(folder: Path) -> Created:
    """A new project lies in `folder`, which is made when it is absent.

    Errors: OperatorError when a file that it needs, or another configuration, is there already, or
    when it cannot be written; then nothing was changed.
    """
    name = project_name(folder)
    files = template.files(name, default_date())
    _refuse_existing(folder, files)
    made: list[Path] = []
    try:
        for path, text in files.items():
            file = folder / path
            made += _make_folders(file.parent)
            with file.open("x", encoding="utf-8", newline="\n") as out:
                made.append(file)
                out.write(text)
    except OSError as error:
        for entry in reversed(made):
            entry.rmdir() if entry.is_dir() else entry.unlink()
        raise OperatorError(
            "init/cannot-write", f"{error.filename}: {error.strerror}", "Nothing was made."
        ) from error
    return Created(folder, name, tuple(files))


def _make_folders(folder: Path) -> list[Path]:
    """The folders that had to be made so that `folder` exists, outermost first."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    missing.reverse()
    for one in missing:
        one.mkdir()
    return missing


def project_name(folder: Path) -> str:
    """A worker's name for a project in `folder`: lower case, digits and dashes."""
    words = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower())
    return words.strip("-")[:_LONGEST_NAME].strip("-") or _DEFAULT


def _refuse_existing(folder: Path, files: Mapping[str, str]) -> None:
    names = [*files, *(name for name in (OWN_NAME, *WRANGLER_NAMES) if name not in files)]
    found = [name for name in names if (folder / name).exists() or (folder / name).is_symlink()]
    if found:
        raise OperatorError(
            "init/exists",
            f"{folder} has already {', '.join(found)}.",
            "Nothing was changed: choose another folder.",
        )
