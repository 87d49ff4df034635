"""What happens in a server, one record each: the model that the page and `tail` are made of."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

MOST_HAPPENINGS: Final = 4_096
"""How many are kept for whoever comes late; who is slower than that misses some, and is told."""

CRON: Final = "CRON"
"""Stands where a request's method does: it is a cron that fired, its expression for a URL."""
REQUEST_OPENED: Final = "request.opened"
REQUEST_CLOSED: Final = "request.closed"
REQUEST_OVER: Final = "request.over"
CALL_BEGAN: Final = "call.began"
CALL_ENDED: Final = "call.ended"
CONSOLE: Final = "console"
EXCEPTION: Final = "exception"
ISOLATE_READY: Final = "isolate.ready"
ISOLATE_ENDED: Final = "isolate.ended"
PROCESS_EXITED: Final = "process.exited"
CLOCK_MOVED: Final = "clock.moved"
WORKER_RELOADED: Final = "worker.reloaded"
WORKER_BROKEN: Final = "worker.broken"


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened.

    Shape: `number` grows by one with each of this server; `at_ms` is when, by the machine's clock
    in ms since the epoch; `kind` is one of the names of this module; `ray` the request that it
    belongs to, "" when to none; `pid` the isolate; `facts` what is known of a thing of that kind,
    as JSON: docs/inspector.md lists them.
    """

    number: int
    at_ms: float
    kind: str
    ray: str
    pid: int | None
    facts: Mapping[str, Any]

    def shown(self) -> dict[str, Any]:
        """It as JSON."""
        return {
            "number": self.number,
            "at": round(self.at_ms, 3),
            "kind": self.kind,
            "ray": self.ray,
            "pid": self.pid,
            **self.facts,
        }


def wall_ms(monotonic_s: float) -> float:
    """The machine's time at that reading of its monotonic clock, in ms since the epoch."""
    return (time.time() - (time.monotonic() - monotonic_s)) * 1000


class Ring:
    """The last happenings, in order, and the way to wait for the next."""

    def __init__(self, size: int = MOST_HAPPENINGS) -> None:
        self._size = size
        self._kept: list[Happening] = []
        self._next = 0
        self.newest = 0
        self._grew: asyncio.Future[None] | None = None
        self.is_closed = False

    def add(self, happening: Happening) -> None:
        """`happening`, whose number is the next, is the newest."""
        self.newest = happening.number
        if len(self._kept) < self._size:
            self._kept.append(happening)
        else:
            self._kept[self._next] = happening
            self._next = (self._next + 1) % self._size
        self._wake()

    def after(self, number: int, most: int) -> list[Happening]:
        """What came after the one of that number, the oldest first, at most `most`."""
        count = min(self.newest - number, len(self._kept))
        if count <= 0:
            return []
        start = self._next + len(self._kept) - count
        places = range(start, start + min(count, most))
        return [self._kept[place % len(self._kept)] for place in places]

    async def grows(self, number: int, *, within_s: float) -> None:
        """There is one newer than that of `number`, or the ring is closed, or time is up."""
        if self.newest > number or self.is_closed:
            return
        if self._grew is None:
            self._grew = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._grew], timeout=within_s)

    def close(self) -> None:
        """Nothing more happens: who waits is woken."""
        self.is_closed = True
        self._wake()

    def _wake(self) -> None:
        grew, self._grew = self._grew, None
        if grew is not None and not grew.done():
            grew.set_result(None)
