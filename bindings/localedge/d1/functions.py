"""Functions that D1's SQLite has and an older one on this machine lacks.

Source: https://sqlite.org/lang_corefunc.html, lang_aggfunc.html, lang_datefunc.html and
json1.html, read 2026-12-01. A test compares each with the real one where the machine has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from localedge.d1 import rules
from localedge.d1.connection import Connection
from localedge.d1.engine import Value
from localedge.d1.jsonb import encode

Evaluate: TypeAlias = Callable[[str, tuple[Value, ...]], Value]
"""Runs one SQL expression on a connection without rules."""
Function: TypeAlias = Callable[..., Value]
VARIADIC: Final = -1
MAX_ARGUMENTS: Final = rules.LIMITS["FUNCTION_ARG"]


class SqlError(Exception):
    """A function refuses its arguments; the text is what the statement fails with."""


class Missing(NamedTuple):
    """A function that SQLite has since version `since`.

    Shape: `arities` are the numbers of arguments to register it for; `make` gives the function.
    """

    name: str
    since: tuple[int, int]
    arities: tuple[int, ...]
    make: Callable[[Evaluate], Function]


def _text(evaluate: Evaluate, value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(evaluate("CAST(? AS TEXT)", (value,)))


def _concat(evaluate: Evaluate) -> Function:
    def concat(*values: Value) -> Value:
        return "".join(_text(evaluate, value) for value in values if value is not None)

    return concat


def _concat_ws(evaluate: Evaluate) -> Function:
    def concat_ws(*values: Value) -> Value:
        separator, *parts = values
        if separator is None:
            return None
        glue = _text(evaluate, separator)
        return glue.join(_text(evaluate, part) for part in parts if part is not None)

    return concat_ws


def _octet_length(evaluate: Evaluate) -> Function:
    def octet_length(value: Value) -> Value:
        return None if value is None else evaluate("length(CAST(? AS BLOB))", (value,))

    return octet_length


def _unhex(evaluate: Evaluate) -> Function:
    def unhex(value: Value, ignored: Value = "") -> Value:
        if value is None or ignored is None:
            return None
        skip = _text(evaluate, ignored)
        digits = []
        for character in _text(evaluate, value):
            if character in _HEX_DIGITS:
                digits.append(character)
            elif character not in skip or len(digits) % 2:
                return None
        return None if len(digits) % 2 else bytes.fromhex("".join(digits))

    return unhex


_HEX_DIGITS: Final = frozenset("0123456789abcdefABCDEF")
_LEADING_NUMBER: Final = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _iif(_evaluate: Evaluate) -> Function:
    def iif(*values: Value) -> Value:
        pairs, otherwise = divmod(len(values), 2)
        for number in range(pairs):
            if _is_true(values[2 * number]):
                return values[2 * number + 1]
        return values[-1] if otherwise else None

    return iif


def _is_true(value: Value) -> bool:
    if isinstance(value, int | float):
        return value != 0
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    number = _LEADING_NUMBER.match(value) if value else None
    return number is not None and float(number.group()) != 0


def make_timediff(evaluate: Evaluate) -> Function:
    """`timediff(later, earlier)`: how far apart two times are, in years to milliseconds."""

    def timediff(later: Value, earlier: Value) -> Value:
        ends = []
        for moment in (later, earlier):
            text = evaluate("strftime('%Y %m %d %H %M %f', ?)", (moment,))
            if text is None:
                return None
            ends.append(_Moment.parse(str(text)))
        return _difference(*ends)

    return timediff


class _Moment(NamedTuple):
    year: int
    month: int
    day: int
    day_ms: int

    @classmethod
    def parse(cls, text: str) -> _Moment:
        year, month, day, hour, minute, second = text.split()
        day_ms = (int(hour) * 60 + int(minute)) * 60_000 + round(float(second) * 1000)
        return cls(int(year), int(month), int(day), day_ms)

    @property
    def epoch_ms(self) -> int:
        """Milliseconds on a line of days; a day past the month's end is one of the next month."""
        year, month = divmod(self.year * 12 + self.month - 1 - 2, 12)  # years begin in March
        days = year * 365 + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5
        return (days + self.day - 1) * 86_400_000 + self.day_ms

    def shifted(self, months: int) -> _Moment:
        year, month = divmod(self.year * 12 + self.month - 1 + months, 12)
        return self._replace(year=year, month=month + 1)


