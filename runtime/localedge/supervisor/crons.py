"""Fires the crons of a worker when their time comes on the workers' clock."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from random import getrandbits
from typing import Final

from localedge.supervisor.clock import EdgeClock
from localedge.supervisor.generation import NotServing, Spawn
from localedge.supervisor.happenings import CRON, REQUEST_CLOSED, REQUEST_OPENED
from localedge.supervisor.isolates import EventFailed
from localedge.supervisor.pool import Pool
from localedge.supervisor.schedule import Schedule

logger = logging.getLogger(__name__)

_IDLE_S: Final = 3600.0
SCHEDULED_S: Final = 15 * 60.0
"""Wall time of one firing. Source: kv-d1-contract section 5, read 2026-12-01."""


class Crons:
    """The triggers of one worker. Those that a moved clock jumps over do not fire."""

    def __init__(self, pool: Pool, clock: EdgeClock, spawn: Spawn) -> None:
        self._pool = pool
        self._clock = clock
        self._spawn = spawn
        self._read: tuple[str, ...] = ()
        self._schedules: list[Schedule] = []

    async def run(self) -> None:
        """Fire, until cancelled."""
        while True:
            now = self._clock.now()
            times = [(at, s) for s in self._current() if (at := s.next_after(now)) is not None]
            at = min((at for at, _ in times), default=now + _IDLE_S)
            # A reload may bring other crons: look again every minute.
            if not await self._clock.sleep_until(min(at, now + 60.0)) or self._clock.now() < at:
                continue
            handlers = self._pool.current.handlers
            if handlers is not None and "scheduled" not in handlers:
                continue
            for due, schedule in times:
                if due == at:
                    self._spawn(self._fire(schedule.expression, int(at * 1000)))

    async def _fire(self, expression: str, time_ms: int) -> None:
        firing = await fire(self._pool, expression, time_ms)
        logger.info("cron fired", extra={"cron": expression, "outcome": firing.outcome})

    def _current(self) -> list[Schedule]:
        crons = self._pool.project.crons
        if crons != self._read:
            self._read = crons
            self._schedules = [s for cron in crons if (s := _schedule(cron)) is not None]
        return self._schedules


def _schedule(cron: str) -> Schedule | None:
    try:
        return Schedule(cron)
    except ValueError as error:
        logger.warning("a cron never fires: %s", error)
        return None


@dataclass(frozen=True, slots=True)
class Firing:
    """How a `scheduled` handler ended; `retries` is false when it called `noRetry()`."""

    outcome: str
    retries: bool = True


async def fire(pool: Pool, expression: str, time_ms: int) -> Firing:
    """How the worker's `scheduled` handler, called now, has ended."""
    ray = f"{getrandbits(64):016x}"
    history = pool.history
    began = time.perf_counter()
    if history is not None:
        history.add(
            REQUEST_OPENED,
            ray=ray,
            method=CRON,
            url=expression,
            worker=pool.project.name,
            headers=[],
        )
    firing, pid = await _run(pool, expression, time_ms, ray)
    if history is not None:
        took_ms = round((time.perf_counter() - began) * 1000, 3)
        history.add(
            REQUEST_CLOSED, ray=ray, pid=pid, status=None, outcome=firing.outcome, ms=took_ms
        )
    return firing


async def _run(pool: Pool, expression: str, time_ms: int, ray: str) -> tuple[Firing, int | None]:
    """How it ended, and in which isolate."""
    pid = None
    try:
        isolate = pool.pick() or await pool.acquire()
        pid = isolate.pid
        exchange = isolate.scheduled(expression, time_ms, ray)
        try:
            async with asyncio.timeout(SCHEDULED_S):
                said = await exchange.head
        finally:
            exchange.cancel()
    except EventFailed as failed:
        traceback = failed.failure.text if failed.failure else None
        logger.error(
            "scheduled handler failed",
            extra={
                "cron": expression,
                "ray": ray,
                "outcome": failed.outcome,
                "traceback": traceback,
            },
        )
        if failed.failure is not None and pool.history is not None:
            pool.history.failed(ray, pid, failed.failure)
        return Firing(failed.outcome), pid
    except NotServing as broken:
        logger.error("scheduled handler not called", extra={"reason": broken.failure.message})
        return Firing("exception"), pid
    except TimeoutError:
        return Firing("exceededWallTime"), pid
    return Firing("ok", retries=not said["noRetry"]), pid
