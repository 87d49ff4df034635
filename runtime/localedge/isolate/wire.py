"""Frames between the parent and an isolate: msgpack arrays over a stream socket.

A frame is a tuple whose first item is its kind and whose second is the number of the event it
belongs to (0: the isolate itself). Bodies travel in `DATA` frames under a window of 256 KiB per
event and direction, which `CREDIT` frames open again; `OPEN` may carry a whole small body, so that
a simple request is one frame each way.

to the isolate    (OPEN, n, "fetch", method, url, headers, body, ray)    body: bytes, None, True
                  (OPEN, n, "scheduled", cron, time_ms)                  True: DATA frames follow
                  (OPEN, n, "service", … as fetch …, entrypoint, props)  from another worker
                  (OPEN, n, "call", entrypoint, method, arguments, ray, props, headers)
                  (DATA, n, bytes)  (END, n)  (CANCEL, n)  (CREDIT, n, size)  (NOTE, 0, name, value)
from the isolate  (OPEN, n, status, headers, body, is_over)              body None: DATA follows
                  (DATA, n, bytes)  (END, n, outcome, detail)  (OVER, n)  (CREDIT, n, size)
                  (NOTE, n, name, value)

Frames of negative number belong to what an isolate asks of others: see `calls`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]  # it ships no types

logger = logging.getLogger(__name__)

OPEN: Final = 0
DATA: Final = 1
END: Final = 2
CANCEL: Final = 3
CREDIT: Final = 4
NOTE: Final = 5
OVER: Final = 6

SEEN: Final = "seen"
"""Stands where the level of a line of print is, in what an isolate records of its calls."""

WINDOW_BYTES: Final = 256 * 1024
CHUNK_BYTES: Final = 64 * 1024
MAX_FRAME_BYTES: Final = 16 * 1024 * 1024

NOT_STARTED: Final = "notStarted"
"""The outcome of a call to a worker that this server does not run."""

Frame = tuple[Any, ...]


def pack(value: object) -> bytes:
    """`value` as one msgpack item."""
    data: bytes = msgpack.packb(value)
    return data


def unpack(data: bytes) -> Frame:
    """The array that `data` is. Errors: ValueError when it is none."""
    value = msgpack.unpackb(data, use_list=False)
    if not isinstance(value, tuple):
        raise ValueError("not an array")
    return value


class Items:
    """msgpack items that arrive in pieces."""

    def __init__(self, *, most_bytes: int = MAX_FRAME_BYTES) -> None:
        self._unpacker = msgpack.Unpacker(use_list=False, max_buffer_size=most_bytes)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The items that are whole now."""
        self._unpacker.feed(data)
        items: Iterator[Frame] = iter(self._unpacker)
        return items


class Channel(asyncio.Protocol):
    """One end of the socket between the parent and an isolate.

    Shape: `received` is called with each frame, `closed` once with the reason it broke, or None.
    A peer that sends what is no frame is cut off: the isolate runs foreign code.
    """

    def __init__(
        self, received: Callable[[Frame], None], closed: Callable[[Exception | None], None]
    ) -> None:
        self._received = received
        self._closed = closed
        self._transport: asyncio.Transport | None = None
        self._pack = msgpack.Packer().pack
        self._items = Items()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called by the loop when the socket is ours. (uvloop's transports are no subclasses.)"""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Called by the loop with what arrived."""
        received = self._received
        try:
            for frame in self._items.feed(data):
                received(frame)
        except (ValueError, TypeError, LookupError, msgpack.UnpackException) as error:
            logger.warning("a peer broke the protocol", exc_info=error)
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop when the other end is gone."""
        self._transport = None
        self._closed(exc)

    def send(self, frame: Frame) -> None:
        """`frame` is on its way, unless the other end is gone."""
        transport = self._transport
        if transport is not None:
            transport.write(self._pack(frame))

    def abort(self) -> None:
        """The socket is closed without sending what is left."""
        if self._transport is not None:
            self._transport.abort()


class Window:
    """How much may still be sent on one body before the reader gives credit.

    Shape: `size` may fall below zero by at most one chunk.
    """

    __slots__ = ("_waiter", "size")

    def __init__(self) -> None:
        self.size = WINDOW_BYTES
        self._waiter: asyncio.Future[None] | None = None

    def add(self, size: int) -> None:
        """The reader took `size` bytes."""
        self.size += size
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def take(self, size: int) -> None:
        """`size` bytes may be sent now. Waits as long as the reader does not read."""
        while self.size <= 0:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        self.size -= size


class Inbox:
    """A body that arrives in frames, read piece by piece.

    Shape: `consumed(size)` is called for each piece taken, to give credit; after `close(error)`
    the reader sees the end, or the error.
    """

    __slots__ = ("_closed", "_consumed", "_error", "_pieces", "_waiter")

    def __init__(self, consumed: Callable[[int], None]) -> None:
        self._consumed = consumed
        self._pieces: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None
        self._closed = False
        self._error: BaseException | None = None

    def put(self, piece: bytes) -> None:
        """`piece` is there to be read."""
        self._pieces.append(piece)
        self._wake()

    def close(self, error: BaseException | None = None) -> None:
        """Nothing comes after what was put. A second close changes nothing."""
        if not self._closed:
            self._closed, self._error = True, error
            self._wake()

    async def get(self) -> bytes | None:
        """All that has arrived, or None at the end.

        Errors: the error given to `close`, once what came before it was read.
        """
        while not self._pieces and not self._closed:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if self._pieces:
            pieces, self._pieces = self._pieces, []
            data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            self._consumed(len(data))
            return data
        if self._error is not None:
            raise self._error
        return None

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)
