"""Rules on migrations, as far as their text tells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from localedge.port.check.finding import Finding, Rule, at

FOREIGN_KEYS: Final = Rule(
    "migration-foreign-keys",
    "warning",
    "PRAGMA foreign_keys = {value} does nothing in a migration: D1 runs it inside a transaction.",
    "Use PRAGMA defer_foreign_keys = on.",
)
NO_SEMICOLON: Final = Rule(
    "migration-semicolon",
    "error",
    "the last statement has no semicolon; wrangler glues its own INSERT to it, which then fails.",
    "End the file with a semicolon.",
)
TRANSACTION: Final = Rule(
    "migration-transaction",
    "error",
    "{word} is refused by D1, which runs every migration as one transaction.",
    "Leave it out.",
)

# wrangler cuts the first of each, in just this spelling.
_CUT: Final = ("BEGIN TRANSACTION;", "COMMIT;")
_REFUSED: Final = re.compile(
    r"(?:^|;)\s*(BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b[^;]*;", re.IGNORECASE
)
_KEYS_OFF: Final = re.compile(
    r"PRAGMA\s+foreign_keys\s*(?:=\s*|\(\s*)['\"]?(off|false|no|0)\b", re.IGNORECASE
)
_TABLE: Final = re.compile(
    r"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"`\[]?(\w+)[\"`\]]?\s*\((.*?)\)\s*"
    r"(?:STRICT|WITHOUT|;|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_ADDED: Final = re.compile(
    r"ALTER\s+TABLE\s+[\"`\[]?(\w+)[\"`\]]?\s+ADD\s+(?:COLUMN\s+)?[\"`\[]?(\w+)[\"`\]]?\s+TEXT\b",
    re.IGNORECASE,
)
_COLUMN: Final = re.compile(r"^\s*[\"`\[]?(\w+)[\"`\]]?\s+(\w+)", re.MULTILINE)
_BLANKED: Final = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)
_TRIGGER: Final = re.compile(r"CREATE\s+(?:TEMP\w*\s+)?TRIGGER.*?\bEND\s*;", re.I | re.DOTALL)


def check_migration(file: Path) -> Iterator[Finding]:
    """What one migration file would do otherwise, or not at all, on the edge."""
    text = file.read_text("utf-8-sig", errors="replace")
    bare = _BLANKED.sub(_blank, text)
    uncommented = re.sub(r"--[^\n]*", _blank, text)
    for found in _KEYS_OFF.finditer(uncommented):
        yield at(FOREIGN_KEYS, file, _line(text, found.start()), value=found[1])
    outside = _TRIGGER.sub(_blank, bare)
    if _CUT[0] in outside:
        for literal in _CUT:
            outside = outside.replace(literal, " " * (len(literal) - 1) + ";", 1)
    for found in _REFUSED.finditer(outside):
        yield at(TRANSACTION, file, _line(text, found.start(1)), word=found[1].upper())
    commentless = re.sub(r"--[^\n]*|/\*.*?\*/", _blank, text, flags=re.DOTALL)
    if commentless.strip() and not commentless.rstrip().endswith(";"):
        yield at(NO_SEMICOLON, file, _line(text, len(commentless.rstrip())))


def text_columns(migrations: Sequence[Path]) -> frozenset[tuple[str, str]]:
    """(table, column) of every TEXT column that the migrations create, in lower case."""
    found: set[tuple[str, str]] = set()
    for file in migrations:
        text = re.sub(r"--[^\n]*", " ", file.read_text("utf-8-sig", errors="replace"))
        for table, columns in _TABLE.findall(text):
            for name, kind in _COLUMN.findall(columns.replace(",", "\n")):
                if kind.upper() == "TEXT":
                    found.add((table.lower(), name.lower()))
        found.update((table.lower(), name.lower()) for table, name in _ADDED.findall(text))
    return frozenset(found)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
