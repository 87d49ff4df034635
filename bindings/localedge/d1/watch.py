"""The deadline of programs: one timer on the event loop looks at what the other thread runs."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Running(Protocol):
    """What runs programs one after the other in another thread."""

    serial: int
    is_busy: bool

    def stop_if_running(self, serial: int) -> None:
        """Interrupt program number `serial`, if that is what runs."""

    def end(self) -> None:
        """Interrupt what runs and let nothing else begin."""


class Watch:
    """Interrupts a program that runs for longer than `timeout_s`.

    A program waiting in the queue is not running yet. The timer exists only while calls do: a
    timer per call would cost more than the lookup by key that it guards.
    """

    def __init__(self, running: Running, timeout_s: float) -> None:
        self._running = running
        self._timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._seen_serial = 0
        self._seen_since_s = 0.0
        self.waiting = 0

    def begin(self) -> None:
        """A call has been made. Its end is `waiting -= 1`."""
        self.waiting += 1
        if self._timer is None:
            self._arm()

    def _arm(self) -> None:
        self._timer = self._loop.call_later(min(self._timeout_s / 10, 1.0), self._look)

    def _look(self) -> None:
        running = self._running
        if not running.is_busy and self.waiting == 0:
            self._timer = None
            return
        now_s = self._loop.time()
        if not running.is_busy or running.serial != self._seen_serial:
            self._seen_serial = running.serial
            self._seen_since_s = now_s
        elif now_s - self._seen_since_s >= self._timeout_s:
            running.stop_if_running(running.serial)
        self._arm()

    def close(self) -> None:
        """No timer is left, and no program that nobody waits for.

        A cancelled call's program would keep the other thread, and with it the process.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.waiting == 0:
            self._running.end()
