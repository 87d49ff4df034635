"""What time it is for a worker, its bindings and its stored values.

Always read through the module (`clock.now()`), on the event loop's thread: a moved clock
(`time_machine` in an isolate, freezegun in a test) replaces the functions of `time`, and
freezegun leaves the database thread on real time.
"""

from __future__ import annotations

import time


def now() -> float:
    """The current time in seconds since the epoch."""
    return time.time()


def now_s() -> int:
    """The current whole second since the epoch: the unit of KV's expirations."""
    return int(time.time())


def now_ms() -> int:
    """The current millisecond since the epoch: the unit of JavaScript's dates."""
    return int(time.time() * 1000)
