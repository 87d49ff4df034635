"""The route to the worker: a raw ASGI callable, because a framework here halves the rate."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from random import getrandbits
from typing import Any, Final

from localedge.gateway.connection import CONNECTION, Connection
from localedge.gateway.pages import Line, Trouble, page_for
from localedge.supervisor.generation import NotServing
from localedge.supervisor.isolates import EventFailed, Exchange
from localedge.supervisor.pool import Pool

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY_BYTES: Final = 100_000_000
"""100 MB, decimal as the platform counts MB elsewhere; one byte more is a 413.

Source: kv-d1-contract section 5 ("request body 100 MB"), read 2026-12-01.
"""
CONTROL_PREFIX: Final = "/cdn-cgi/"
_OUTCOME_OK: Final[Line] = (b"x-localedge-outcome", b"ok")
_LOCATION: Final = b"x-localedge-location"
_LONGEST_LOCATION: Final = 64
_HOP_BY_HOP: Final = frozenset(
    (b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade")
)
_FRAMING: Final = frozenset((*_HOP_BY_HOP, b"content-length"))


class BodyTooLarge(Exception):  # noqa: N818  (the client's doing)
    """The request's body is larger than `MOST_BODY_BYTES`."""


class BadRequest(Exception):  # noqa: N818  (the client's doing)
    """The request cannot be understood. Shape: the text says why."""


class Request:
    """What the gateway reads of a request before the worker gets it.

    Shape: `lines` are the headers without those that belong to the connection; `size_bytes` is the
    announced size of the body, None when it has none, -1 when it is not announced; `location` the
    one that the request names.
    """

    __slots__ = ("lines", "location", "method", "ray", "size_bytes", "url")

    def __init__(self, scope: Scope) -> None:
        host: bytes | None = None
        self.size_bytes: int | None = None
        self.location: str | None = None
        lines: list[Line] = scope["headers"]
        for name, value in lines:
            if name == b"host":
                if host is not None:
                    raise BadRequest("the request has two Host headers")
                host = value
            elif name == b"content-length":
                self.size_bytes = int(value)
            elif name == _LOCATION:
                self.location = value.decode("latin-1")[:_LONGEST_LOCATION]
            elif name in _HOP_BY_HOP:
                if name == b"transfer-encoding":
                    self.size_bytes = -1
                lines = [line for line in lines if line[0] not in _HOP_BY_HOP]
        if host is None:
            raise BadRequest("the request has no Host header")
        self.lines = lines
        self.method: str = scope["method"]
        query = scope["query_string"]
        target = scope["raw_path"] + b"?" + query if query else scope["raw_path"]
        self.url = (b"http://" + host + target).decode("latin-1")
        self.ray = f"{getrandbits(64):016x}"

    def header(self, wanted: bytes) -> str:
        """The value of a header, "" when there is none."""
        return next((v.decode("latin-1") for n, v in self.lines if n == wanted), "")

    def trouble(self, outcome: str, **known: Any) -> Trouble:
        """Why this request has no response."""
        return Trouble(outcome, self.method, self.url, self.ray, **known)


