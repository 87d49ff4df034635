"""What isolates ask of each other, carried out by the supervisor between them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from localedge.isolate.failures import Failure
from localedge.isolate.rate_counters import Counters
from localedge.isolate.wire import (
    CANCEL,
    CREDIT,
    DATA,
    END,
    NOT_STARTED,
    OPEN,
    Frame,
    Inbox,
    Window,
)
from localedge.supervisor.clock import EdgeClock
from localedge.supervisor.generation import NotServing
from localedge.supervisor.isolates import EventFailed, Exchange, Isolate
from localedge.supervisor.pool import Pool

logger = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class Services:
    """The way from one worker to another, and the counters that all share.

    Shape: `pools` are the workers of this server, by their project's name.
    """

    def __init__(self, pools: Sequence[Pool], clock: EdgeClock, spawn: Spawn) -> None:
        self._pools = pools
        self._clock = clock
        self._spawn = spawn
        self._counters = Counters()

    def connect(self, isolate: Isolate) -> None:
        """What `isolate` asks for is carried out from now on."""
        isolate.outgoing = Outgoing(self, isolate)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """`work` runs under the supervisor's task group."""
        return self._spawn(work)

    def worker(self, name: str) -> Pool | None:
        """The worker of that name."""
        return next((pool for pool in self._pools if pool.project.name == name), None)

    def take(self, namespace_id: str, key: str, limit: float, period_s: int) -> bool:
        """Whether one more of `key` is within the limit; then it is counted."""
        now = self._clock.now()
        return self._counters.take(namespace_id, key, limit=limit, period_s=period_s, now=now)


class Outgoing:
    """The calls that one isolate makes."""

    def __init__(self, services: Services, caller: Isolate) -> None:
        self._services = services
        self._caller = caller
        self._calls: dict[int, _Call] = {}

    def received(self, frame: Frame) -> None:
        """Act on a frame of the isolate whose number is its own."""
        kind, number = frame[0], frame[1]
        if kind == OPEN:
            self._open(frame)
            return
        call = self._calls.get(number)
        if call is None:
            return
        if kind == DATA and call.body is not None:
            call.body.put(frame[2])
        elif kind == END and call.body is not None:
            call.body.close()
        elif kind == CREDIT:
            call.window.add(frame[2])
        elif kind == CANCEL and call.task is not None:
            call.task.cancel()

    def end(self) -> None:
        """The isolate is gone: nobody waits for its calls."""
        for call in self._calls.values():
            if call.task is not None:
                call.task.cancel()

    def _open(self, frame: Frame) -> None:
        _, number, kind, *arguments = frame
        if kind == "limit":
            self._caller.send((END, number, "ok", self._services.take(*arguments)))
            return
        service, entrypoint, props, *what = arguments
        pool = self._services.worker(service)
        if pool is None:
            self._caller.send((END, number, NOT_STARTED, None))
            return
        call = self._calls[number] = _Call(self._caller, number)
        if kind == "fetch" and what[3] is True:
            # The body's first frames may come before the task has run its first line.
            call.receive()
        work = call.fetch if kind == "fetch" else call.invoke
        running = self._run(call, partial(work, pool, entrypoint, props, *what))
        call.task = self._services.start(running)
        call.task.add_done_callback(lambda _: self._calls.pop(number))

    async def _run(self, call: _Call, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await work()
        except EventFailed as failed:
            call.fail(failed.outcome, failed.failure)
        except NotServing as broken:
            call.fail("notLoaded", broken.failure)
        except Exception:  # the boundary of one call: the others go on
            logger.exception("a call between workers failed")
            call.fail("internalError", None)


class _Call:
    """One call under way. Shape: `body` is what the caller sends, when that is in pieces."""

    def __init__(self, caller: Isolate, number: int) -> None:
        self.number = number
        self.task: asyncio.Task[None] | None = None
        self.body: Inbox | None = None
        self.window = Window()
        self._send = caller.send

    def receive(self) -> None:
        """The caller sends its body in pieces, and gets credit as they are passed on."""
        self.body = Inbox(lambda size: self._send((CREDIT, self.number, size)))

    def fail(self, outcome: str, failure: Failure | None) -> None:
        """The caller learns that there is no answer, or no more of it."""
        detail = failure.model_dump() if failure is not None else None
        self._send((END, self.number, outcome, detail))

    async def fetch(
        self,
        pool: Pool,
        entrypoint: str | None,
        props: dict[str, Any],
        method: str,
        url: str,
        lines: Any,
        body: bytes | bool | None,
        ray: str,
    ) -> None:
        # Differs: on the platform static files of the other worker come before it here too.
        isolate = pool.pick() or await pool.acquire()
        exchange = isolate.service(method, url, lines, body, ray, entrypoint, props)
        uploading = asyncio.ensure_future(_upload(self.body, exchange)) if self.body else None
        try:
            status, answered, content = await exchange.head
            self._send((OPEN, self.number, status, answered, content))
            if content is None:
                await self._stream(exchange)
        except asyncio.CancelledError:
            exchange.cancel()
            raise
        finally:
            if uploading is not None:
                uploading.cancel()

    async def _stream(self, exchange: Exchange) -> None:
        assert exchange.inbox is not None
        while (piece := await exchange.inbox.get()) is not None:
            await self.window.take(len(piece))
            self._send((DATA, self.number, piece))
        self._send((END, self.number, "ok", None))

    async def invoke(
        self,
        pool: Pool,
        entrypoint: str | None,
        props: dict[str, Any],
        method: str,
        arguments: bytes,
        ray: str,
        lines: Sequence[tuple[bytes, bytes]],
    ) -> None:
        isolate = pool.pick() or await pool.acquire()
        exchange = isolate.call(entrypoint or "Default", method, arguments, ray, props, lines)
        try:
            result = await exchange.head
        except asyncio.CancelledError:
            exchange.cancel()
            raise
        self._send((END, self.number, "ok", result))


async def _upload(body: Inbox, exchange: Exchange) -> None:
    while (piece := await body.get()) is not None:
        await exchange.send_body(piece)
    exchange.end_body()
