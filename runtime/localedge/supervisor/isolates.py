"""The parent's view of one isolate: its channel, the events in flight, how it ended."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from localedge.isolate.boot import NotReady, Ready
from localedge.isolate.failures import Failure
from localedge.isolate.wire import (
    CANCEL,
    CREDIT,
    DATA,
    END,
    NOTE,
    OPEN,
    OVER,
    Channel,
    Frame,
    Inbox,
    Window,
)

if TYPE_CHECKING:
    from localedge.supervisor.history import History

logger = logging.getLogger(__name__)

KILLED: Final = "internalError"

Line = tuple[bytes, bytes]


class Outgoing(Protocol):
    """Carries out what an isolate asks of others."""

    def received(self, frame: Frame) -> None:
        """Act on a frame of the isolate that belongs to a call of its own."""

    def end(self) -> None:
        """The isolate is gone."""


class EventFailed(Exception):  # noqa: N818  (what happened to the event, not to us)
    """An event ended without its response.

    Shape: `outcome` is the platform's word; `failure` the worker's exception when it raised one;
    `pid` the isolate that had it.
    """

    def __init__(self, outcome: str, pid: int, failure: Failure | None = None) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.pid = pid
        self.failure = failure


class Exchange:
    """One event and what comes back for it.

    Shape: `head` becomes (status, header lines, body), where body None means that `inbox` has it;
    for an event without a response, what it said at its end. `is_over` once `waitUntil` has ended
    too. `first_piece` is the beginning of a request's body that goes on. `ray` is its request's;
    `is_inner` when another worker's event has made it.
    """

    __slots__ = (
        "cpu_s",
        "first_piece",
        "head",
        "inbox",
        "is_inner",
        "is_over",
        "isolate",
        "number",
        "ray",
        "started",
        "window",
    )

    def __init__(self, isolate: Isolate, number: int, ray: str, head: asyncio.Future[Any]) -> None:
        self.isolate = isolate
        self.ray = ray
        self.number = number
        self.head = head
        self.inbox: Inbox | None = None
        self.window: Window | None = None
        self.is_inner = False
        self.is_over = False
        self.started = time.monotonic()
        self.cpu_s = 0.0
        self.first_piece: bytes | None = None

    def cancel(self) -> None:
        """The worker is told that nobody waits for the response any more."""
        if not self.is_over:
            self.isolate.send((CANCEL, self.number))

    async def send_body(self, piece: bytes) -> None:
        """`piece` of the request's body is on its way; waits while the worker does not read."""
        window = self.window
        if window is None:
            window = self.window = Window()
        await window.take(len(piece))
        self.isolate.send((DATA, self.number, piece))

    def end_body(self) -> None:
        """The request's body is complete."""
        self.isolate.send((END, self.number))

    def fail(self, outcome: str, failure: Failure | None = None) -> None:
        """The event has ended with `outcome`: who waits for it learns of it."""
        error = EventFailed(outcome, self.isolate.pid, failure)
        if not self.head.done():
            self.head.set_exception(error)
            # Nobody may be waiting: a cancelled request is not an error of ours.
            self.head.exception()
        elif self.inbox is not None:
            self.inbox.close(error)
        if self.window is not None:
            self.window.add(1 << 62)


