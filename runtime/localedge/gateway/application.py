"""The route to the worker: a raw ASGI callable, because a framework here halves the rate."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any, Final

from localedge.gateway.connection import CONNECTION, Connection
from localedge.gateway.journal import Journal
from localedge.gateway.pages import Line, Trouble, page_for
from localedge.gateway.requests import HOP_BY_HOP, BadRequest, Request, Scope
from localedge.supervisor.generation import NotServing
from localedge.supervisor.history import Closing, History
from localedge.supervisor.isolates import EventFailed, Exchange
from localedge.supervisor.pool import Pool
from localedge.supervisor.stories import MOST_BODY_BYTES as MOST_KEPT_BYTES

logger = logging.getLogger(__name__)

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
_FRAMING: Final = frozenset((*HOP_BY_HOP, b"content-length"))


class BodyTooLarge(Exception):  # noqa: N818  (the client's doing)
    """The request's body is larger than `MOST_BODY_BYTES`."""


class Gateway:
    """HTTP to the workers of one supervisor: `pool` has the port.

    Shape: `control` makes the application of the control endpoints, when one is first asked for;
    paths in `control_paths` are its own too. `journal` and `history` are told of each request that
    was answered.
    """

    def __init__(
        self,
        pool: Pool,
        control: Callable[[], Application],
        *,
        control_paths: Collection[str] = (),
        journal: Journal | None = None,
        history: History | None = None,
    ) -> None:
        self._pool = pool
        self._history = history
        self._control_paths = frozenset(control_paths)
        self._journal = journal
        self._make_control = control
        self._control: Application | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            await self._serve(scope, receive, send)
        except asyncio.CancelledError:
            connection = scope.get(CONNECTION)
            if connection is None:
                raise
            # The server ends and has waited long enough: the client sees that, nobody else need.
            connection.cut()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path.startswith(CONTROL_PREFIX) or path in self._control_paths:
            if self._control is None:
                self._control = self._make_control()
            await self._control(scope, receive, send)
            return
        connection: Connection | None = scope.get(CONNECTION)
        if connection is not None and connection.is_lost:
            return
        try:
            request = Request(scope, self._pool.project.secrets)
        except BadRequest as bad:
            await _send_text(send, 400, f"Bad request: {bad}.\n")
            return
        if await self._is_a_file(request, scope, send):
            return
        try:
            exchange = await self._start(request, receive)
        except BodyTooLarge:
            await self._refuse(request, request.trouble("bodyTooLarge", status=413), send)
            return
        except NotServing as broken:
            await self._refuse(request, request.trouble("notLoaded", failure=broken.failure), send)
            return
        except EventFailed as failed:
            await self._refuse(request, _trouble(request, failed), send)
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

    async def _is_a_file(self, request: Request, scope: Scope, send: Send) -> bool:
        assets = self._pool.project.attached.assets
        if assets is None:
            return False
        # Few workers have files; the others do not pay for the import.
        from localedge.gateway.static import answered_by_files

        return await answered_by_files(assets, request, scope, send, self._noted)

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
            if body is not True and len(message["body"]) <= MOST_KEPT_BYTES:
                request.body = message["body"]
        if request.location is not None:
            isolate = await self._pool.at(request.location)
        else:
            isolate = self._pool.pick() or await self._pool.acquire()
        exchange = isolate.fetch(request.method, request.url, request.lines, body, request.ray)
        if body is True:
            exchange.first_piece = message["body"]
        if self._history is not None and self._history.is_watching:
            self._history.opened(request, isolate.pid)
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
            uploading = asyncio.ensure_future(_upload(request, exchange, receive))
        outcome = "ok"
        try:
            status, lines, body = await exchange.head
            if body is not None:
                await _send_whole(request, exchange, status, lines, body, send)
            else:
                outcome = await _send_stream(request, exchange, status, lines, send, connection)
            told = Closing(status, outcome, exchange.isolate.pid, None, lines, body)
            self._noted(request, told)
        except EventFailed as failed:
            await self._refuse(request, _trouble(request, failed), send)
        except asyncio.CancelledError:
            exchange.cancel()
            raise
        finally:
            if uploading is not None:
                uploading.cancel()

    async def _refuse(self, request: Request, trouble: Trouble, send: Send) -> None:
        _log(request, trouble)
        page = page_for(trouble, request.header(b"accept"))
        await send({"type": "http.response.start", "status": page.status, "headers": page.lines})
        await send({"type": "http.response.body", "body": page.body, "more_body": False})
        told = Closing(page.status, trouble.outcome, trouble.pid, trouble.failure, page.lines)
        self._noted(request, told)

    def _noted(self, request: Request, closing: Closing) -> None:
        if self._journal is not None:
            self._journal.note(request, closing.status)
        if self._history is not None:
            self._history.closed(request, closing)


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
) -> str:
    """The outcome, once the response is out or cut off."""
    # A length that the worker claims of a stream is not believed, as on the platform.
    dropped = HOP_BY_HOP if request.method == "HEAD" else _FRAMING
    kept = [line for line in lines if line[0] not in dropped]
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
        return failed.outcome
    await send({"type": "http.response.body", "body": b"", "more_body": False})
    return "ok"


async def _upload(request: Request, exchange: Exchange, receive: Receive) -> None:
    piece, more = exchange.first_piece or b"", True
    total = 0
    kept: bytearray | None = bytearray()
    while True:
        total += len(piece)
        if total > MOST_KEPT_BYTES:
            kept = None
        elif kept is not None:
            kept += piece
        if total > MOST_BODY_BYTES:
            exchange.fail("bodyTooLarge")
            exchange.cancel()
            return
        if piece:
            await exchange.send_body(piece)
        if not more:
            exchange.end_body()
            request.body = None if kept is None else bytes(kept)
            return
        message = await receive()
        if message["type"] != "http.request":
            return
        piece, more = message.get("body", b""), message.get("more_body", False)


def _trouble(request: Request, failed: EventFailed) -> Trouble:
    status = 413 if failed.outcome == "bodyTooLarge" else 500
    return request.trouble(failed.outcome, pid=failed.pid, failure=failed.failure, status=status)


async def _send_text(send: Send, status: int, text: str) -> None:
    body = text.encode()
    lines = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
        # What follows it on this connection may be what another reader took for its body.
        (b"connection", b"close"),
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
            "url": trouble.url,
            "ray": request.ray,
            "outcome": trouble.outcome,
            "pid": trouble.pid,
            "traceback": trouble.failure.text if trouble.failure else None,
        },
    )
