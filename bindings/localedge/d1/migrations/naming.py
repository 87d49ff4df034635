"""The names of migrations: their order, and the next one.

Source: reference/kv-d1-contract.md section 3 and recorded answers of wrangler 4.164, read
2026-12-01.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from localedge.coercion import js_number_text

# JavaScript's parseInt: leading white space (a name has none of the odd kinds), sign, digits.
_LEADING_INTEGER = re.compile(r"\s*([+-]?[0-9]+)")
_SegmentKey = tuple[bool, float, bytes]


def leading_number(segment: str) -> float | None:
    """The number that a name, or one segment of a path, begins with.

    Shape: a double, as in wrangler: digits beyond 2^53 round, and too many are no number.
    """
    found = _LEADING_INTEGER.match(segment.partition("_")[0])
    if found is None:
        return None
    number = float(found[1])
    return number if math.isfinite(number) else None


def order_key(path: str) -> tuple[_SegmentKey, ...]:
    """Sorts migrations into the order in which they are applied.

    Segment by segment: by leading number, numbered before unnumbered, then by text (UTF-16
    units, as JavaScript compares).
    """
    return tuple(_segment_key(segment) for segment in path.split("/"))


def _segment_key(segment: str) -> _SegmentKey:
    number = leading_number(segment)
    text = segment.encode("utf-16-be", "surrogatepass")
    return (number is None, number or 0.0, text)


def next_number(names: Iterable[str]) -> str:
    """The number of a new migration beside `names`: one above the highest, at least 4 digits."""
    numbers = (leading_number(name.partition("/")[0]) for name in names)
    highest = max((number for number in numbers if number is not None), default=0.0)
    return js_number_text(max(highest, 0.0) + 1).rjust(4, "0")


def file_name(number: str, message: str) -> str:
    """The file of a migration with `message`, blanks as `_`."""
    return f"{number}_{message.replace(' ', '_')}.sql"
