"""One request through an ASGI application.

Source: asgi.readthedocs.io/en/latest/specs/www.html, read 2026-12-01.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from localedge.sdk import stack_switch, web
from localedge.sdk.web.response import NULL_BODY_STATUSES
from localedge.stream import ReadableStream
from workers.asgi_lifespan import VERSIONS

logger = logging.getLogger("asgi")

_END: Final = object()


def platform_request(req: Any) -> web.Request:
    """The platform's Request of a `workers.Request` or of its `js_object`.

    Errors: TypeError for anything else.
    """
    inner = getattr(req, "_js", None)
    if not isinstance(inner, web.Request):
        raise TypeError(f"Expected a Request, not {type(req).__name__}")
    return inner


def scope_of(request: web.Request, env: Any, state: dict[str, Any] | None) -> dict[str, Any]:
    """The ASGI scope of `request`; `scope["env"]` is `env`."""
    url = urlsplit(request.url)
    path = url.path or "/"
    scope: dict[str, Any] = {
        "asgi": VERSIONS,
        "env": env,
        "headers": [
            (name.encode(), value.strip().encode()) for name, value in request.headers.entries()
        ],
        "http_version": "1.1",
        "method": request.method,
        "path": unquote(path),
        "query_string": url.query.encode(),
        "raw_path": path.encode(),
        "scheme": url.scheme,
        "type": "http",
    }
    if state is not None:
        scope["state"] = dict(state)
    return scope


async def process(
    app: Any, req: Any, env: Any, state: dict[str, Any] | None
) -> tuple[web.Response, asyncio.Task[None]]:
    """The response of `app`, and the task in which the application runs.

    Shape: the task is done unless the response is streamed.
    """
    request = platform_request(req)
    exchange = _Exchange(request)
    scope = scope_of(request, env, state)
    running = asyncio.get_running_loop().create_task(
        stack_switch.switchable(exchange.run(app, scope))
    )
    try:
        response = await exchange.response
    except asyncio.CancelledError:
        running.cancel()
        raise
    except Exception:
        await running
        raise
    if not exchange.is_streaming:
        await running
    return response, running


class _Exchange:
    """What one application call receives and sends."""

    def __init__(self, request: web.Request) -> None:
        self.response: asyncio.Future[web.Response] = asyncio.get_running_loop().create_future()
        self.is_streaming = False
        self._body = _pieces(request)
        self._is_received = False
        self._over = asyncio.Event()
        self._start: dict[str, Any] | None = None
        self._pieces: asyncio.Queue[Any] = asyncio.Queue(maxsize=1)

    async def run(self, app: Any, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self.receive, self.send)
            if not self.response.done():
                self.response.set_exception(
                    RuntimeError("The application did not generate a response")
                )
        except Exception as error:  # the boundary of the application
            if not self.response.done():
                self.response.set_exception(error)
            else:
                logger.exception("Exception in ASGI application after response started")
        finally:
            await self._end()

    async def _end(self) -> None:
        if self.is_streaming and not self._over.is_set():
            await self._offer(_END)
        self._over.set()

    async def receive(self) -> dict[str, Any]:
        if self._is_received:
            await self._over.wait()
            return {"type": "http.disconnect"}
        piece = await anext(self._body, None)
        if piece is None:
            self._is_received = True
        return {"body": piece or b"", "more_body": piece is not None, "type": "http.request"}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        elif message["type"] == "http.response.body":
            await self._send_body(bytes(message.get("body", b"")), message.get("more_body", False))

    async def _send_body(self, body: bytes, more: bool) -> None:
        if self.is_streaming:
            if body:
                await self._offer(body)
            if not more:
                await self._offer(_END)
                self._over.set()
            return
        if more:
            self.is_streaming = True
            self._answer(ReadableStream(self._streamed()))
            if body:
                await self._offer(body)
            return
        self._answer(body)
        self._over.set()

    def _answer(self, body: bytes | ReadableStream) -> None:
        start = self._start
        if start is None:
            raise RuntimeError("http.response.body came before http.response.start")
        status = start["status"]
        pairs = [(name.decode(), value.decode()) for name, value in start.get("headers", [])]
        content = None if status in NULL_BODY_STATUSES else body
        if not self.response.done():
            headers = web.Headers(pairs).raw()
            self.response.set_result(web.Response(content, status, "", headers))

    async def _offer(self, piece: Any) -> None:
        """Hand `piece` to the client, unless it has gone."""
        if self._over.is_set():
            return
        if not self._pieces.full():
            self._pieces.put_nowait(piece)
            return
        putting = asyncio.ensure_future(self._pieces.put(piece))
        leaving = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait((putting, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            putting.cancel()
            leaving.cancel()

    async def _streamed(self) -> AsyncGenerator[bytes, None]:
        try:
            while (piece := await self._pieces.get()) is not _END:
                yield piece
        finally:
            # The client has all of it, or has gone: an application that asks learns of that.
            self._over.set()


async def _pieces(request: web.Request) -> AsyncIterator[bytes]:
    body = request.body
    if isinstance(body, ReadableStream):
        async for piece in body:
            yield piece
    elif body:
        yield await request.read()
