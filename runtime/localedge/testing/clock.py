"""A clock that moves in the test and in every isolate together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import time_machine

from localedge import clock

Follower = Callable[[float], Awaitable[None]]


class TestClock:
    """What time it is; it goes on ticking wherever it was moved to.

    Shape: `offset_s` is how far ahead of the machine's clock it is.
    """

    __test__ = False

    def __init__(self) -> None:
        self.offset_s = 0.0
        self._travel: time_machine.travel | None = None
        self._followers: list[Follower] = []

    def now(self) -> float:
        """Seconds since the epoch, in the test and in the isolates."""
        return clock.now()

    async def follow(self, follower: Follower) -> None:
        """Tell `follower` the offset in seconds, now and at every move."""
        self._followers.append(follower)
        await follower(self.offset_s)

    def leave(self, follower: Follower) -> None:
        """Tell `follower` nothing more."""
        self._followers.remove(follower)

    async def advance(self, seconds: float) -> None:
        """It is `seconds` later everywhere."""
        await self._move(self.offset_s + seconds)

    async def set(self, moment: datetime) -> None:
        """It is `moment` (aware) everywhere. Errors: ValueError for a naive moment."""
        if moment.tzinfo is None:
            raise ValueError(f"{moment} has no time zone; give an aware datetime, such as in UTC")
        await self._move(self.offset_s + moment.timestamp() - clock.now())

    async def reset(self) -> None:
        """The machine's own time again, everywhere."""
        await self._move(0.0)

    async def _move(self, offset_s: float) -> None:
        if offset_s == self.offset_s:
            return
        target = clock.now() - self.offset_s + offset_s
        if self._travel is not None:
            self._travel.stop()
            self._travel = None
        if offset_s:
            self._travel = time_machine.travel(target, tick=True)
            self._travel.start()
        self.offset_s = offset_s
        for follower in self._followers:
            await follower(offset_s)
