"""What localedge itself writes into a project's folder, and what is no part of the worker."""

from __future__ import annotations

from pathlib import Path
from typing import Final

EXPORT_RECORD: Final = ".localedge-export.json"
"""Lies in a folder that `localedge export` has made; names its files."""
SESSION_MARK: Final = b'{"localedge":"session"'
"""How a file begins that `localedge dev --record` has written."""


def is_export(path: Path) -> bool:
    """Whether `path` is a folder that `localedge export` has made."""
    return (path / EXPORT_RECORD).is_file()


def is_session(path: Path) -> bool:
    """Whether `path` is a recorded session: cookies and tokens are in it."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(SESSION_MARK)) == SESSION_MARK
    except OSError:
        return False
