"""An event loop whose time is its own: it never waits, it moves on to the next timer."""

from __future__ import annotations

import asyncio
import heapq
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import time_machine

START_S: Final = 1_796_126_400.0
"""When every run begins: 2026-12-01T12:00:00Z, in seconds since the epoch."""


_BEGIN_S: Final = 1000.0
_RESOLUTION_S: Final = 1e-9


class _Instant(selectors.BaseSelector):
    """A selector that asks `idle` instead of waiting."""

    def __init__(self, idle: Callable[[float | None], None]) -> None:
        self._real = selectors.DefaultSelector()
        self._idle = idle

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout > 0:
            self._idle(timeout)
        # Nothing that is explored does real input or output.
        return []


class Clockwork(asyncio.SelectorEventLoop):
    """A loop in which time passes only when nothing else can happen.

    Shape: `wall_s` is what the machine's clock shows to workers; `on_idle` is asked before time
    passes and answers whether it has found something to do; `on_stall` is told when nothing will
    ever happen again.
    """

    def __init__(self) -> None:
        self._now_s = _BEGIN_S
        self._offset_s = START_S - self._now_s
        self.on_idle: Callable[[], bool] = lambda: False
        self.on_stall: Callable[[], None] = _stalled
        self._travel: time_machine.Traveller | None = None
        super().__init__(_Instant(self._idle))
        self.set_exception_handler(lambda _loop, _context: None)

    def time(self) -> float:
        return self._now_s

    @property
    def wall_s(self) -> float:
        """Seconds since the epoch."""
        # Where a run begins must not show in the last digits.
        return round(self._now_s + self._offset_s, 6)

    def set_wall(self, wall_s: float) -> None:
        """It is `wall_s` (seconds since the epoch); timers do not notice."""
        self._offset_s = wall_s - self._now_s
        self._show()

    def pass_time(self, seconds: float) -> None:
        """It is `seconds` later, for timers too."""
        self._now_s += seconds
        self._show()

    def begin_anew(self, wall_s: float) -> None:
        """It is `wall_s`, and no timer of an earlier run is left."""
        self._scheduled: list[asyncio.TimerHandle] = []
        self._now_s = _BEGIN_S
        self.set_wall(wall_s)

    def _run_once(self) -> None:
        """As asyncio's own, without asking the machine for time, input or output.

        Nothing that is explored does real input or output; asyncio's takes twice as long.
        """
        ready: deque[asyncio.Handle] = self._ready  # type: ignore[attr-defined]
        scheduled = self._scheduled
        while scheduled and scheduled[0].cancelled():
            heapq.heappop(scheduled)._scheduled = False  # type: ignore[attr-defined]
        if not ready and not self._stopping:  # type: ignore[attr-defined]
            self._idle(max(0.0, scheduled[0].when() - self._now_s) if scheduled else None)
        # Timers of one moment are run together, as asyncio does within its clock's resolution.
        until_s = self._now_s + _RESOLUTION_S
        while scheduled and scheduled[0].when() < until_s:
            handle = heapq.heappop(scheduled)
            handle._scheduled = False  # type: ignore[attr-defined]
            ready.append(handle)
        for _ in range(len(ready)):
            due = ready.popleft()
            if not due.cancelled():
                due._run()

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Cancelled timers are let go of when they are due: a run has few."""

    def _idle(self, timeout: float | None) -> None:
        if self.on_idle():
            return
        if timeout is None:
            self.on_stall()
        else:
            self.pass_time(timeout)

    def _show(self) -> None:
        if self._travel is not None:
            self._travel.move_to(self.wall_s)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """`time` and `datetime` show this loop's time to everybody in the process."""
        travel = time_machine.travel(self.wall_s, tick=False)
        real = {name: getattr(time, name) for name in _MONOTONIC}
        self._travel = travel.start()
        try:
            for name, per_s in _MONOTONIC.items():
                setattr(time, name, self._reader(per_s))
            yield
        finally:
            for name, function in real.items():
                setattr(time, name, function)
            travel.stop()
            self._travel = None

    def _reader(self, per_s: int) -> Callable[[], float]:
        return self.time if per_s == 1 else lambda: int(self._now_s * per_s)


_MONOTONIC: Final = {
    "monotonic": 1,
    "monotonic_ns": 1_000_000_000,
    "perf_counter": 1,
    "perf_counter_ns": 1_000_000_000,
}


def _stalled() -> None:
    raise RuntimeError("nothing is left that could ever wake this loop")
