"""Where a worker's packages come from: our own environment, else the project's `.venv`."""

from __future__ import annotations

import re
import site
import sys
from pathlib import Path
from typing import Final

_VERSION: Final = re.compile(r"^version(?:_info)?\s*=\s*(\d+)\.(\d+)", re.MULTILINE)
_FOREIGN: Final = frozenset({".venv-workers", "python_modules"})
"""Folders of pywrangler: what lies there is for Emscripten, or for another interpreter."""


def add_packages(root: Path) -> None:
    """Packages of the project's `.venv` can be imported too, after our own; foreign ones never.

    Shape: a `.venv` of another Python version is left alone.
    """
    environment = root / ".venv"
    folder = _packages(environment)
    # Of the environment that runs us, everything is there already.
    if folder is not None and environment.resolve() != Path(sys.prefix).resolve():
        site.addsitedir(str(folder))
    sys.path[:] = [entry for entry in sys.path if _FOREIGN.isdisjoint(Path(entry).parts)]


def unused_packages(root: Path) -> str | None:
    """A sentence for people, when the project has a `.venv` that cannot be used."""
    version = _version(root / ".venv")
    if version is None or version == sys.version_info[:2]:
        return None
    return (
        f"the project's .venv is of Python {version[0]}.{version[1]}, and Python "
        f"{sys.version_info[0]}.{sys.version_info[1]} runs localedge: its packages are not used. "
        "Install localedge there, or the packages here."
    )


def _packages(environment: Path) -> Path | None:
    if _version(environment) != sys.version_info[:2]:
        return None
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    found = environment / "lib" / name / "site-packages"
    return found if found.is_dir() else None


def _version(environment: Path) -> tuple[int, int] | None:
    """The Python of a virtual environment; None when there is none, or none that can be read."""
    try:
        text = (environment / "pyvenv.cfg").read_text("utf-8", errors="replace")
    except OSError:
        return None
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2])) if found else None
