"""Why a program is attempted again: somebody else has the lock, or D1 is more lenient."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from localedge.d1 import rules
from localedge.d1.engine import EngineError, Value
from localedge.d1.program import Program

T = TypeVar("T")
_FIRST_PAUSE_S: Final = 0.00005
_SHORT_PAUSE_S: Final = 0.0003
_LONGEST_PAUSE_S: Final = 0.02


class Busy(Exception):  # noqa: N818  (a signal between two files)
    """Somebody else has the database's lock, and nothing of the program remains."""

    def __init__(self, error: EngineError) -> None:
        super().__init__(str(error))
        self.error = error


class Lenient(Exception):  # noqa: N818  (a signal between two files)
    """Nothing is committed, and the program works under a more lenient setting."""


def until_free(attempt: Callable[[], T], *, timeout_s: float, is_stopped: Callable[[], bool]) -> T:
    """What `attempt` returns once nobody else has the lock. Called in the database thread.

    SQLite's own busy handler sleeps for 1 to 100 ms between its tries, in which isolates that
    write all the time starve one that has lost once (measured: 4 batches against 783 a second).
    Errors: EngineError that the database is locked, after `timeout_s` or when `is_stopped`.
    """
    began_s = pause_s = 0.0
    while True:
        try:
            return attempt()
        except Busy as busy:
            began_s = began_s or time.monotonic()
            waited_s = time.monotonic() - began_s
            if waited_s >= timeout_s or is_stopped():
                raise busy.error from busy.__cause__
            # Often while isolates take turns, seldom when another program keeps the lock.
            longest_s = min(max(_SHORT_PAUSE_S, waited_s / 20), _LONGEST_PAUSE_S)
            pause_s = min(2 * pause_s, longest_s) or _FIRST_PAUSE_S
            time.sleep(pause_s)


def works_leniently(text: str, program: Program) -> bool:
    """Whether `text` is no failure on the platform.

    It shows bytes that are no UTF-8 as U+FFFD, and a value of the greatest length has room for
    its row's header.
    """
    if text.startswith("Could not decode to UTF-8"):
        return True
    return text == "string or blob too big" and any(
        _is_nearly_too_big(value) for query in program.queries for value in query.values
    )


def _is_nearly_too_big(value: Value) -> bool:
    if not isinstance(value, str | bytes):
        return False
    size = len(value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass"))
    return rules.MAX_VALUE_BYTES - rules.ROW_HEADER_BYTES <= size <= rules.MAX_VALUE_BYTES


def replacing(text: bytes) -> str:
    return text.decode("utf-8", "replace")
