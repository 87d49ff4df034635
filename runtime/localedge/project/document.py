"""A configuration file as read: values as JavaScript has them, and where each of them stands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from localedge.coercion import js_number_text

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Step: TypeAlias = "str | int"
Keys: TypeAlias = tuple[Step, ...]

_MAX_SAFE = 2**53 - 1
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f"} | {
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}


@dataclass(frozen=True, slots=True)
class Document:
    """The object at the top of a configuration file; `lines` says where a value's key stands."""

    file: Path
    value: Json
    lines: Mapping[Keys, int] = field(default_factory=dict)

    def line(self, keys: Keys) -> int | None:
        """The line, from 1, of the innermost part of `keys` that stands in the file."""
        while keys:
            if keys in self.lines:
                return self.lines[keys]
            keys = keys[:-1]
        return None


class TomlDate(dict[str, Json]):
    """A date or time of TOML: to JavaScript an object without members, in JSON its `text`."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


def number(value: float) -> int | float:
    """The Number `value` as worker code meets it: an int when it is a safe integer."""
    double = float(value)
    if math.isfinite(double) and double.is_integer() and abs(double) <= _MAX_SAFE:
        return int(double)
    return double


def ordered(members: dict[str, Json]) -> dict[str, Json]:
    """`members` in the order of a JavaScript object: array indices first, ascending."""
    indices = [name for name in members if is_index(name)]
    if not indices:
        return members
    first = {name: members[name] for name in sorted(indices, key=int)}
    return first | members


def is_index(name: str) -> bool:
    """Whether JavaScript takes the property `name` for an array index."""
    return (
        name.isascii()
        and name.isdigit()
        and (name == "0" or name[0] != "0")
        and int(name) < 2**32 - 1
    )


def type_of(value: Json) -> str:
    """`typeof value`."""
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
    return "object"


def members(value: Json) -> dict[str, Json]:
    """The own properties of `value`: what `Object.entries` gives."""
    match value:
        case dict():
            return value
        case list() | str():
            return {str(index): item for index, item in enumerate(value)}
    return {}


def stringify(value: Json) -> str:
    """`JSON.stringify(value)`.

    Source: ECMA-262 SerializeJSONProperty, read 2026-12-01.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return js_number_text(value) if math.isfinite(value) else "null"
        case str():
            return _quote(value)
        case list():
            return "[" + ",".join(stringify(item) for item in value) + "]"
        case TomlDate():
            return _quote(value.text)
    return "{" + ",".join(f"{_quote(name)}:{stringify(item)}" for name, item in value.items()) + "}"


def _quote(text: str) -> str:
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if character < " " or "\ud800" <= character <= "\udfff":
        return f"\\u{ord(character):04x}"
    return character
