"""The folder that an export is written to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from localedge.errors import Exit, OperatorError
from localedge.project.models import Project
from localedge.project.own_files import EXPORT_RECORD


def refuse_place(project: Project, folder: Path) -> None:
    """Errors: OperatorError when `folder` holds the project, or would be part of its worker."""
    here = folder.resolve()
    root, inner = project.root.resolve(), project.bundle.resolve()
    in_bundle = here.is_relative_to(inner) and inner != root
    if root.is_relative_to(here) or in_bundle:
        what = "the project's own folder" if here == root else "in the way of the project"
        raise OperatorError(
            "export/place",
            f"{folder} is {what}.",
            "Name a folder beside the worker, such as `localedge export edge`.",
            exit=Exit.USAGE,
        )
    if folder.exists() and not folder.is_dir():
        raise OperatorError(
            "export/place", f"{folder} is not a folder.", "Name another.", exit=Exit.USAGE
        )


def refuse_existing(folder: Path) -> None:
    """Errors: OperatorError when `folder` has something in it."""
    there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if there:
        shown = ", ".join(there[:3]) + (", …" if len(there) > 3 else "")
        raise OperatorError(
            "export/exists",
            f"{folder} is not empty: it has {shown}.",
            "Export there again with --force, which keeps ids and other files, or name another.",
        )


def write(folder: Path, contents: Mapping[str, bytes]) -> None:
    """`folder` has the files `contents`, those that were there replaced."""
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def recorded(folder: Path) -> tuple[str, ...]:
    """The files of the export that `folder` has; none when it has none."""
    try:
        files = json.loads((folder / EXPORT_RECORD).read_bytes())["files"]
    except (OSError, ValueError, LookupError, TypeError):
        return ()
    return tuple(name for name in files if isinstance(name, str))


def replace(folder: Path, contents: dict[str, bytes], *, was: tuple[str, ...]) -> tuple[str, ...]:
    """`folder` has `contents`, and nothing of what `was` there before; what was removed.

    Errors: OperatorError when something cannot be written.
    """
    is_new = not folder.exists()
    removed = []
    record = json.dumps({"files": sorted(contents)}, indent=1) + "\n"
    try:
        # First of all, so that a server that runs knows the others for what they are.
        write(folder, {EXPORT_RECORD: record.encode(), **contents})
        for name in sorted({*was} - contents.keys()):
            if (folder / name).is_file() and ".." not in Path(name).parts:
                (folder / name).unlink()
                removed.append(name)
    except OSError as error:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        said = "Nothing was made." if is_new else "The export there is not complete."
        place = f"{error.filename or folder}: {error.strerror}"
        raise OperatorError("export/cannot-write", place, said) from error
    return tuple(removed)
