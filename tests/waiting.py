"""Waiting for a condition, with a deadline: the only way a test waits."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

T = TypeVar("T")


@overload
async def wait_until(condition: Callable[[], Awaitable[T]], *, within_s: float = 10) -> T: ...
@overload
async def wait_until(condition: Callable[[], T], *, within_s: float = 10) -> T: ...
async def wait_until(condition: Callable[[], Any], *, within_s: float = 10) -> Any:
    """Return the first true value of `condition()`; AssertionError after `within_s` seconds.

    The deadline is on the monotonic clock, so that a moved clock changes nothing.
    """
    deadline = time.monotonic() + within_s
    pause_s = 0.001
    while True:
        value = condition()
        result = await value if inspect.isawaitable(value) else value
        if result:
            return result
        assert time.monotonic() < deadline, f"not within {within_s} s: {condition}"
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 1.5, 0.05)
