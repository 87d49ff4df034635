"""The files of a bundle that go to the edge, and what must not be among them."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from localedge.errors import OperatorError
from localedge.project.search import OWN_NAME, WRANGLER_NAMES

MAX_BYTES: Final = 64 * 1024 * 1024
"""Of a worker, uncompressed. Source: reference/python-workers.md section 4 (Limits), read
2026-12-01."""
FREE_BYTES: Final = 3_000_000
"""Of a worker on the free plan, compressed. Source: as above."""
_SHORTEST_SECRET: Final = 8
"""A shorter text occurs by chance."""
_TOOLS: Final = {"__pycache__", "node_modules", "python_modules"}
# What lies beside a worker whose `main` is at the top of its project.
_OF_THE_PROJECT: Final = {
    *(OWN_NAME, *WRANGLER_NAMES),
    *("pyproject.toml", "uv.lock", "pylock.toml", "requirements.txt", "package.json"),
    *("package-lock.json", "conftest.py", "tests"),
}


def files_below(folder: Path, is_left_out: Callable[[Path], bool]) -> Iterator[Path]:
    """Each file below `folder`, in order, links followed.

    Shape: hidden ones, those of tools, and what `is_left_out` are not among them.
    """
    seen: set[Path] = set()
    for found, folders, names in os.walk(folder, followlinks=True):
        here = Path(found)
        if here.resolve() in seen:  # a link to where we came from
            folders.clear()
            continue
        seen.add(here.resolve())
        folders[:] = sorted(
            name for name in folders if not (_is_of_tools(here / name) or is_left_out(here / name))
        )
        for name in sorted(names):
            if not (_is_of_tools(here / name) or is_left_out(here / name)):
                yield here / name


def is_of_the_project(path: Path, root: Path) -> bool:
    """Whether `path` is a file at the top of a project that says how it is built and tested."""
    return path.parent == root and path.name in _OF_THE_PROJECT


def _is_of_tools(path: Path) -> bool:
    name = path.name
    return (
        name.startswith(".")
        or name in _TOOLS
        or name.endswith((".pyc", ".egg-info"))
        or (path / "pyvenv.cfg").is_file()
    )


def refuse_too_large(files: Mapping[str, bytes]) -> None:
    """Errors: OperatorError when the edge would not take a worker of these files."""
    total = sum(map(len, files.values()))
    if total <= MAX_BYTES:
        return
    largest = sorted(files, key=lambda name: -len(files[name]))[:3]
    shown = ", ".join(f"{name} ({len(files[name]) / 1024**2:.1f} MiB)" for name in largest)
    raise OperatorError(
        "export/too-large",
        f"The bundle has {total / 1024**2:.1f} MiB; the edge takes {MAX_BYTES // 1024**2} MiB. "
        f"Its largest files: {shown}.",
        "Move data to KV or static assets, and what no module needs out of the bundle.",
    )


def compressed_bytes(files: Mapping[str, bytes]) -> int:
    """What `files` come to when they are compressed, one after the other."""
    return sum(len(zlib.compress(content, 6)) for content in files.values())


def refuse_secrets(files: Mapping[str, bytes], secrets: Mapping[str, str]) -> None:
    """Errors: OperatorError when a file holds the value of a secret."""
    for name, value in secrets.items():
        if len(value) < _SHORTEST_SECRET:
            continue
        found = next((file for file, text in files.items() if value.encode() in text), None)
        if found is not None:
            raise OperatorError(
                "export/secret",
                f"{found} holds the value of the secret {name}, which would be uploaded with it.",
                f"Read it from self.env.{name} instead.",
            )
