"""Doing something only for as long as the task is ours: renewals, deadlines, cancelling."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

from edgestate import clock
from edgestate.errors import LeaseLost, LeaseTooShort, StoreUnavailable
from edgestate.store import StateStore
from edgestate.traits import Lease

logger = logging.getLogger(__name__)

T = TypeVar("T")

RENEW_AT: Final = 1 / 3
"""The part of its TTL after which a lease is renewed."""
CANCEL_GRACE_S: Final = 1.0
"""How long a cancelled call may take to end before it is left behind."""


class TimedOut(Exception):  # noqa: N818  (never leaves the library)
    """An operation took longer than it may."""


class LeaseKeeper:
    """Keeps one lease while operations run; without a lease it only keeps their time.

    Shape: what is left of the lease is the lesser of two clocks: the wall clock, by which
    others judge it, and the monotonic one, which nobody can set back.
    """

    def __init__(self, store: StateStore, lease: Lease | None) -> None:
        self._store = store
        self._taken_at = time.monotonic()
        self.lease = lease

    def left_s(self) -> float:
        """For how long the task is ours."""
        if self.lease is None:
            return float("inf")
        by_wall = self.lease.expires_at - clock.now()
        by_own = self.lease.ttl_s - (time.monotonic() - self._taken_at)
        return min(by_wall, by_own, self.lease.ttl_s)

    def _until_renewal_s(self) -> float:
        if self.lease is None:
            return float("inf")
        return self.left_s() - self.lease.ttl_s * (1 - RENEW_AT)

    async def renew(self) -> None:
        """The lease lasts its whole TTL from now.

        Errors: LeaseLost, also when the store does not answer before the lease ends.
        """
        if self.lease is None:
            return
        asked_at = time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, self.left_s())):
                self.lease = await self._store.renew_lease(self.lease)
        except TimeoutError:
            raise LeaseLost(self.lease.task_id, self.lease.holder) from None
        self._taken_at = asked_at

    async def have(self, needed_s: float, what: str) -> None:
        """Return only while more than `needed_s` of the lease are left.

        Errors: LeaseTooShort if no renewal gives that much; LeaseLost.
        """
        if self.lease is None or self.left_s() > needed_s:
            return
        await self.renew()
        if self.left_s() <= needed_s:
            raise LeaseTooShort(what, needed_s, self.lease.ttl_s)

    async def run(self, operation: Callable[[], Awaitable[T]], *, timeout_s: float) -> T:
        """The result of `operation()`, which ends in time and within the lease, or is cancelled.

        Errors: TimedOut; LeaseLost; whatever it raises.
        """
        deadline = time.monotonic() + timeout_s
        bell = _Bell()
        running = asyncio.ensure_future(_ringing(operation, bell))
        try:
            while not running.done():
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    raise TimedOut
                await bell.heard(min(left_s, self._until_renewal_s()))
                if not running.done() and self._until_renewal_s() <= 0:
                    await self._renew_during(running)
        finally:
            if not running.done():
                await _cancelled(running)
        return running.result()

    async def _renew_during(self, running: asyncio.Future[T]) -> None:
        """Renew; a store that fails for a while is asked again until the lease ends."""
        try:
            await self.renew()
        except StoreUnavailable:
            if self.lease is not None and self.left_s() <= 0:
                raise LeaseLost(self.lease.task_id, self.lease.holder) from None
            await asyncio.wait({running}, timeout=min(0.1, max(0.0, self.left_s())))

    async def pause(self, seconds: float) -> None:
        """`seconds` later, the lease is still ours."""
        if seconds > 0:
            await self.run(lambda: asyncio.sleep(seconds), timeout_s=seconds + 60)


class _Bell:
    """Wakes one waiter when an operation ends, or when it has waited long enough.

    `asyncio.wait` for one does the same with two more turns of the loop.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[None] | None = None
        self._has_rung = False

    def ring(self) -> None:
        """The operation ends in this turn of the loop."""
        self._has_rung = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def heard(self, timeout_s: float) -> None:
        """The bell has rung, or `timeout_s` are over."""
        if self._has_rung:
            # Whoever rang it is done when this turn of the loop is.
            await asyncio.sleep(0)
            return
        self._waiter = self._loop.create_future()
        is_endless = timeout_s == float("inf")
        timer = None if is_endless else self._loop.call_later(max(0.0, timeout_s), self._wake)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()


async def _ringing(operation: Callable[[], Awaitable[T]], bell: _Bell) -> T:
    try:
        return await operation()
    finally:
        bell.ring()


async def _cancelled(running: asyncio.Future[Any]) -> None:
    """`running` has ended, or was left behind because it would not be cancelled."""
    running.cancel()
    await asyncio.wait({running}, timeout=CANCEL_GRACE_S)
    if running.done():
        # Its end is known to the caller already; asking marks it as seen.
        _ = running.cancelled() or running.exception()
    else:
        logger.error("a call ignored its cancellation and was left behind")
        running.add_done_callback(lambda late: late.cancelled() or late.exception())


async def unhurried(writing: Coroutine[Any, Any, T]) -> T:
    """The result of `writing`, which a cancellation of the caller lets end first."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
