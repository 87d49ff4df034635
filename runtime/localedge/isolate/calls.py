"""What an isolate asks of others through the supervisor: other workers, counters they share.

Frames of such a call have a negative number, which the isolate gives (`wire` says the rest):

to the supervisor  (OPEN, -n, "fetch", service, entrypoint, props, method, url, headers, body, ray)
                   (OPEN, -n, "call", service, entrypoint, props, method, arguments, ray,
                   headers)
                   (OPEN, -n, "limit", namespace id, key, limit, period_s)
from there         (OPEN, -n, status, headers, body)   (END, -n, outcome, detail)
and, both ways, DATA, END, CREDIT and CANCEL as for events.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from localedge.errors import JsException
from localedge.isolate.ownership import EVENT
from localedge.isolate.rpc_values import pack, unpack
from localedge.isolate.wire import (
    CANCEL,
    CHUNK_BYTES,
    CREDIT,
    DATA,
    END,
    NOT_STARTED,
    OPEN,
    Frame,
    Inbox,
    Window,
)
from localedge.project.attached import Service
from localedge.sdk import web
from localedge.sdk.context import current
from localedge.sdk.fetcher import Fetcher
from localedge.sdk.tracing import PARENT, outgoing
from localedge.sdk.web.response import NULL_BODY_STATUSES
from localedge.stream import ReadableStream


class _Call:
    """One call under way.

    Shape: `answer` becomes (status, headers, body), or what the END frame said.
    """

    __slots__ = ("answer", "inbox", "window")

    def __init__(self) -> None:
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.inbox: Inbox | None = None
        self.window = Window()


class CallFailed(Exception):  # noqa: N818  (what happened to the call, not to us)
    """A call ended without its answer. Shape: `detail` is the failure of the other side."""

    def __init__(self, outcome: str, detail: dict[str, Any] | None) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.detail = detail


class Calls:
    """The calls of one isolate. Shape: `send` puts a frame on the way to the supervisor."""

    def __init__(self, send: Callable[[Frame], None]) -> None:
        self._send = send
        self._number = 0
        self._open: dict[int, _Call] = {}

    def received(self, frame: Frame) -> None:
        """Act on a frame of the supervisor whose number is ours."""
        call = self._open.get(frame[1])
        if call is None:
            return
        if frame[0] == OPEN:
            self._answered(frame[1], call, frame[2:])
        elif frame[0] == DATA and call.inbox is not None:
            call.inbox.put(frame[2])
        elif frame[0] == CREDIT:
            call.window.add(frame[2])
        elif frame[0] == END:
            self._ended(frame[1], call, frame[2], frame[3])

    async def ask(self, kind: str, *arguments: object) -> Any:
        """What the END frame of a call without bodies says. Errors: CallFailed."""
        number, call = self._begin()
        self._send((OPEN, number, kind, *arguments))
        try:
            return await call.answer
        finally:
            self._leave(number)

    async def fetch(self, target: Service, request: web.Request) -> web.Response:
        """The other worker's response. Errors: CallFailed."""
        number, call = self._begin()
        body = request.taken_body()
        is_whole = not isinstance(body, ReadableStream) and len(body or b"") <= CHUNK_BYTES
        pairs = request.headers.raw()
        if not request.headers.has(PARENT):
            pairs = [*pairs, *outgoing()]
        lines = as_lines(pairs)
        address = (target.service, target.entrypoint, target.props)
        what = (request.method, request.url, lines, body if is_whole else True, _ray())
        self._send((OPEN, number, "fetch", *address, *what))
        uploading = None if is_whole else asyncio.ensure_future(self._upload(number, call, body))
        if uploading is not None:
            uploading.add_done_callback(_told)
        try:
            status, headers, content = await call.answer
        except BaseException:
            self._leave(number)
            if uploading is not None:
                uploading.cancel()
            raise
        pairs = [(n.decode("latin-1"), v.decode("utf-8", "replace")) for n, v in headers]
        if content is None:
            content = self._streamed(number, call)
        elif not content and status in NULL_BODY_STATUSES:
            content = None
        response = web.Response(content, status, "", pairs)
        response.url = request.url
        return response

    def _begin(self) -> tuple[int, _Call]:
        self._number -= 1
        call = self._open[self._number] = _Call()
        return self._number, call

    def _answered(self, number: int, call: _Call, head: tuple[Any, ...]) -> None:
        if head[2] is None:
            call.inbox = Inbox(lambda size: self._send((CREDIT, number, size)))
        else:
            del self._open[number]
        if not call.answer.done():
            call.answer.set_result(head)

    def _ended(self, number: int, call: _Call, outcome: str, detail: Any) -> None:
        del self._open[number]
        failed = None if outcome == "ok" else CallFailed(outcome, detail)
        if call.inbox is not None:
            call.inbox.close(None if failed is None else _as_error(failed))
        elif call.answer.done():
            return
        elif failed is None:
            call.answer.set_result(detail)
        else:
            call.answer.set_exception(failed)
        call.window.add(1 << 62)

    def _leave(self, number: int) -> None:
        """Nobody waits for the rest of the call any more."""
        if self._open.pop(number, None) is not None:
            self._send((CANCEL, number))

    def _streamed(self, number: int, call: _Call) -> ReadableStream:
        async def close() -> None:
            self._leave(number)

        context = current.get()
        if context is not None:
            context.at_end(close)
        return ReadableStream(self._pieces(number, call))

    async def _pieces(self, number: int, call: _Call) -> AsyncIterator[bytes]:
        assert call.inbox is not None
        try:
            while (piece := await call.inbox.get()) is not None:
                yield piece
        finally:
            self._leave(number)

    async def _upload(self, number: int, call: _Call, body: bytes | ReadableStream | None) -> None:
        async for chunk in _chunks(body):
            for start in range(0, len(chunk), CHUNK_BYTES):
                piece = chunk[start : start + CHUNK_BYTES]
                await call.window.take(len(piece))
                self._send((DATA, number, piece))
        self._send((END, number))


