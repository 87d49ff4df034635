"""Moves the clock of this process: every name of time and datetime, every thread."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from localedge.isolate.lean import lean_import

if TYPE_CHECKING:
    import time_machine


class MovedClock:
    """How far this isolate's clock is moved. `time.monotonic` never is."""

    def __init__(self) -> None:
        self._travel: time_machine.travel | None = None

    def move(self, offset_s: float) -> None:
        """The clock runs on, `offset_s` ahead of the machine's; 0 is the machine's own."""
        if self._travel is not None:
            self._travel.stop()
            self._travel = None
        if offset_s == 0:
            return
        lean_import("time_machine")
        import time_machine

        wanted, started = time.time() + offset_s, time.monotonic()
        self._travel = time_machine.travel(wanted, tick=True)
        coordinates = self._travel.start()
        # Starting takes milliseconds, by which this clock would be behind the supervisor's.
        coordinates.shift(wanted + time.monotonic() - started - time.time())
