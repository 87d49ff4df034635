"""Outgoing requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Final

from localedge.errors import JsException, js_type_error
from localedge.probe import Call
from localedge.sdk.context import current
from localedge.sdk.host import Host, host
from localedge.sdk.tracing import PARENT, outgoing
from localedge.sdk.web.request import Request, new_request
from localedge.sdk.web.response import NULL_BODY_STATUSES, REDIRECT_STATUSES, Response
from localedge.sdk.web.url import URL
from localedge.stream import ReadableStream
from localedge.values import UNDEFINED

if TYPE_CHECKING:
    import httpx

MAX_REDIRECTS: Final = 20
_TIMEOUTS_S: Final = {"connect": 10.0, "read": 100.0, "write": 100.0, "pool": 30.0}
_HOP_BY_HOP: Final = frozenset(
    {"connection", "host", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"}
)
_ONE_TIME_BODY: Final = (
    "A request with a one-time-use body (it was initialized from a stream, not a buffer) "
    "encountered a redirect requiring the body to be retransmitted. To avoid this error in the "
    "future, construct this request from a buffer-like body initializer."
)


async def fetch(input: Any, init: Any = UNDEFINED) -> Response:
    """`fetch(input, init)`: the response, its body still on the way.

    Errors: a JavaScript TypeError for a bad request, an Error when the network fails.
    Source: fetch.spec.whatwg.org and developers.cloudflare.com/workers/runtime-apis/fetch, read
    2026-12-01.
    """
    request = new_request(input, init)
    if not request.url.startswith(("http:", "https:")):
        raise js_type_error(f"Fetch API cannot load: {request.url}")
    here = host()
    call = Call("fetch", "", "fetch", (request.method, request.url))
    return await here.probe.run(call, lambda: _follow(here, request))


async def _follow(here: Host, request: Request) -> Response:
    redirected = False
    for _ in range(MAX_REDIRECTS + 1):
        response = await _send(here, request)
        location = response.headers.get("location")
        if (
            request.redirect == "manual"
            or response.status not in REDIRECT_STATUSES
            or location is None
        ):
            response.redirected = redirected
            return response
        await _discard(response)
        request = _next(request, response.status, location)
        redirected = True
    raise js_type_error("Too many redirects.")


def _next(request: Request, status: int, location: str) -> Request:
    target = URL(location, request.url)
    headers = request.headers.copy()
    if target.origin != URL(request.url).origin:
        headers.delete("authorization")
    body = request.body
    method = request.method
    if (status in (301, 302) and method == "POST") or (
        status == 303 and method not in ("GET", "HEAD")
    ):
        method, body = "GET", None
        for name in ("content-type", "content-length", "content-encoding"):
            headers.delete(name)
    if isinstance(body, ReadableStream):
        raise js_type_error(_ONE_TIME_BODY)
    following = Request(method, target.href, headers.raw(), body, request.cf)
    following.redirect = request.redirect
    return following


async def _send(here: Host, request: Request) -> Response:
    import httpx

    outgoing = httpx.Request(
        request.method,
        request.url.partition("#")[0],
        headers=_outgoing_headers(request),
        content=_content(request),
        extensions={"timeout": _TIMEOUTS_S},
    )
    try:
        answer = await here.network().handle_async_request(outgoing)
    except httpx.TimeoutException as error:
        raise JsException("The operation timed out.", name="TimeoutError") from error
    except httpx.TransportError as error:
        raise JsException("Network connection lost.") from error
    answer.request = outgoing
    return _incoming(request, answer)


def _content(request: Request) -> Any:
    if request.body is None:
        return b"" if request.method in ("POST", "PUT", "PATCH") else None
    if isinstance(request.body, bytes):
        return request.body
    return aiter(request.body)


def _outgoing_headers(request: Request) -> list[tuple[bytes, bytes]]:
    keeps_length = isinstance(request.body, ReadableStream)
    pairs = [
        (name.encode(), value.encode())
        for name, value in request.headers.raw()
        if name not in _HOP_BY_HOP and (keeps_length or name != "content-length")
    ]
    if not request.headers.has(PARENT):
        pairs += [(name.encode(), value.encode()) for name, value in outgoing()]
    if not request.headers.has("accept-encoding"):
        pairs.append((b"accept-encoding", b"gzip"))
    return pairs


def _incoming(request: Request, answer: httpx.Response) -> Response:
    # Differs: the body arrives decoded, so that the headers of its coding are left out; the
    # platform keeps them and decodes when the body is read.
    decoded = "content-encoding" in answer.headers
    pairs = [
        (name.decode("latin-1").lower(), value.decode("utf-8", "replace"))
        for name, value in answer.headers.raw
        if not (decoded and name.lower() in (b"content-encoding", b"content-length"))
        and name.lower() not in (b"transfer-encoding", b"connection")
    ]
    empty = request.method == "HEAD" or answer.status_code in NULL_BODY_STATUSES
    body = None if empty else ReadableStream(_pieces(answer))
    made = Response(body, max(200, answer.status_code), answer.reason_phrase, pairs)
    made.url = request.url
    context = current.get()
    if context is not None:
        context.at_end(answer.aclose)
    return made


async def _pieces(answer: httpx.Response) -> AsyncGenerator[bytes, None]:
    import httpx

    try:
        async for piece in answer.aiter_bytes():
            if piece:
                yield piece
    except httpx.TransportError as error:
        raise JsException("Network connection lost.") from error
    finally:
        await asyncio.shield(answer.aclose())


async def _discard(response: Response) -> None:
    if isinstance(response.body, ReadableStream):
        async for _ in response.body:
            pass