class Gateway:
    """HTTP to the workers of one supervisor: `pool` has the port.

    Shape: `control` makes the application of the control endpoints, when one is first asked for.
    """

    def __init__(self, pool: Pool, control: Callable[[], Application]) -> None:
        self._pool = pool
        self._make_control = control
        self._control: Application | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["path"].startswith(CONTROL_PREFIX):
            if self._control is None:
                self._control = self._make_control()
            await self._control(scope, receive, send)
            return
        connection: Connection | None = scope.get(CONNECTION)
        if connection is not None and connection.is_lost:
            return
        try:
            request = Request(scope)
        except BadRequest as bad:
            await _send_text(send, 400, f"Bad request: {bad}.\n")
            return
        try:
            exchange = await self._start(request, receive)
        except BodyTooLarge:
            await _refuse(request, request.trouble("bodyTooLarge", status=413), send)
            return
        except NotServing as broken:
            await _refuse(request, request.trouble("notLoaded", failure=broken.failure), send)
            return
        except EventFailed as failed:
            await _refuse(request, _trouble(request, failed), send)
            return
        if exchange is None:
            return
        if connection is not None:
            connection.on_disconnect = exchange.cancel
        try:
            await self._answer(request, exchange, receive, send, connection)
        finally:
            if connection is not None:
                connection.on_disconnect = None

    async def _start(self, request: Request, receive: Receive) -> Exchange | None:
        body: bytes | bool | None = None
        size = request.size_bytes
        if size is not None:
            if size > MOST_BODY_BYTES:
                raise BodyTooLarge
            message = await receive()
            if message["type"] != "http.request":
                return None
            body = True if message.get("more_body") else message["body"]
        if request.location is not None:
            isolate = await self._pool.at(request.location)
        else:
            isolate = self._pool.pick() or await self._pool.acquire()
        exchange = isolate.fetch(request.method, request.url, request.lines, body, request.ray)
        if body is True:
            exchange.first_piece = message["body"]
        return exchange

    async def _answer(
        self,
        request: Request,
        exchange: Exchange,
        receive: Receive,
        send: Send,
        connection: Connection | None,
    ) -> None:
        uploading = None
        if exchange.first_piece is not None:
            uploading = asyncio.ensure_future(_upload(exchange, receive))
        try:
            status, lines, body = await exchange.head
            if body is not None:
                await _send_whole(request, exchange, status, lines, body, send)
            else:
                await _send_stream(request, exchange, status, lines, send, connection)
        except EventFailed as failed:
            await _refuse(request, _trouble(request, failed), send)
        except asyncio.CancelledError:
            exchange.cancel()
            raise
        finally:
            if uploading is not None:
                uploading.cancel()


async def _send_whole(
    request: Request,
    exchange: Exchange,
    status: int,
    lines: tuple[Line, ...],
    body: bytes,
    send: Send,
) -> None:
    kept = [line for line in lines if line[0] not in _FRAMING]
    if status >= 200 and status != 204 and status != 304:
        length = b"%d" % len(body)
        if request.method == "HEAD":
            length = next((v for n, v in lines if n == b"content-length"), length)
        kept.append((b"content-length", length))
    kept += (_OUTCOME_OK, exchange.isolate.header)
    await send({"type": "http.response.start", "status": status, "headers": kept})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _send_stream(
    request: Request,
    exchange: Exchange,
    status: int,
    lines: tuple[Line, ...],
    send: Send,
    connection: Connection | None,
) -> None:
    kept = [line for line in lines if line[0] not in _HOP_BY_HOP]
    kept.append(exchange.isolate.header)
    await send({"type": "http.response.start", "status": status, "headers": kept})
    assert exchange.inbox is not None
    try:
        while (piece := await exchange.inbox.get()) is not None:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except EventFailed as failed:
        _log(request, _trouble(request, failed))
        if connection is not None:
            connection.cut()
        return
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _upload(exchange: Exchange, receive: Receive) -> None:
    piece, more = exchange.first_piece or b"", True
    total = 0
    while True:
        total += len(piece)
        if total > MOST_BODY_BYTES:
            exchange.fail("bodyTooLarge")
            exchange.cancel()
            return
        if piece:
            await exchange.send_body(piece)
        if not more:
            exchange.end_body()
            return
        message = await receive()
        if message["type"] != "http.request":
            return
        piece, more = message.get("body", b""), message.get("more_body", False)


def _trouble(request: Request, failed: EventFailed) -> Trouble:
    status = 413 if failed.outcome == "bodyTooLarge" else 500
    return request.trouble(failed.outcome, pid=failed.pid, failure=failed.failure, status=status)


async def _refuse(request: Request, trouble: Trouble, send: Send) -> None:
    _log(request, trouble)
    page = page_for(trouble, request.header(b"accept"))
    await send({"type": "http.response.start", "status": page.status, "headers": page.lines})
    await send({"type": "http.response.body", "body": page.body, "more_body": False})


async def _send_text(send: Send, status: int, text: str) -> None:
    body = text.encode()
    lines = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
    ]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _log(request: Request, trouble: Trouble) -> None:
    # A client that went away is an ordinary day.
    level = logging.INFO if trouble.outcome == "canceled" else logging.ERROR
    logger.log(
        level,
        "request failed",
        extra={
            "method": request.method,
            "url": request.url,
            "ray": request.ray,
            "outcome": trouble.outcome,
            "pid": trouble.pid,
            "traceback": trouble.failure.text if trouble.failure else None,
        },
    )
