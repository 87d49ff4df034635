"""Streams that worker code makes: ReadableStream, WritableStream, TransformStream.

Source: streams.spec.whatwg.org, read 2026-12-01.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from typing import Any, ClassVar

from localedge import jsmembers
from localedge.coercion import js_string
from localedge.errors import JsException, js_type_error
from localedge.stream import ReadableStream
from localedge.values import UNDEFINED, JsErrorValue, JsObject, JsPromise, PyObject


async def settled(value: Any) -> Any:
    """What a callback of worker code gave, awaited if it is a promise or a Python awaitable."""
    if isinstance(value, JsPromise):
        return await value.future
    if isinstance(value, PyObject) and hasattr(value.value, "__await__"):
        return await value.value
    return value


def as_error(reason: Any) -> JsException:
    """What `reason`, given to `abort` or `error`, raises."""
    if isinstance(reason, JsErrorValue):
        return JsException(reason.message, name=reason.name)
    if isinstance(reason, JsException):
        return reason
    return JsException("" if reason is UNDEFINED else js_string(reason))


def member(source: Any, name: str) -> Any:
    """The member `name` of an object or of a Python object that stands for one; else None."""
    if isinstance(source, dict):
        return source.get(name)
    if isinstance(source, PyObject):
        found = getattr(source.value, name, None)
        return None if found is None else PyObject(found)
    return None


class Controller(JsObject):
    """What a source gives its pieces to."""

    __slots__ = ("_changed", "_closed", "_error", "queue")
    js_class = "ReadableStreamDefaultController"
    js_methods: ClassVar[Mapping[str, str]] = {
        "close": "close",
        "enqueue": "enqueue",
        "error": "error",
        "terminate": "close",
    }
    js_properties: ClassVar[Mapping[str, str]] = {"desiredSize": "desired_size"}

    def __init__(self) -> None:
        self.queue: deque[Any] = deque()
        self._closed = False
        self._error: JsException | None = None
        self._changed = asyncio.Event()

    @property
    def desired_size(self) -> int:
        """How many pieces more the stream wants now."""
        return 1 - len(self.queue)

    def enqueue(self, chunk: Any = UNDEFINED) -> None:
        """`chunk` is the stream's next piece."""
        if self._closed:
            raise js_type_error("The stream is closed: nothing can be enqueued.")
        self.queue.append(chunk)
        self._changed.set()

    def close(self) -> None:
        """The stream ends after what is queued."""
        self._closed = True
        self._changed.set()

    def error(self, reason: Any = UNDEFINED) -> None:
        """The stream ends with an error."""
        self._error = as_error(reason)
        self._changed.set()

    def ended(self) -> bool:
        """Whether nothing more will come; raises the source's error."""
        if self._error is not None:
            raise self._error
        return self._closed and not self.queue

    async def changed(self) -> None:
        """Something was enqueued, or the end is known."""
        self._changed.clear()
        if not self.queue and not self._closed and self._error is None:
            await self._changed.wait()


def new_readable(source: Any = UNDEFINED, _strategy: Any = UNDEFINED) -> ReadableStream:
    """`new ReadableStream({start, pull, cancel})`."""
    controller = Controller()
    start = member(source, "start")
    begun = jsmembers.invoke(start, controller) if start is not None else UNDEFINED
    return ReadableStream(_pulled(controller, source, begun))


async def _pulled(controller: Controller, source: Any, begun: Any) -> AsyncGenerator[Any, None]:
    pull, cancel = member(source, "pull"), member(source, "cancel")
    starting = asyncio.ensure_future(settled(begun))
    is_whole = False
    try:
        if pull is not None:
            await starting
        while not controller.ended():
            if controller.queue:
                yield controller.queue.popleft()
            elif pull is not None:
                await settled(jsmembers.invoke(pull, controller))
                if not controller.queue:
                    await controller.changed()
            else:
                await controller.changed()
        is_whole = True
    finally:
        if not is_whole and cancel is not None and controller._error is None:
            await settled(jsmembers.invoke(cancel, UNDEFINED))


class WritableStream(JsObject):
    """Takes pieces one by one.

    Shape: `sink` does with each what the stream is for.
    """

    __slots__ = ("_sink", "locked")
    js_class = "WritableStream"
    js_methods: ClassVar[Mapping[str, str]] = {
        "abort": "abort",
        "close": "close",
        "getWriter": "get_writer",
    }
    js_properties: ClassVar[Mapping[str, str]] = {"locked": "locked"}

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.locked = False

    def get_writer(self) -> Writer:
        """The stream's only writer."""
        if self.locked:
            raise js_type_error("This WritableStream is currently locked to a writer.")
        self.locked = True
        return Writer(self, self._sink)

    async def abort(self, reason: Any = UNDEFINED) -> None:
        """The stream ends with an error."""
        await self._sink.abort(reason)

    async def close(self) -> None:
        """The stream ends."""
        await self._sink.close()


class Sink:
    """Where a WritableStream's pieces go: nowhere, until a subclass says."""

    async def write(self, chunk: Any) -> None:
        """`chunk` was taken."""

    async def close(self) -> None:
        """There will be no more."""

    async def abort(self, reason: Any) -> None:
        """There will be no more, because of `reason`."""


class CallbackSink(Sink):
    """The callbacks of `new WritableStream({write, close, abort})`."""

    def __init__(self, target: Any) -> None:
        self._target = target

    async def write(self, chunk: Any) -> None:
        """`chunk` was taken."""
        await self._call("write", chunk, UNDEFINED)

    async def close(self) -> None:
        """There will be no more."""
        await self._call("close")

    async def abort(self, reason: Any) -> None:
        """There will be no more, because of `reason`."""
        await self._call("abort", reason)

    async def _call(self, name: str, *arguments: Any) -> None:
        callback = member(self._target, name)
        if callback is not None:
            await settled(jsmembers.invoke(callback, *arguments))


def new_writable(target: Any = UNDEFINED, _strategy: Any = UNDEFINED) -> WritableStream:
    """`new WritableStream({start, write, close, abort})`."""
    start = member(target, "start")
    if start is not None:
        jsmembers.invoke(start, UNDEFINED)
    return WritableStream(CallbackSink(target))


class Writer(JsObject):
    """Writes to a stream, one piece after the other."""

    __slots__ = ("_lock", "_sink", "_stream")
    js_class = "WritableStreamDefaultWriter"
    js_methods: ClassVar[Mapping[str, str]] = {
        "abort": "abort",
        "close": "close",
        "releaseLock": "release_lock",
        "write": "write",
    }
    js_properties: ClassVar[Mapping[str, str]] = {"desiredSize": "desired_size"}
    desired_size: ClassVar[int] = 1

    def __init__(self, stream: WritableStream, sink: Sink) -> None:
        self._stream = stream
        self._sink = sink
        self._lock = asyncio.Lock()

    async def write(self, chunk: Any = UNDEFINED) -> None:
        """`chunk` was taken."""
        async with self._lock:
            await self._sink.write(chunk)

    async def close(self) -> None:
        """There will be no more."""
        async with self._lock:
            await self._sink.close()

    async def abort(self, reason: Any = UNDEFINED) -> None:
        """There will be no more, because of `reason`."""
        await self._sink.abort(reason)

    def release_lock(self) -> None:
        """The stream can be taken by someone else."""
        self._stream.locked = False
