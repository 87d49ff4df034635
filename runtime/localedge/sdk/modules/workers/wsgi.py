"""`workers.wsgi`: WSGI applications as workers.

Source: reference/python-workers.md 1.5 and workers-runtime-sdk `workers/wsgi.py`, read 2026-12-01.
"""

from __future__ import annotations

import asyncio
import io
import logging
import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from localedge.jsproxy import JsProxy
from localedge.sdk import stack_switch, web
from localedge.sdk.web.response import NULL_BODY_STATUSES
from localedge.stream import ReadableStream
from workers.asgi_request import platform_request
from workers.entrypoints import WorkerEntrypoint
from workers.gateway import BaseOptions

logger = logging.getLogger("wsgi")


async def fetch(
    app: Any,
    req: Any,
    env: Any,
    ctx: Any = None,
    *,
    options: BaseOptions | None = None,
    serialize: bool = False,
) -> JsProxy:
    """The application's response; its pieces are made as the client reads them.

    Shape: the application may call `run_sync`. With `serialize` one request of this isolate runs
    at a time, and each response is made whole.
    Errors: what the application raises before its first piece; RuntimeError when it does not
    call `start_response`.
    """
    del ctx
    request = platform_request(req)
    # Differs: the body is read before the application runs; the platform reads it as it asks.
    body = b"" if request.body is None else await request.read()
    environ = environ_of(request, env, body)
    if serialize:
        async with _one_at_a_time:
            response = await stack_switch.Switching(_respond(app, environ))
            if response.body is not None:
                response.body = await response.clone().read()
    else:
        response = await stack_switch.Switching(_respond(app, environ))
    response.encode_body = (options or BaseOptions()).encode_body
    return JsProxy(response)


_one_at_a_time: Final = asyncio.Lock()


def environ_of(request: web.Request, env: Any, body: bytes) -> dict[str, Any]:
    """The WSGI environ of `request`; `environ["workers.env"]` is `env`.

    Source: PEP 3333, read 2026-12-01.
    """
    url = urlsplit(request.url)
    environ: dict[str, Any] = {
        "PATH_INFO": unquote(url.path or "/").encode().decode("latin-1"),
        "QUERY_STRING": url.query,
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "SERVER_NAME": url.hostname or "localhost",
        "SERVER_PORT": str(url.port or (443 if url.scheme == "https" else 80)),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "workers.env": env,
        "wsgi.errors": sys.stderr,
        "wsgi.input": io.BytesIO(body),
        "wsgi.multiprocess": False,
        "wsgi.multithread": False,
        "wsgi.run_once": False,
        "wsgi.url_scheme": url.scheme,
        "wsgi.version": (1, 0),
    }
    for name, value in request.headers.entries():
        key = name.upper().replace("-", "_")
        key = key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    if body:
        environ.setdefault("CONTENT_LENGTH", str(len(body)))
    return environ


class _Start:
    """What the application told `start_response`."""

    def __init__(self) -> None:
        self.status: str | None = None
        self.headers: list[tuple[str, str]] = []
        self.written: list[bytes] = []

    def __call__(
        self, status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Callable[[bytes], None]:
        if self.status is not None and exc_info is None:
            raise AssertionError("start_response() called more than once")
        if self.status is not None and self.written:
            raise exc_info[1].with_traceback(exc_info[2])
        self.status, self.headers = status, headers
        return self.written.append


async def _respond(app: Any, environ: dict[str, Any]) -> web.Response:
    start = _Start()
    result: Iterable[bytes] = app(environ, start)

    def close() -> None:
        _close(result)
        environ["wsgi.input"].close()

    pieces = iter(result)
    try:
        # Many applications call `start_response` only when their first piece is made.
        first = next((piece for piece in pieces if piece), b"")
        if start.status is None:
            raise RuntimeError("The WSGI application did not call start_response()")
        code, _, reason = start.status.partition(" ")
        headers = web.Headers(start.headers).raw()
        has_body = int(code) not in NULL_BODY_STATUSES
        body = ReadableStream(_streamed(start.written, first, pieces, close)) if has_body else None
        response = web.Response(body, int(code), reason, headers)
    except BaseException:
        close()
        raise
    if not has_body:
        close()
    return response


async def _streamed(
    written: list[bytes], first: bytes, pieces: Iterator[bytes], close: Callable[[], None]
) -> AsyncGenerator[bytes, None]:
    try:
        for piece in (*written, first):
            if piece:
                yield piece
        while (made := await stack_switch.Switching(_next(pieces))) is not None:
            if made:
                yield made
    finally:
        close()


async def _next(pieces: Iterator[bytes]) -> bytes | None:
    return next(pieces, None)


def _close(result: Any) -> None:
    close = getattr(result, "close", None)
    if close is not None:
        close()


def entrypoint(app: Any) -> type[WorkerEntrypoint]:
    """The default entrypoint of a WSGI application: `Default = wsgi.entrypoint(app)`."""

    class Default(WorkerEntrypoint):
        async def fetch(self, request: Any) -> Any:
            return await fetch(app, request, self.env, self.ctx)

    return Default
