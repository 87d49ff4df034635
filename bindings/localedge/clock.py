"""What time it is for a worker, its bindings and its stored values.

Always read through the module (`clock.now()`), on the event loop's thread: a moved clock
(`time_machine` in an isolate, freezegun in a test) replaces the functions of `time`, and
freezegun leaves the database thread on real time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_AHEAD_S: Final = ContextVar("localedge_clock_ahead_s", default=0.0)


@contextmanager
def ahead(seconds: float) -> Iterator[None]:
    """Inside, it is `seconds` later than the machine's clock says, for this task only.

    For a process that has workers but is none: they may have another time than itself.
    """
    token = _AHEAD_S.set(seconds)
    try:
        yield
    finally:
        _AHEAD_S.reset(token)


def now() -> float:
    """The current time in seconds since the epoch."""
    return time.time() + _AHEAD_S.get()


def now_s() -> int:
    """The current whole second since the epoch: the unit of KV's expirations."""
    return int(now())


def now_ms() -> int:
    """The current millisecond since the epoch: the unit of JavaScript's dates."""
    return int(now() * 1000)
