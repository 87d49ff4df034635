"""What would be uploaded of a project: its bundle, and the packages beside it."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from localedge.errors import Exit, OperatorError
from localedge.port.verify.parts import cache_folder
from localedge.port.verify.wheels import packages_folder, silent
from localedge.project.models import Project
from localedge.project.own_files import is_export, is_session

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of all files, uncompressed. Source: kv-d1-contract section 5 (script size), read 2026-12-01."""
VENDORED: Final = "python_modules"
_LEFT_OUT: Final = frozenset({"__pycache__", "node_modules", VENDORED})


@dataclass(frozen=True, slots=True)
class Bundle:
    """A worker as the edge would get it.

    Shape: `folder` is a copy of its own files, `main` the name of its main module; `sites` are
    folders of packages, `packages` "name version" of each that was fetched.
    """

    folder: Path
    main: str
    sites: tuple[Path, ...]
    packages: tuple[str, ...]
    size_bytes: int


async def bundled(
    project: Project,
    requirements: Sequence[str] | None,
    copy: Path,
    say: Callable[[str], None] = silent,
) -> Bundle:
    """The bundle of `project`, its files copied to the new folder `copy`.

    Shape: `requirements` are the packages that the edge gets, None for what the project says;
    `say` gets a sentence before they are fetched.
    Errors: OperatorError when it is over the platform's size, or a package has no edge build.
    """
    assert project.main is not None
    own = _copy(project.bundle, copy)
    sites, packages = await _sites(project, requirements, say)
    size = own + sum(_size(site) for site in sites)
    if size > MOST_BYTES:
        raise OperatorError(
            "verify/bundle-too-large",
            f"the bundle has {size:,} bytes ({own:,} of the worker, {size - own:,} of packages); "
            f"the platform takes {MOST_BYTES:,}.",
            "Leave out what the worker does not need: everything in the folder of `main` counts.",
        )
    return Bundle(copy, project.main.stem, sites, packages, size)


async def _sites(
    project: Project, requirements: Sequence[str] | None, say: Callable[[str], None]
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    vendored = [one for one in (project.root / VENDORED, project.bundle / VENDORED) if _is_dir(one)]
    if vendored and requirements is None:
        return (vendored[0],), (f"those in {VENDORED}/",)
    wanted = required(project.root) if requirements is None else [*requirements]
    if not wanted:
        return (), ()
    site = await packages_folder(wanted, cache_folder(), say)
    return (site,), tuple(_names(site))


def required(root: Path) -> list[str]:
    """The packages that the project in `root` asks for on the edge.

    Shape: `edge-packages` of `[tool.localedge]` in pyproject.toml, else `[project].dependencies`.
    Errors: OperatorError (exit 3) when the file cannot be read.
    """
    file = root / "pyproject.toml"
    if not file.is_file():
        return []
    try:
        document = tomllib.loads(file.read_text("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        text = f"{file} cannot be read: {error}."
        hint = "Correct it, or name the packages with --package."
        raise OperatorError("verify/pyproject", text, hint, exit=Exit.CONFIG) from error
    own = _table(_table(document, "tool"), "localedge").get("edge-packages")
    found = _table(document, "project").get("dependencies", []) if own is None else own
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        text = f"the packages in {file} must be a list of texts."
        hint = 'For example: edge-packages = ["pydantic"].'
        raise OperatorError("verify/pyproject", text, hint, exit=Exit.CONFIG)
    # The SDK is there already, and pywrangler's own tools are for the machine.
    return [one for one in found if not one.startswith(("workers-py", "workers-runtime-sdk"))]


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key, {})
    return found if isinstance(found, dict) else {}


def _names(site: Path) -> Iterator[str]:
    for one in sorted(site.glob("*.dist-info")):
        name, _, version = one.name.removesuffix(".dist-info").partition("-")
        yield f"{name.replace('_', '-')} {version}"


def _copy(source: Path, target: Path) -> int:
    """The files of a bundle lie in `target`, which is new; their size in bytes."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        here = Path(folder)
        return {
            name
            for name in names
            if name in _LEFT_OUT
            or name.startswith(".")
            or is_export(here / name)
            or is_session(here / name)
        }

    shutil.copytree(source, target, ignore=left_out, symlinks=False, ignore_dangling_symlinks=True)
    return _size(target)


def _size(folder: Path) -> int:
    return sum(
        os.path.getsize(os.path.join(parent, name))
        for parent, _, names in os.walk(folder)
        for name in names
    )


def _is_dir(folder: Path) -> bool:
    return folder.is_dir()
