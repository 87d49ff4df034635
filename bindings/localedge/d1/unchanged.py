"""Whether a database has been written to, told from its files without opening one.

Opening is not only dear: to close a file takes all locks off it that the process has there, those
of SQLite too, and a database in use is damaged without them.
Source: www.sqlite.org/howtocorrupt.html section 2.2, read 2026-12-01.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

_RECENT_NS: Final = 100_000_000
"""Two writes within one tick of the file system's clock leave one time."""
# What may differ in the header of two files with the same content: change counter, schema cookie,
# version-valid-for and the library's number.
# Source: www.sqlite.org/fileformat2.html section 1.3, read 2026-12-01.
_MASKED: Final = (slice(24, 28), slice(40, 44), slice(92, 100))
_HEADER_BYTES: Final = 100
_PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Marker:
    """Sizes and times of the files of a database, which every commit changes."""

    text: str
    newest_ns: int

    def is_settled(self, now_ns: int) -> bool:
        """Whether the next commit changes it for certain, at `now_ns` of the file system."""
        return now_ns - self.newest_ns > _RECENT_NS


def marker_of(database: Path) -> Marker:
    """The marker of the database in that file, which has to exist."""
    parts, newest_ns = [], 0
    for file in (database, database.with_name(f"{database.name}-wal")):
        try:
            about = file.stat()
        except FileNotFoundError:
            if file == database:
                raise
            continue
        parts.append(f"{about.st_size}-{about.st_mtime_ns}")
        newest_ns = max(newest_ns, about.st_mtime_ns)
    return Marker(" ".join(parts), newest_ns)


def is_same(one: Path, other: Path) -> bool:
    """Whether two copies have the same content, whatever their headers count."""
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as first, other.open("rb") as second:
        if _masked(first.read(_HEADER_BYTES)) != _masked(second.read(_HEADER_BYTES)):
            return False
        while piece := first.read(_PIECE_BYTES):
            if piece != second.read(_PIECE_BYTES):
                return False
    return True


def _masked(header: bytes) -> bytes:
    masked = bytearray(header)
    for field in _MASKED:
        masked[field] = bytes(field.stop - field.start)
    return bytes(masked)
