"""The clock of the workers, as the supervisor moves it."""

from __future__ import annotations

import asyncio
import time
from typing import Final

_LONGEST_SLEEP_S: Final = 30.0


class EdgeClock:
    """What time it is for the workers.

    Shape: `offset_s` is how far it is ahead of the machine's clock.
    """

    def __init__(self) -> None:
        self.offset_s = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time() + self.offset_s

    def move(self, offset_s: float) -> None:
        """The clock is `offset_s` ahead; whoever sleeps on it wakes up."""
        self.offset_s = offset_s
        self._moved.set()
        self._moved = asyncio.Event()

    async def sleep_until(self, moment_s: float) -> bool:
        """Whether `moment_s` has come by itself; False at once when the clock was moved."""
        moved = self._moved
        while (left := moment_s - self.now()) > 0:
            try:
                # In short stretches: the machine's own clock can be set, or the machine sleep.
                async with asyncio.timeout(min(left, _LONGEST_SLEEP_S)):
                    await moved.wait()
            except TimeoutError:
                continue
            return False
        return not moved.is_set()
