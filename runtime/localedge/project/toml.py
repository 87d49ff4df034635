"""TOML as wrangler reads it: its values, its refusals, and where each key stands."""

from __future__ import annotations

import datetime
import re
import tomllib
from typing import Any

from localedge.project.document import Json, Keys, TomlDate, number, ordered
from localedge.project.toml11 import as_toml_1_0

_MAX_SAFE = 2**53 - 1
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")
_TABLE = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?\Z")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")

_BAD_KEY = "only letter, numbers, dashes and underscores are allowed in keys"
_NO_END_OF_KEY = "incomplete key-value: cannot find end of key"
_NO_VALUE = "incomplete key-value declaration: no value specified"
_NO_END_OF_LINE = "each key-value declaration must be followed by an end-of-line"
_LEADING_ZERO = "leading zeroes are not allowed"

# What wrangler's reader says where Python's says otherwise.
# Source: smol-toml src/struct.ts, extract.ts, parse.ts, read 2026-12-01.
_PHRASES = (
    (r"Invalid date or datetime", "invalid value"),
    (r"Cannot|already", "trying to redefine an already defined table or value"),
    (r"Invalid initial character for a key part|Invalid statement", _BAD_KEY),
    (r"Unterminated string|Expected .*\"\"\"", "unfinished string"),
    (r"Illegal character.*comment", "control characters are not allowed in comments"),
    (r"Illegal character", "control characters are not allowed in strings"),
    (r"Unescaped", "unrecognized escape sequence"),
    (r"hex value", "invalid non-hex character in unicode escape"),
    (r"not a Unicode scalar", "invalid unicode escape"),
    (r"Unclosed array", "unfinished array encountered"),
    (r"Unclosed inline table", "unfinished table encountered"),
    (r"Expected '\]' at the end of a table|Expected '\]\]'", "expected end of table declaration"),
)


class TomlError(ValueError):
    """The first mistake in a text, and its line and column, from 1."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def _loads(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        older = as_toml_1_0(text)
        if older == text:
            raise
        try:
            return tomllib.loads(older)
        except tomllib.TOMLDecodeError:
            # The mistake is another one: its place is that of the text itself.
            pass
        raise


def parse(text: str) -> tuple[dict[str, Json], dict[Keys, int]]:
    """Return the value of `text` and the line of each of its keys.

    Errors: TomlError, also for an integer that a Number cannot hold.
    """
    try:
        value = _loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise _error(str(exc), text) from exc
    lines = _lines(text)
    return _table(value, (), lines), lines


def _error(message: str, text: str) -> TomlError:
    place = _PLACE.search(message)
    said = message[: place.start()] if place else message
    line, column = place.groups() if place else (None, None)
    row = text.split("\n")[int(line) - 1] if line else text.rstrip("\n").rpartition("\n")[2]
    phrase = _phrase(said, row, has_more_keys="=" in text.rpartition(row)[2])
    return TomlError(
        f"Invalid TOML document: {phrase}" + ("" if phrase == said else f" ({said})"),
        int(line) if line else None,
        int(column) if column else None,
    )


def _phrase(said: str, row: str, *, has_more_keys: bool) -> str:
    """What wrangler's reader says of `row` where Python's says `said`."""
    if said.startswith("Expected '=' after a key"):
        return _BAD_KEY if has_more_keys or "=" in row else _NO_END_OF_KEY
    if said.startswith(("Invalid value", "Expected newline or end of document")):
        value = row.partition("=")[2].strip()
        if not value or value.startswith("#"):
            return _NO_VALUE
        if re.match(r"[+-]?0[0-9_]+(?![-:])", value):
            return _LEADING_ZERO
        return _NO_END_OF_LINE if value[0] in "\"'[{" else "invalid value"
    return next((ours for pattern, ours in _PHRASES if re.search(pattern, said)), said)


def _table(table: dict[str, Any], keys: Keys, lines: dict[Keys, int]) -> dict[str, Json]:
    return ordered({name: _value(item, (*keys, name), lines) for name, item in table.items()})


def _value(value: Any, keys: Keys, lines: dict[Keys, int]) -> Json:
    match value:
        case bool() | str():
            return value
        case int() if abs(value) > _MAX_SAFE:
            raise TomlError(
                "Invalid TOML document: integer value cannot be represented losslessly",
                lines.get(keys),
            )
        case int() | float():
            return number(value)
        case list():
            return [_value(item, (*keys, index), lines) for index, item in enumerate(value)]
        case dict():
            return _table(value, keys, lines)
        case datetime.datetime() | datetime.date() | datetime.time():
            return TomlDate(value.isoformat())
    raise AssertionError(f"TOML has no {type(value)}")


def _lines(text: str) -> dict[Keys, int]:
    """The line of each key that stands at the beginning of one; enough to point at a mistake."""
    lines: dict[Keys, int] = {}
    table: Keys = ()
    counts: dict[Keys, int] = {}
    for number_of_line, line in enumerate(text.split("\n"), 1):
        if header := _TABLE.match(line):
            table = _names(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                lines.setdefault(table, number_of_line)
                table = (*table, counts[table])
            else:
                table = _inside_last(table, counts)
            lines.setdefault(table, number_of_line)
        elif key := _KEY.match(line):
            names = _names(key[1])
            for end in range(1, len(names) + 1):
                lines.setdefault((*table, *names[:end]), number_of_line)
    return lines


def _inside_last(table: Keys, counts: dict[Keys, int]) -> Keys:
    """`table` with the index of the last item of each array of tables on its way."""
    way: Keys = ()
    for name in table:
        way = (*way, name)
        if way in counts:
            way = (*way, counts[way])
    return way


def _names(key: str) -> Keys:
    try:
        value: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return (key,)
    names: Keys = ()
    while isinstance(value, dict):
        ((name, value),) = value.items()
        names = (*names, name)
    return names
