"""Whether a database has been written to, told from its files without opening it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

_INDEX_HEADER_BYTES: Final = 48
# What may differ in the header of two files with the same content: change counter, schema cookie,
# version-valid-for and the library's number.
# Source: www.sqlite.org/fileformat2.html section 1.3, read 2026-12-01.
_MASKED: Final = (slice(24, 28), slice(40, 44), slice(92, 100))
_HEADER_BYTES: Final = 100
_PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Marker:
    """What differs after every commit.

    Shape: `index` is the header of the WAL's index, which each commit changes; "" when nobody has
    the database open. `file` is size and time of the database's file.
    Source: www.sqlite.org/walformat.html section 2.1, read 2026-12-01.
    """

    index: str
    file: str

    def __str__(self) -> str:
        return f"{self.index} {self.file}"


def marker_of(database: Path) -> Marker:
    """The marker of the database in that file, which has to exist."""
    about = database.stat()
    try:
        with database.with_name(f"{database.name}-shm").open("rb") as index:
            header = index.read(_INDEX_HEADER_BYTES).hex()
    except FileNotFoundError:
        header = ""
    return Marker(header, f"{about.st_size}-{about.st_mtime_ns}")


def marker_from(text: str) -> Marker | None:
    """The marker whose text that is, None when it is none."""
    index, space, file = text.partition(" ")
    return Marker(index, file) if space else None


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
