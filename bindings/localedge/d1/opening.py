"""What to tell the operator when a database cannot be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from localedge.errors import Exit, OperatorError

# Primary result codes of SQLite. Source: https://sqlite.org/rescode.html, read 2026-12-01.
_KINDS: Final = {5: "locked", 8: "read-only", 11: "corrupt", 13: "disk-full", 26: "not-a-database"}
_HINTS: Final = {
    "locked": "Another program has locked it: end that program and try again.",
    "read-only": "Make the file and its folder writable.",
    "corrupt": "Move the file away, or put a copy of it back.",
    "disk-full": "Free some space on its disk.",
    "not-a-database": "Move the file away, or give the database another id.",
    "cannot-open": "Look at the file, its folder and its disk.",
}


def cannot_open(path: Path, kind: str, text: str) -> OperatorError:
    """The error "d1/<kind>" for the database at `path`, with what to do about it."""
    return OperatorError(f"d1/{kind}", f"{path}: {text}.", _HINTS[kind], exit=Exit.UNREACHABLE)


def opening_error(path: Path, exc: Exception) -> OperatorError:
    """What `exc`, an error of the driver or of the system, means for the database at `path`."""
    if isinstance(exc, OperatorError):
        return exc
    code = getattr(exc, "sqlite_errorcode", 0) & 0xFF
    return cannot_open(path, _KINDS.get(code, "cannot-open"), str(exc))
