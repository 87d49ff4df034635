"""Holding a task for as long as the work on it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from edgestate.errors import LeaseLost, StoreUnavailable
from edgestate.team.board import Board, Held
from edgestate.team.tracing import logger_of

logger = logger_of(__name__)

T = TypeVar("T")
RENEW_AT: Final = 1 / 3
"""The part of its time after which a lease is renewed."""


async def kept(board: Board, held: Held, work: Callable[[], Awaitable[T]]) -> T:
    """What `work()` returned, the task having been ours until then.

    The lease is renewed meanwhile; the fence stays the same, so `held` is still good afterwards.
    Errors: LeaseLost as soon as the task is another's, and `work` is cancelled; what it raises.
    """
    running = asyncio.ensure_future(_as_coroutine(work))
    try:
        while True:
            await asyncio.wait({running}, timeout=held.ttl_s * RENEW_AT)
            if running.done():
                return running.result()
            try:
                held = await board.renew(held)
            except StoreUnavailable:
                # It may answer the next time, before the lease ends.
                logger.warning("lease not renewed", extra={"task": held.task.task_id})
            except LeaseLost:
                logger.warning("lease lost", extra={"task": held.task.task_id})
                raise
    finally:
        if not running.done():
            running.cancel()
            await asyncio.wait({running}, timeout=1.0)


async def _as_coroutine(work: Callable[[], Awaitable[T]]) -> T:
    return await work()
