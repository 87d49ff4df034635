"""TransformStream: what is written to one end is read, changed, at the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any, ClassVar, Final

from localedge import jsmembers
from localedge.errors import JsException, js_type_error
from localedge.sdk.web.streams import Controller, Sink, WritableStream, as_error, member, settled
from localedge.stream import ReadableStream
from localedge.values import UNDEFINED, JsObject

_END: Final = object()


class _Pipe(Sink):
    """A queue of one piece between the two ends: a write waits until the piece is read.

    Source: developers.cloudflare.com/workers/runtime-apis/streams/transformstream ("identity
    transform streams have no queue: a write resolves when it was read"), read 2026-12-01.
    """

    def __init__(self, transformer: Any) -> None:
        self._transformer = transformer
        self._pieces: asyncio.Queue[Any] = asyncio.Queue()
        self._room = asyncio.Semaphore(0)
        self._gone: JsException | None = None
        self._is_closed = False

    async def write(self, chunk: Any) -> None:
        if self._is_closed:
            raise js_type_error("This WritableStream has been closed.")
        for piece in await self._transformed("transform", chunk):
            await self._put(piece)

    async def close(self) -> None:
        if self._is_closed:
            return
        for piece in await self._transformed("flush"):
            await self._put(piece)
        self._is_closed = True
        self._pieces.put_nowait(_END)

    async def abort(self, reason: Any) -> None:
        self._is_closed = True
        self._pieces.put_nowait(as_error(reason))

    async def _put(self, piece: Any) -> None:
        if self._gone is not None:
            raise self._gone
        self._pieces.put_nowait(piece)
        await self._room.acquire()
        if self._gone is not None:
            raise self._gone

    async def _transformed(self, name: str, *chunk: Any) -> list[Any]:
        callback = member(self._transformer, name)
        if callback is None:
            return list(chunk)
        controller = Controller()
        await settled(jsmembers.invoke(callback, *chunk, controller))
        controller.ended()
        return list(controller.queue)

    async def pieces(self) -> AsyncGenerator[Any, None]:
        """What comes out, until the writer closes."""
        try:
            while (piece := await self._pieces.get()) is not _END:
                if isinstance(piece, JsException):
                    raise piece
                self._room.release()
                yield piece
        finally:
            self._gone = js_type_error("The readable side of this TransformStream is gone.")
            self._room.release()


class FeedableStream(WritableStream):
    """The writable end of a pipe, which `pipeThrough` feeds on its own."""

    __slots__ = ("_feeding",)

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._feeding: asyncio.Task[None] | None = None

    def feed(self, source: ReadableStream) -> None:
        """All of `source` is written here, in the background."""
        self._feeding = asyncio.get_running_loop().create_task(_fed(source, self))


async def _fed(source: ReadableStream, target: WritableStream) -> None:
    try:
        await source.pipe_to(target)
    except JsException:
        # The reader of the other end has been told by `abort`.
        return


class TransformStream(JsObject):
    """A pair of streams: what is written to `writable` comes out of `readable`."""

    __slots__ = ("readable", "writable")
    js_class = "TransformStream"
    js_properties: ClassVar[Mapping[str, str]] = {"readable": "readable", "writable": "writable"}

    def __init__(self, transformer: Any = UNDEFINED) -> None:
        pipe = _Pipe(transformer)
        self.readable = ReadableStream(pipe.pieces())
        self.writable = FeedableStream(pipe)


def new_transform(transformer: Any = UNDEFINED, _strategy: Any = UNDEFINED) -> TransformStream:
    """`new TransformStream({transform, flush})`; without any, the pieces pass unchanged."""
    return TransformStream(transformer)
