"""What Request and Response share: a body that can be read once."""

from __future__ import annotations

from localedge.errors import js_type_error
from localedge.stream import ReadableStream, one_chunk
from localedge.values import JsObject

USED_TEXT = (
    "Body has already been used. It can only be used once. "
    "Use tee() first if you need to read it twice."
)


class Body(JsObject):
    """A body and whether it has been read.

    Shape: `body` is None, the bytes, or a stream of them.
    """

    __slots__ = ("_used", "body")

    def __init__(self, body: bytes | ReadableStream | None) -> None:
        self.body = body
        self._used = False

    @property
    def body_used(self) -> bool:
        """Whether someone has begun to read the body."""
        if self._used:
            return True
        body = self.body
        return isinstance(body, ReadableStream) and body.locked

    def stream(self) -> ReadableStream | None:
        """The body as a stream; from then on it is read through that."""
        if isinstance(self.body, bytes):
            self.body = ReadableStream(one_chunk(self.body))
            self.body.locked = self._used
        return self.body

    async def array_buffer(self) -> bytes:
        """The whole body; it is used from now on.

        Errors: a JavaScript TypeError when it was used before.
        """
        body = self.body
        if body is None:
            return b""
        if self.body_used:
            raise js_type_error(USED_TEXT)
        self._used = True
        if isinstance(body, bytes):
            return body
        return b"".join([bytes(chunk) async for chunk in body])

    async def text(self) -> str:
        """The whole body as text: UTF-8, broken parts replaced, a byte order mark dropped."""
        return decoded(await self.array_buffer())


def decoded(value: bytes) -> str:
    """`value` as the Fetch standard's "UTF-8 decode" reads it."""
    return value.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