def _difference(later: _Moment, earlier: _Moment) -> str:
    """What to add to `earlier` to get `later`: whole months first, then days and time."""
    sign = 1 if later.epoch_ms >= earlier.epoch_ms else -1
    months = abs((later.year - earlier.year) * 12 + later.month - earlier.month)
    while (later.epoch_ms - earlier.shifted(sign * months).epoch_ms) * sign < 0:
        months -= 1
    rest_ms = abs(later.epoch_ms - earlier.shifted(sign * months).epoch_ms)
    days, day_ms = divmod(rest_ms, 86_400_000)
    minutes, minute_ms = divmod(day_ms, 60_000)
    return (
        f"{'+' if sign > 0 else '-'}{months // 12:04d}-{months % 12:02d}-{days:02d} "
        f"{minutes // 60:02d}:{minutes % 60:02d}:{minute_ms / 1000:06.3f}"
    )


def _jsonb(json_function: str) -> Callable[[Evaluate], Function]:
    def make(evaluate: Evaluate) -> Function:
        def jsonb(*values: Value) -> Value:
            places = ",".join("?" * len(values))
            text = evaluate(f"json({json_function}({places}))", values)
            return None if text is None else encode(str(text))

        return jsonb

    return make


def _jsonb_extract(evaluate: Evaluate) -> Function:
    def jsonb_extract(*values: Value) -> Value:
        places = ",".join("?" * len(values))
        found = evaluate(f"json_extract({places})", values)
        kind = evaluate("json_type(?, ?)", values[:2]) if len(values) == 2 else "array"
        return encode(str(found)) if kind in ("array", "object") and found is not None else found

    return jsonb_extract


class StringAgg:
    """`string_agg(X, separator)`: the texts of X in order; also over a window."""

    evaluate: Evaluate

    def __init__(self) -> None:
        self._parts: list[tuple[str, str]] = []

    def step(self, value: Value, separator: Value) -> None:
        """Add a row."""
        if value is not None:
            glue = "" if separator is None else _text(self.evaluate, separator)
            self._parts.append((glue, _text(self.evaluate, value)))

    def inverse(self, value: Value, _separator: Value) -> None:
        """Take the oldest row off the window."""
        if value is not None:
            del self._parts[0]

    def value(self) -> str | None:
        """The text of the rows in the window."""
        if not self._parts:
            return None
        (_, first), *others = self._parts
        return first + "".join(glue + text for glue, text in others)

    finalize = value


# Differs: literals, JSON5 and strftime's letters are those of the machine's SQLite.
MISSING: Final = (
    Missing("unhex", (3, 41), (1, 2), _unhex),
    Missing("octet_length", (3, 43), (1,), _octet_length),
    Missing("timediff", (3, 43), (2,), make_timediff),
    # One for each number: the engine itself then refuses the others, before it looks at values.
    Missing("concat", (3, 44), tuple(range(1, MAX_ARGUMENTS + 1)), _concat),
    Missing("concat_ws", (3, 44), tuple(range(2, MAX_ARGUMENTS + 1)), _concat_ws),
    Missing("jsonb", (3, 45), (1,), _jsonb("")),
    Missing("jsonb_extract", (3, 45), (VARIADIC,), _jsonb_extract),
    *(
        Missing(f"jsonb_{name}", (3, 45), (VARIADIC,), _jsonb(f"json_{name}"))
        for name in ("array", "insert", "object", "patch", "remove", "replace", "set")
    ),
    Missing("iif", (3, 48), (2, 4, 5, 6, 7, 8), _iif),
)
STRING_AGG_SINCE: Final = (3, 44)


def add_missing(
    connection: Connection,
    version: tuple[int, ...],
    evaluate: Evaluate,
    guarded: Callable[[Function], Function],
) -> None:
    """`connection` has the functions that D1 has and its engine of `version` lacks.

    Shape: `guarded` keeps the text of what a function raises, which the driver would hide.
    """
    for missing in MISSING:
        if missing.since > version:
            function = guarded(missing.make(evaluate))
            for arity in missing.arities:
                connection.create_function(missing.name, arity, function, deterministic=True)
    if version < STRING_AGG_SINCE:
        window = type("StringAgg", (StringAgg,), {"evaluate": evaluate})
        connection.create_window_function("string_agg", 2, window)
