"""Makes a new project in a folder, without touching anything that is there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localedge.errors import OperatorError
from localedge.port import agent_template, template
from localedge.port.vendor import PACKAGE, copies, migrations
from localedge.project.compatibility import default_date
from localedge.project.search import OWN_NAME, WRANGLER_NAMES

_DEFAULT: Final = "worker"
_LONGEST_NAME: Final = 54
"""Of a worker on workers.dev. Source: developers.cloudflare.com/workers/configuration/routing/
workers-dev, read 2026-12-01."""


@dataclass(frozen=True, slots=True)
class Library:
    """The package edgestate that a new project gets a copy of, and the version of that copy."""

    source: Path
    version: str


@dataclass(frozen=True, slots=True)
class Created:
    """A new project: its folder, its name, and its files relative to the folder."""

    folder: Path
    name: str
    files: tuple[str, ...]


def create(folder: Path, *, library: Library | None = None) -> Created:
    """A new project lies in `folder`, which is made when it is absent.

    Shape: with `library` the worker is an agent with durable state, as `localedge agent vendor`
    would leave it.
    Errors: OperatorError when a file that it needs, or another configuration, is there already, or
    when it cannot be written; then nothing was changed.
    """
    name = project_name(folder)
    files = _contents(name, library)
    _refuse_existing(folder, files)
    made: list[Path] = []
    try:
        for path, content in files.items():
            file = folder / path
            made += _make_folders(file.parent)
            with file.open("xb") as out:
                made.append(file)
                out.write(content)
    except OSError as error:
        for entry in reversed(made):
            entry.rmdir() if entry.is_dir() else entry.unlink()
        raise OperatorError(
            "init/cannot-write", f"{error.filename}: {error.strerror}", "Nothing was made."
        ) from error
    return Created(folder, name, tuple(files))


def _contents(name: str, library: Library | None) -> dict[str, bytes]:
    kind = template if library is None else agent_template
    made = {path: text.encode() for path, text in kind.files(name, default_date()).items()}
    if library is not None:
        copied = copies(library.source, version=library.version)
        made |= {f"src/{PACKAGE}/{path}": content for path, content in copied.items()}
        made |= {f"migrations/{path}": sql for path, sql in migrations(library.source).items()}
    return made


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


def _refuse_existing(folder: Path, files: Mapping[str, bytes]) -> None:
    names = [*files, *(name for name in (OWN_NAME, *WRANGLER_NAMES) if name not in files)]
    found = [name for name in names if (folder / name).exists() or (folder / name).is_symlink()]
    if found:
        shown = ", ".join(found[:9]) + (", …" if len(found) > 9 else "")
        raise OperatorError(
            "init/exists",
            f"{folder} has already {shown}.",
            "Nothing was changed: choose another folder.",
        )
