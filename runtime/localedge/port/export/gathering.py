"""The files of an export: bundles, static files, migrations, and edgestate where it is wanted."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from localedge.errors import OperatorError
from localedge.port.export import bundle, config, packages
from localedge.port.vendor import PACKAGE, copy_package, missing_migrations
from localedge.project.models import Project
from localedge.project.own_files import is_export, is_session


@dataclass(frozen=True, slots=True)
class Library:
    """The edgestate that an export gets when its worker imports it and does not bring it."""

    folder: Path
    version: str


@dataclass
class Files:
    """What will be written: contents by path in the export, and what to tell."""

    contents: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def gather(project: Project, exported: config.Exported) -> Files:
    """Bundles, static files and migrations."""
    files = Files()
    sessions: set[Path] = set()
    placed = {*exported.bundles, *exported.assets}
    placed |= {Path(os.path.abspath(folder.path)) for folder, _ in exported.migrations}

    def is_left_out(path: Path) -> bool:
        at_top = project.root in exported.bundles
        is_other = at_top and path in placed and path != project.root
        return is_other or bundle.is_of_the_project(path, project.root) or is_own(path)

    def is_own(path: Path) -> bool:
        if is_session(path):
            sessions.add(path)
        return path in sessions or is_export(path)

    for source, place in exported.bundles.items():
        found = {
            f"{place}/{path.relative_to(source).as_posix()}": _content(path)
            for path in bundle.files_below(source, is_left_out)
        }
        bundle.refuse_too_large(found)
        files.contents |= found
    for source, place in exported.assets.items():
        for path in bundle.files_below(source, is_own):
            files.contents[f"{place}/{path.relative_to(source).as_posix()}"] = _content(path)
    for migrations, place in exported.migrations:
        for name in migrations.names() if migrations.path.is_dir() else ():
            files.contents[f"{place}/{name}"] = _content(migrations.path / name)
    files.notes += [
        f"Left out {path.name}, a recorded session: it has cookies and tokens in it."
        for path in sorted(sessions)
    ]
    return files


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise OperatorError(
            "export/cannot-read",
            f"{path}: {error.strerror}.",
            "Make it readable, or take it out of the folder. Nothing was written.",
        ) from error


def bring_library(staged: Path, exported: config.Exported, library: Library, files: Files) -> None:
    """A worker that imports edgestate without bringing it gets it.

    Errors: OperatorError when the tables that it needs are in no migration of the project: their
    numbers must stay, so they have to be chosen there.
    """
    for place in exported.bundles.values():
        here = staged / place
        if PACKAGE not in packages.imported(here.rglob("*.py"), here):
            continue
        names = [name for name in files.contents if name.endswith(".sql")]
        if exported.migrations and missing_migrations(library.folder, names):
            raise OperatorError(
                "export/no-tables",
                f"The worker imports {PACKAGE}, and no migration makes the tables that it needs.",
                "Bring both into the project first: localedge agent vendor",
            )
        copied = copy_package(library.folder, here, version=library.version)
        for path in copied.rglob("*"):
            if path.is_file():
                files.contents[path.relative_to(staged).as_posix()] = path.read_bytes()
        files.notes.append(f"Copied {PACKAGE} into {place}, as the worker imports it.")
