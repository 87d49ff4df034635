"""Rules on migrations and on SQL against the tables that they create."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source

FOREIGN_KEYS: Final = Rule(
    "migration-foreign-keys",
    "warning",
    "PRAGMA foreign_keys does nothing in a migration: D1 runs it inside a transaction.",
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
LONG: Final = Rule(
    "migration-length",
    "error",
    "a statement has {count} bytes; D1 takes 100,000.",
    "Split it into several statements.",
)
TEXT_NUMBER: Final = Rule(
    "number-in-text",
    "warning",
    "a number bound into the TEXT column {column} is stored as text such as 1.0.",
    "Bind str(value), or give the column another type.",
)

_CUT: Final = ("BEGIN TRANSACTION;", "COMMIT;")
_REFUSED: Final = re.compile(
    r"^\s*(BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b[^;]*;", re.IGNORECASE | re.MULTILINE
)
_TABLE: Final = re.compile(
    r"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"`\[]?(\w+)[\"`\]]?\s*\((.*?)\)\s*(?:STRICT|WITHOUT|;)",
    re.IGNORECASE | re.DOTALL,
)
_COLUMN: Final = re.compile(r"^\s*[\"`\[]?(\w+)[\"`\]]?\s+(\w+)", re.MULTILINE)
_INSERT: Final = re.compile(
    r"INSERT\s+(?:OR\s+\w+\s+)?INTO\s+[\"`\[]?(\w+)[\"`\]]?\s*\(([^)]*)\)\s*VALUES\s*\(([^)]*)\)",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_TRIGGER: Final = re.compile(r"CREATE\s+(?:TEMP\w*\s+)?TRIGGER.*?\bEND\s*;", re.I | re.DOTALL)


def check_migration(file: Path) -> Iterator[Finding]:
    """What one migration file would do otherwise, or not at all, on the edge."""
    text = file.read_text("utf-8", errors="replace")
    bare = _COMMENT.sub(_blank, text)
    for found in re.finditer(r"PRAGMA\s+foreign_keys\s*[=(]", bare, re.IGNORECASE):
        yield at(FOREIGN_KEYS, file, _line(text, found.start()))
    outside = _TRIGGER.sub(_blank, bare)
    for literal in _CUT:
        # wrangler cuts the first of each, in just this spelling.
        outside = outside.replace(literal, " " * len(literal), 1)
    for found in _REFUSED.finditer(outside):
        yield at(TRANSACTION, file, _line(text, found.start(1)), word=found[1].upper())
    if bare.strip() and not bare.strip().endswith(";"):
        yield at(NO_SEMICOLON, file, _line(text, len(bare.rstrip())))
    start = 0
    for statement in bare.split(";"):
        if (size := len(statement.encode())) > 100_000:
            yield at(LONG, file, _line(text, start), count=f"{size:,}")
        start += len(statement) + 1


def text_columns(migrations: list[Path]) -> frozenset[tuple[str, str]]:
    """(table, column) of every TEXT column that the migrations create, in lower case."""
    found: set[tuple[str, str]] = set()
    for file in migrations:
        text = _COMMENT.sub(" ", file.read_text("utf-8", errors="replace"))
        for table, columns in _TABLE.findall(text):
            for name, kind in _COLUMN.findall(columns.replace(",", "\n")):
                if kind.upper() == "TEXT":
                    found.add((table.lower(), name.lower()))
    return frozenset(found)


def check_statements(source: Source, columns: frozenset[tuple[str, str]]) -> Iterator[Finding]:
    """Numbers that `source` binds into columns of type TEXT."""
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(
                func=ast.Attribute(
                    attr="bind",
                    value=ast.Call(
                        func=ast.Attribute(attr="prepare"),
                        args=[ast.Constant(value=str(sql)), *_],
                    ),
                ),
                args=bound,
            ):
                for column, value in zip(_targets(sql, columns), bound, strict=False):
                    if column and _is_number(value):
                        place = (source.file, value.lineno, value.col_offset + 1)
                        yield at(TEXT_NUMBER, *place, column=column)


def _targets(sql: str, columns: frozenset[tuple[str, str]]) -> list[str | None]:
    """For each bound value of an INSERT, the TEXT column that it goes into."""
    found = _INSERT.search(sql)
    if found is None:
        return []
    table, names, values = found.groups()
    pairs = zip(names.split(","), values.split(","), strict=False)
    return [
        f"{table}.{name.strip()}" if (table.lower(), name.strip().lower()) in columns else None
        for name, value in pairs
        if value.strip() == "?"
    ]


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=bool() | int() | float()):
            return True
        case ast.Call(func=ast.Name(id="int" | "float" | "len" | "round")):
            return True
    return False


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
