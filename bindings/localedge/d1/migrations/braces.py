"""Brace expansion: `{a,b}` and `{1..3}`, as Bash and wrangler expand them.

Source: wrangler 4.164 (brace-expansion 2.1.8 in its bundle), read 2026-12-01.
"""

from __future__ import annotations

import re
from itertools import islice, product
from typing import Final

_MOST: Final = 100_000
_NUMBERS: Final = re.compile(r"(-?[0-9]+)\.\.(-?[0-9]+)(?:\.\.(-?[0-9]+))?\Z")
_LETTERS: Final = re.compile(r"([a-zA-Z])\.\.([a-zA-Z])(?:\.\.(-?[0-9]+))?\Z")
_PADDED: Final = re.compile(r"-?0[0-9]")
_COMMA_SET_FOLLOWS: Final = re.compile(r",(?!,).*\}")
_CLOSED: Final = "\0"
"""Stands for a `}` that closes nothing."""


def expand(pattern: str) -> list[str]:
    """The patterns that `pattern` stands for; itself when it has no braces to expand.

    Shape: never more than 100,000. A text such as `{a}` or `${a,b}` stays as it is.
    """
    if "{" not in pattern or "}" not in pattern:
        return [pattern]
    # Bash leaves a leading {} alone, and only there.
    leading = "{}" if pattern.startswith("{}") else ""
    expanded = _expand(pattern[len(leading) :], is_top=not leading)
    return [leading + text.replace(_CLOSED, "}") for text in expanded]


def _expand(text: str, *, is_top: bool = False) -> list[str]:
    group = _first_group(text)
    if group is None:
        return [text]
    start, end = group
    before, body, after = text[:start], text[start + 1 : end], text[end + 1 :]
    if before.endswith("$"):
        return [f"{before}{{{body}}}{rest}" for rest in _expand(after)]
    values = _sequence(body)
    if values is None and "," not in body:
        if _COMMA_SET_FOLLOWS.search(after):
            return _expand(f"{before}{{{body}{_CLOSED}{after}", is_top=True)
        return [text]
    drops_empty = is_top and values is None
    if values is None:
        values = _members(body)
    combined = (before + value + rest for value, rest in product(values, _expand(after)))
    return list(islice((text for text in combined if text or not drops_empty), _MOST))


def _first_group(text: str) -> tuple[int, int] | None:
    """Where the first `{` that is closed stands, and its `}`."""
    for start in (at for at, char in enumerate(text) if char == "{"):
        depth = 0
        for end in range(start, len(text)):
            depth += (text[end] == "{") - (text[end] == "}")
            if depth == 0:
                return start, end
    return None


def _members(body: str) -> list[str]:
    """What the parts between the commas of a group's `body` expand to."""
    parts = _comma_parts(body)
    if len(parts) == 1:
        return [f"{{{inner}}}" for inner in _expand(parts[0])]
    return [text for part in parts for text in _expand(part)]


def _comma_parts(body: str) -> list[str]:
    parts = [""]
    depth = 0
    for char in body:
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _sequence(body: str) -> list[str] | None:
    """The values of `1..3` or `a..e..2`, else None."""
    letters = _LETTERS.match(body)
    found = letters or _NUMBERS.match(body)
    if found is None:
        return None
    first, last, step = found.groups()
    low, high = (ord(first), ord(last)) if letters else (int(first), int(last))
    stride = max(abs(int(step)), 1) if step else 1
    numbers = range(low, high + 1, stride) if low <= high else range(low, high - 1, -stride)
    if letters:
        return [chr(number) for number in numbers]
    is_padded = any(_PADDED.match(part) for part in body.split(".."))
    width = max(len(first), len(last)) if is_padded else 0
    return [f"{number:0{width}d}" if width else str(number) for number in numbers[:_MOST]]
