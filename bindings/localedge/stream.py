"""A ReadableStream of bytes, which KV, bodies and `fetch` share."""

from __future__ import annotations

from collections.abc import AsyncIterator

from localedge.values import JsObject


class ReadableStream(JsObject):
    """Bytes that arrive piece by piece and can be read once.

    Shape: `chunks` yields bytes; `locked` is true from the first read on.
    """

    js_class = "ReadableStream"

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self.locked = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        if self.locked:
            raise TypeError("This ReadableStream is currently locked to a reader.")
        self.locked = True
        return self._chunks


async def one_chunk(value: bytes) -> AsyncIterator[bytes]:
    """`value` as the only piece of a stream."""
    if value:
        yield value
