"""The time, read through the `time` module so that a moved clock moves it too."""

from __future__ import annotations

import time
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

AHEAD_S: Final = ContextVar("edgestate_clock_ahead_s", default=0.0)
"""Set by a process that has workers but is none: how far their time is ahead of its own."""


def now() -> float:
    """Seconds since the epoch."""
    return time.time() + AHEAD_S.get()


def now_ms() -> int:
    """Whole milliseconds since the epoch: the unit of expiry columns."""
    return int(now() * 1000)


def iso(seconds: float | None = None) -> str:
    """A moment (now, if none is given) as JavaScript's `toISOString` writes it."""
    whole, milliseconds = divmod(int((now() if seconds is None else seconds) * 1000), 1000)
    return f"{_second(whole)}.{milliseconds:03d}Z"


@lru_cache(maxsize=16)
def _second(seconds: int) -> str:
    """A whole second without its zone; most that is asked for is the present one."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")[:-6]


def parse(text: str) -> float | None:
    """The moment that an ISO text names, in seconds since the epoch; None if it names none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
