"""Cron expressions in the platform's form: days of the week are 1 (Sunday) to 7.

Source: kv-d1-contract section 4 ("triggers"), developers.cloudflare.com/workers/configuration/
cron-triggers, read 2026-12-01.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from typing import Final

from cronsim import CronSim, CronSimError

_DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_NEAREST: Final = re.compile(r"(\d{1,2})W", re.IGNORECASE)
_DAY_TERM: Final = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d+))?")
_MOST_STEPS: Final = 5000


class Schedule:
    """When one cron expression fires.

    Errors: ValueError that says what is wrong, for an expression that the platform refuses too.
    """

    def __init__(self, expression: str) -> None:
        self.expression = expression
        fields = expression.split()
        if len(fields) != 5:
            raise ValueError(f'"{expression}" has {len(fields)} fields; a cron has 5.')
        self._nearest = [int(n) for n in _NEAREST.findall(fields[2])]
        self._days = None if not self._nearest else _without_nearest(fields[2])
        if self._nearest:
            # cronsim does not know "15W": every day is tried, and the rest is decided here.
            fields[2] = "1-31"
        fields[4] = ",".join(_weekday(term, expression) for term in fields[4].split(","))
        self._form = " ".join(fields)
        self.next_after(datetime(2026, 1, 1, tzinfo=UTC).timestamp())

    def next_after(self, moment_s: float) -> float | None:
        """The next time after `moment_s` (both seconds since the epoch), None if it never comes."""
        start = datetime.fromtimestamp(int(moment_s), UTC)
        try:
            times = CronSim(self._form, start)
        except CronSimError as exc:
            raise ValueError(f'"{self.expression}" is no cron expression: {exc}.') from exc
        for _ in range(_MOST_STEPS):
            found = next(times, None)
            if found is None:
                return None
            if self._days is None or self._is_wanted(found):
                return found.timestamp()
        return None

    def _is_wanted(self, moment: datetime) -> bool:
        assert self._days is not None
        nearest = [_nearest_weekday(moment.year, moment.month, day) for day in self._nearest]
        return moment.day in nearest or moment.day in self._days


def _without_nearest(field: str) -> set[int]:
    """The plain days of a field that has terms like "15W" too."""
    return {int(term) for term in field.split(",") if term.isdecimal()}


def _nearest_weekday(year: int, month: int, day: int) -> int:
    """The day of the month, Monday to Friday, that is nearest to `day` and in the same month."""
    last = monthrange(year, month)[1]
    wanted = datetime(year, month, min(day, last), tzinfo=UTC)
    if wanted.weekday() == 5:
        return wanted.day - 1 if wanted.day > 1 else wanted.day + 2
    if wanted.weekday() == 6:
        return wanted.day + 1 if wanted.day < last else wanted.day - 2
    return (wanted + timedelta()).day


def _weekday(term: str, expression: str) -> str:
    """One term of the last field in cronsim's numbers, where Sunday is 0."""
    upper = term.upper()
    if upper == "L":
        return str(_number("SAT", expression))
    if upper.endswith("L"):
        return f"{_number(upper[:-1], expression)}L"
    if "#" in upper:
        day, _, nth = upper.partition("#")
        return f"{_number(day, expression)}#{nth}"
    matched = _DAY_TERM.fullmatch(upper)
    if matched is None:
        raise ValueError(f'"{expression}": "{term}" is no day of the week.')
    if upper == "*":
        return "*"
    step = int(matched["step"] or 1)
    if step == 0:
        raise ValueError(f'"{expression}": "{term}" never comes.')
    first = 0 if matched["first"] == "*" else _number(matched["first"], expression)
    last = 6 if matched["step"] or matched["first"] == "*" else first
    if matched["last"]:
        last = _number(matched["last"], expression)
    if last < first:
        raise ValueError(f'"{expression}": "{term}" runs backwards.')
    return ",".join(str(day) for day in range(first, last + 1, step))


def _number(day: str, expression: str) -> int:
    if day in _DAYS:
        return _DAYS.index(day)
    if day.isdecimal() and 1 <= int(day) <= 7:
        return int(day) - 1
    raise ValueError(f'"{expression}": "{day}" is no day of the week; they are 1 (Sunday) to 7.')
