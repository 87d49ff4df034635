"""A run that computes without end is ended."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

PATIENCE_S: Final = 20.0
"""For so long, in seconds of the machine's time, one run may compute."""
_AGAIN_S: Final = 0.5
_SOON_S: Final = 0.001
_real_clock: Final = time.perf_counter


class Endless(BaseException):
    """The code that runs does not let go."""


@contextmanager
def watching(
    what: str, stop: Callable[[str], None], patience_s: float = PATIENCE_S
) -> Iterator[None]:
    """After `patience_s`, `stop` is told; code that does not let go then gets Endless raised.

    Only the main thread can be interrupted; elsewhere nothing is watched.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    alarms = 0

    def interrupt(_signal: int, frame: FrameType | None) -> None:
        nonlocal alarms
        alarms += 1
        place = f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}" if frame else "?"
        text = f"{what} has computed for {patience_s:g} s without end, at {place}"
        if alarms == 1:
            stop(text)
        else:
            raise Endless(text)

    before = signal.signal(signal.SIGALRM, interrupt)
    begun_s = _real_clock()
    theirs_s, every_s = signal.setitimer(signal.ITIMER_REAL, patience_s, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if theirs_s:
            # Somebody else's alarm, such as that of pytest-timeout, goes on as if we were not.
            left_s = max(theirs_s - (_real_clock() - begun_s), _SOON_S)
            signal.setitimer(signal.ITIMER_REAL, left_s, every_s)