def as_lines(pairs: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Headers as frames have them."""
    return [(name.encode("latin-1"), value.encode("utf-8")) for name, value in pairs]


async def _chunks(body: bytes | ReadableStream | None) -> AsyncIterator[bytes]:
    if isinstance(body, ReadableStream):
        async for chunk in body:
            yield bytes(chunk)
    elif body:
        yield body


def _told(task: asyncio.Future[None]) -> None:
    """A body that broke off is the other worker's to notice."""
    if not task.cancelled():
        task.exception()


def _ray() -> str:
    event = EVENT.get()
    return event.ray if event is not None else ""


def _as_error(failed: CallFailed) -> JsException:
    """How the platform shows the failure of a call to its caller."""
    if failed.detail is not None:
        return JsException(str(failed.detail["text"]).strip(), name="PythonError")
    return JsException(f"The other worker ended with {failed.outcome}.")


def service_binding(target: Service, calls: Calls | None) -> Fetcher:
    """`env.OTHER`: another worker's `fetch` and the methods of its entrypoint.

    Errors of its calls: JsException with what the other side raised, or that it is not running.
    """

    async def send(request: web.Request) -> web.Response:
        try:
            return await _running(calls).fetch(target, request)
        except CallFailed as failed:
            raise _shown(failed) from failed

    async def invoke(method: str, arguments: list[Any]) -> Any:
        address = (target.service, target.entrypoint, target.props)
        try:
            what = (method, pack(arguments), _ray(), as_lines(outgoing()))
            packed = await _running(calls).ask("call", *address, *what)
        except CallFailed as failed:
            raise _shown(failed) from failed
        return unpack(packed)

    def _running(calls: Calls | None) -> Calls:
        if calls is None:
            raise _shown(CallFailed(NOT_STARTED, None))
        return calls

    def _shown(failed: CallFailed) -> JsException:
        if failed.outcome != NOT_STARTED:
            return _as_error(failed)
        return JsException(
            f'env.{target.binding} is bound to the worker "{target.service}", which is not '
            "running here: start it too, with one -c for each worker's configuration."
        )

    return Fetcher(send, invoke)
