"""Says of each request how it was answered, without costing the answers their pace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from localedge.gateway.requests import Request

_PAUSE_S: Final = 0.1
MOST_LINES: Final = 20
"""How many lines one pause brings: nobody reads more, and writing them would slow requests."""


class Journal:
    """One line for each request, written together after a pause; of many, only how many more.

    Shape: `say` writes text, which may have several lines.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._answered: list[tuple[Request, int, float]] = []
        self._more = 0
        self._timer: asyncio.TimerHandle | None = None

    def note(self, request: Request, status: int) -> None:
        """`request` was answered with `status`, now."""
        if len(self._answered) >= MOST_LINES:
            self._more += 1
            return
        self._answered.append((request, status, time.perf_counter()))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE_S, self.flush)

    def flush(self) -> None:
        """What was noted is written."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        lines = [_line(*one) for one in self._answered]
        if self._more:
            lines.append(f"… and {self._more} more requests")
        self._answered.clear()
        self._more = 0
        if lines:
            self._say("\n".join(lines))


def _line(request: Request, status: int, ended: float) -> str:
    target = "/" + request.shown_url.partition("//")[2].partition("/")[2]
    took_ms = (ended - request.began) * 1000
    try:
        phrase = HTTPStatus(status).phrase + " "
    except ValueError:
        phrase = ""
    return f"[{request.ray[:8]}] {request.method} {target} {status} {phrase}({took_ms:.0f} ms)"
