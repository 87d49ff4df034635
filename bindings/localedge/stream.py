"""A ReadableStream, which KV, bodies and `fetch` share."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, ClassVar

from localedge.errors import JsException, js_type_error
from localedge.values import UNDEFINED, JsBuffer, JsObject, Uint8Array

LOCKED_TEXT = "This ReadableStream is currently locked to a reader."


class ReadableStream(JsObject):
    """Values, nearly always bytes, that arrive piece by piece and can be read once.

    Shape: `chunks` yields them; `locked` is true from the first read on, `disturbed` once
    something was read or cancelled.
    Errors: a JavaScript TypeError for a second reader.
    """

    js_class = "ReadableStream"
    js_methods: ClassVar[Mapping[str, str]] = {
        "cancel": "cancel",
        "getReader": "get_reader",
        "pipeThrough": "pipe_through",
        "pipeTo": "pipe_to",
        "tee": "tee",
    }
    js_properties: ClassVar[Mapping[str, str]] = {"locked": "locked"}

    def __init__(self, chunks: AsyncIterator[Any]) -> None:
        self._chunks = chunks
        self.locked = False
        self.disturbed = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        """The pieces as bytes.

        Errors: a JavaScript TypeError for a piece that is no bytes.
        """
        return _as_bytes(self._take())

    def js_items(self) -> AsyncIterator[Any]:
        """The pieces as worker code sees them: bytes as Uint8Array."""
        return _as_arrays(self._take())

    def get_reader(self, _options: Any = UNDEFINED) -> ReadableStreamReader:
        """The stream's only reader."""
        return ReadableStreamReader(self, self._take())

    def _take(self) -> AsyncIterator[Any]:
        if self.locked:
            raise js_type_error(LOCKED_TEXT)
        self.locked = self.disturbed = True
        return self._chunks

    async def cancel(self, _reason: Any = UNDEFINED) -> None:
        """Nobody wants the rest: the source is told so."""
        if self.locked:
            raise js_type_error(LOCKED_TEXT)
        self.disturbed = True
        await end(self._chunks)

    def tee(self) -> list[ReadableStream]:
        """Two streams with the same pieces, of which the faster reader sets the pace."""
        source = _Tee(self._take())
        return [ReadableStream(source.branch(0)), ReadableStream(source.branch(1))]

    async def pipe_to(self, destination: Any, _options: Any = UNDEFINED) -> None:
        """Every piece was written to `destination`, which is then closed, or aborted."""
        writer = destination.get_writer()
        try:
            async for chunk in self.js_items():
                await writer.write(chunk)
        except JsException as error:
            await writer.abort(error)
            raise
        await writer.close()

    def pipe_through(self, transform: Any, _options: Any = UNDEFINED) -> Any:
        """What comes out of `transform`, a pair of `writable` and `readable`."""
        transform.writable.feed(self)
        return transform.readable


class ReadableStreamReader(JsObject):
    """Reads a stream piece by piece.

    Shape: `read` gives `{done, value}`.
    """

    __slots__ = ("_chunks", "_stream")
    js_class = "ReadableStreamDefaultReader"
    js_methods: ClassVar[Mapping[str, str]] = {
        "cancel": "cancel",
        "read": "read",
        "releaseLock": "release_lock",
    }

    def __init__(self, stream: ReadableStream, chunks: AsyncIterator[Any]) -> None:
        self._stream = stream
        self._chunks: AsyncIterator[Any] | None = chunks

    async def read(self) -> dict[str, Any]:
        """The next piece."""
        if self._chunks is None:
            raise js_type_error("This ReadableStream reader has been released.")
        try:
            chunk = await anext(self._chunks)
        except StopAsyncIteration:
            return {"done": True, "value": UNDEFINED}
        return {"done": False, "value": _as_array(chunk)}

    async def cancel(self, _reason: Any = UNDEFINED) -> None:
        """Nobody wants the rest: the source is told so."""
        if self._chunks is not None:
            await end(self._chunks)

    def release_lock(self) -> None:
        """The stream can be taken by someone else."""
        if self._chunks is not None:
            self._chunks = None
            self._stream.locked = False


async def end(chunks: AsyncIterator[Any]) -> None:
    """The source of `chunks` has stopped."""
    if isinstance(chunks, AsyncGenerator):
        await chunks.aclose()


async def _as_bytes(chunks: AsyncIterator[Any]) -> AsyncGenerator[bytes, None]:
    try:
        async for chunk in chunks:
            if isinstance(chunk, bytes):
                yield chunk
            elif isinstance(chunk, JsBuffer):
                yield bytes(chunk)
            else:
                raise js_type_error("This ReadableStream did not return bytes.")
    finally:
        await end(chunks)


async def _as_arrays(chunks: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    try:
        async for chunk in chunks:
            yield _as_array(chunk)
    finally:
        await end(chunks)


def _as_array(chunk: Any) -> Any:
    return Uint8Array(chunk) if isinstance(chunk, bytes) else chunk


class _Tee:
    """One source read by two branches, each of which has its own queue of what the other read."""

    def __init__(self, source: AsyncIterator[Any]) -> None:
        self._source = source
        self._reading = asyncio.Lock()
        self._queues: tuple[deque[Any], deque[Any]] = (deque(), deque())
        self._open = 2
        self._error: JsException | None = None

    async def branch(self, number: int) -> AsyncGenerator[Any, None]:
        own = self._queues[number]
        try:
            while await self._fill(own):
                yield own.popleft()
        finally:
            self._open -= 1
            if not self._open:
                await end(self._source)

    async def _fill(self, own: deque[Any]) -> bool:
        async with self._reading:
            if own:
                return True
            if self._error is not None:
                raise self._error
            try:
                chunk = await anext(self._source)
            except StopAsyncIteration:
                return False
            except JsException as error:
                self._error = error
                raise
            for queue in self._queues:
                queue.append(chunk)
            return True


async def one_chunk(value: bytes) -> AsyncIterator[bytes]:
    """`value` as the only piece of a stream."""
    if value:
        yield value