class Isolate:
    """One child process.

    Shape: `exchanges` holds the events in flight, `waitUntil` included. `ready` becomes what the
    child said once its worker was loaded, or fails with EventFailed. `doom` is the outcome that
    its events get when it dies, set by whoever kills it, and `cause` why it dies. `is_gone` once
    its channel closed. `header` names it in responses; `outgoing` carries out what it asks of other
    workers; `history` is told of what becomes of it; `tally` is what it has counted, as it told.
    """

    def __init__(self, pid: int, generation: int, *, on_gone: Callable[[Isolate], None]) -> None:
        self.pid = pid
        self.header = (b"x-localedge-isolate", b"%d" % pid)
        self.generation = generation
        self.exchanges: dict[int, Exchange] = {}
        self.doom = KILLED
        self.cause: str | None = None
        self.tally: object = None
        self.history: History | None = None
        self.is_gone = False
        self.started = time.monotonic()
        self.answered = time.monotonic()
        self.served = 0
        self.on_idle: Callable[[Isolate], None] | None = None
        self.outgoing: Outgoing | None = None
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[Ready] = self._loop.create_future()
        self.channel = Channel(self._received, self._closed)
        self.send = self.channel.send

    def fetch(
        self, method: str, url: str, lines: list[Line], body: bytes | bool | None, ray: str
    ) -> Exchange:
        """A request is on its way to the worker; `body` True means that it follows in pieces."""
        exchange = self._exchange(ray)
        self.send((OPEN, exchange.number, "fetch", method, url, lines, body, ray))
        return exchange

    def scheduled(self, cron: str, time_ms: int, ray: str) -> Exchange:
        """A cron trigger is on its way to the worker."""
        exchange = self._exchange(ray)
        self.send((OPEN, exchange.number, "scheduled", cron, time_ms, ray))
        return exchange

    def service(
        self,
        method: str,
        url: str,
        lines: Sequence[Line],
        body: bytes | bool | None,
        ray: str,
        entrypoint: str | None,
        props: dict[str, Any],
    ) -> Exchange:
        """Another worker's request is on its way to an entrypoint of this one."""
        exchange = self._exchange(ray, is_inner=True)
        number = exchange.number
        self.send((OPEN, number, "service", method, url, lines, body, ray, entrypoint, props))
        return exchange

    def call(
        self,
        entrypoint: str,
        method: str,
        arguments: bytes,
        ray: str,
        props: dict[str, Any],
        lines: Sequence[Line],
    ) -> Exchange:
        """Another worker's call of a method is on its way; `lines` put it into a trace."""
        exchange = self._exchange(ray, is_inner=True)
        what = (entrypoint, method, arguments, ray, props, lines)
        self.send((OPEN, exchange.number, "call", *what))
        return exchange

    def note(self, name: str, value: object) -> None:
        """The child is told something about itself."""
        self.send((NOTE, 0, name, value))

    def _exchange(self, ray: str, *, is_inner: bool = False) -> Exchange:
        self.served += 1
        number = self.served
        head = self._loop.create_future()
        exchange = self.exchanges[number] = Exchange(self, number, ray, head)
        exchange.is_inner = is_inner
        return exchange

    def _received(self, frame: Frame) -> None:
        kind, number = frame[0], frame[1]
        if kind == NOTE:
            self._noted(frame)
            return
        if number < 0:
            if self.outgoing is not None:
                self.outgoing.received(frame)
            return
        exchange = self.exchanges.get(number)
        if exchange is None:
            return
        if kind == OPEN:
            self._answered(exchange, frame)
        elif kind == DATA:
            if exchange.inbox is not None:
                exchange.inbox.put(frame[2])
        elif kind == END:
            self._ended(exchange, frame[2], frame[3])
        elif kind == CREDIT:
            if exchange.window is not None:
                exchange.window.add(frame[2])
        elif kind == OVER:
            self._over(exchange)

    def _answered(self, exchange: Exchange, frame: Frame) -> None:
        _, number, status, lines, body, is_over = frame
        if body is None:
            exchange.inbox = Inbox(lambda size: self.send((CREDIT, number, size)))
        if not exchange.head.done():
            exchange.head.set_result((status, lines, body))
        if is_over:
            self._over(exchange)

    def _ended(self, exchange: Exchange, outcome: str, detail: Any) -> None:
        if outcome != "ok":
            exchange.fail(outcome, Failure.model_validate(detail) if detail else None)
        elif exchange.inbox is not None:
            exchange.inbox.close()
        elif not exchange.head.done():
            exchange.head.set_result(detail)

    def _over(self, exchange: Exchange) -> None:
        exchange.is_over = True
        del self.exchanges[exchange.number]
        if self.history is not None and self.history.is_watching and not exchange.is_inner:
            self.history.over(exchange.ray, self.pid)
        if self.on_idle is not None and not self.exchanges:
            self.on_idle(self)

    def _noted(self, frame: Frame) -> None:
        _, _, name, value = frame
        if name == "pong":
            self.answered = time.monotonic()
            if value is not None:
                self.tally = value
        elif self.ready.done():
            return
        elif name == "ready":
            ready = Ready.model_validate_json(value)
            self.ready.set_result(ready)
            if self.history is not None:
                self.history.isolate_ready(self, ready.boot_ms)
        elif name == "failed":
            failure = NotReady.model_validate_json(value).failure
            self.ready.set_exception(EventFailed("exception", self.pid, failure))

    def _closed(self, _error: Exception | None) -> None:
        self.is_gone = True
        if self.outgoing is not None:
            self.outgoing.end()
        exchanges, self.exchanges = self.exchanges, {}
        if self.history is not None:
            self.history.isolate_ended(self, {n: one.ray for n, one in exchanges.items()})
        for exchange in exchanges.values():
            exchange.is_over = True
            exchange.fail(self.doom)
        if not self.ready.done():
            self.ready.set_exception(EventFailed(self.doom, self.pid))
            self.ready.exception()
        self._on_gone(self)
