"""SQL's own clock while the worker's is moved: 'now' and CURRENT_TIMESTAMP follow it.

The machine's SQLite reads the machine's clock. Once the two differ, its clock functions are
replaced by ones that put the worker's time in the place of 'now' and leave the rest to SQLite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from localedge import clock
from localedge.d1.connection import Connection
from localedge.d1.engine import Value
from localedge.d1.functions import VARIADIC, Evaluate, Function, make_timediff
from localedge.d1.program import Program

TOLERANCE_S: Final = 1.0
"""Clocks that differ by less are the same: calls wait in a queue before they run."""
REAL_NOW: Final = "(julianday('now') - 2440587.5) * 86400.0"
"""The machine's time in seconds since the epoch."""


class ClockWatch:
    """Knows on the event loop whether the worker's clock is moved.

    The loop's own timer is monotonic and never moved; the machine's clock keeps a constant
    distance from it. The machine's clock itself cannot be asked: in an isolate every way of
    Python to read it is moved.
    """

    def __init__(self, real_s: float, loop_s: float) -> None:
        self._distance_s = real_s - loop_s

    def moved_now(self, loop_s: float) -> float | None:
        """The worker's time in seconds since the epoch when it is moved, else None."""
        now_s = clock.now()
        is_moved = abs(now_s - loop_s - self._distance_s) > TOLERANCE_S
        return now_s if is_moved else None

    def learn(self, *, now_s: float, real_s: float, loop_s: float) -> None:
        """Take note that the machine's clock was `real_s` when the worker's was `now_s`.

        If they agree, it is the machine's clock that has been set, or the machine has slept.
        """
        if abs(now_s - real_s) <= TOLERANCE_S:
            self._distance_s = real_s - loop_s


class Override(NamedTuple):
    """A clock function to register when the clock is moved."""

    name: str
    arity: int
    function: Function


def moment_text(now_s: float) -> str:
    """`now_s` as SQLite reads a time, to the millisecond."""
    moment = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=int(now_s * 1000))
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"


_NOW_WORDS: Final = ("now", "subsec", "subsecond")
_KEYWORDS: Final = {
    "current_timestamp": "datetime",
    "current_date": "date",
    "current_time": "time",
}
# Each function with the place of its time among the arguments.
_PLACES: Final = {
    "date": 0,
    "time": 0,
    "datetime": 0,
    "julianday": 0,
    "unixepoch": 0,
    "strftime": 1,
}


def overrides(evaluate: Evaluate, now: Callable[[], str]) -> Iterator[Override]:
    """The clock functions with `now()` in the place of the machine's time."""
    for keyword, name in _KEYWORDS.items():
        yield Override(keyword, 0, _keyword(evaluate, now, name))
    for name, place in _PLACES.items():
        yield Override(name, VARIADIC, _function(evaluate, now, name, place))
    timediff = make_timediff(evaluate)
    yield Override(
        "timediff",
        2,
        lambda later, earlier: timediff(
            *at_moment((later,), now(), 0)[:1], *at_moment((earlier,), now(), 0)[:1]
        ),
    )


def _keyword(evaluate: Evaluate, now: Callable[[], str], name: str) -> Function:
    return lambda: evaluate(f"{name}(?)", (now(),))


def _function(evaluate: Evaluate, now: Callable[[], str], name: str, place: int) -> Function:
    def call(*values: Value) -> Value:
        if len(values) < place:
            return None
        given = at_moment(values, now(), place)
        return evaluate(f"{name}({','.join('?' * len(given))})", given)

    return call


def at_moment(values: tuple[Value, ...], moment: str, place: int) -> tuple[Value, ...]:
    """`values` with `moment` where they say 'now', or say nothing, at `place`."""
    if len(values) == place:
        return (*values, moment)
    value = values[place]
    word = value.lower() if isinstance(value, str) else ""
    if word not in _NOW_WORDS:
        return values
    kept = () if word == "now" else (value,)
    return (*values[:place], moment, *kept, *values[place + 1 :])


class SqlClock:
    """Keeps the clock functions of `connection` with the worker's time, program by program.

    They are replaced when the clock is first moved, and stay so: Python's driver does not take
    a function off again. Afterwards 'now' is the machine's time while the clock is not moved.
    """

    def __init__(self, connection: Connection, evaluate: Evaluate) -> None:
        self._connection = connection
        self._evaluate = evaluate
        self._has_replaced = False
        self._now_s: float | None = None

    def follow(self, program: Program) -> None:
        """SQL's clock is `program`'s from now on. Fills in its `real_s` if it has a `now_s`."""
        if program.now_s is None:
            self._now_s = None
            return
        program.real_s = float(str(self._evaluate(REAL_NOW, ())))
        if abs(program.now_s - program.real_s) <= TOLERANCE_S:
            self._now_s = None
            return
        self.show(program.now_s)

    def show(self, now_s: float) -> None:
        """SQL's clock shows `now_s` (seconds since the epoch), whatever the machine's does."""
        self._now_s = now_s
        if not self._has_replaced:
            self._has_replaced = True
            for name, arity, function in overrides(self._evaluate, self._moment):
                self._connection.create_function(name, arity, function, deterministic=True)

    def _moment(self) -> str:
        return "now" if self._now_s is None else moment_text(self._now_s)
