"""What Request and Response share: a body that can be read once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from localedge.coercion import js_string
from localedge.errors import JsException, js_type_error
from localedge.sdk.web import multipart
from localedge.sdk.web.blob import Blob
from localedge.sdk.web.buffers import ArrayBuffer, TypedArray
from localedge.sdk.web.form_data import FormData
from localedge.sdk.web.headers import Headers
from localedge.sdk.web.search_params import URLSearchParams
from localedge.sdk.web.usv import utf8
from localedge.stream import ReadableStream, one_chunk
from localedge.values import JsBuffer, JsObject, PyObject, Undefined

Content = bytes | ReadableStream | None

USED_TEXT = (
    "Body has already been used. It can only be used once. "
    "Use tee() first if you need to read it twice."
)


class Body(JsObject):
    """A body and whether it has been read.

    Shape: `body` is None, the bytes, or a stream of them.
    """

    __slots__ = ("_used", "body")
    js_methods: ClassVar[Mapping[str, str]] = {
        "arrayBuffer": "array_buffer",
        "blob": "blob",
        "bytes": "array",
        "clone": "clone",
        "formData": "form_data",
        "json": "json",
        "text": "text",
    }
    js_properties: ClassVar[Mapping[str, str]] = {
        "body": "stream",
        "bodyUsed": "body_used",
        "headers": "headers",
        "url": "url",
    }

    def __init__(self, body: Content) -> None:
        self.body = body
        self._used = False

    @property
    def headers(self) -> Headers:
        """The headers of the message."""
        raise NotImplementedError

    @property
    def body_used(self) -> bool:
        """Whether someone has begun to read the body."""
        if self._used:
            return True
        body = self.body
        return isinstance(body, ReadableStream) and body.disturbed

    @property
    def stream(self) -> ReadableStream | None:
        """The body as a stream; from then on it is read through that."""
        if isinstance(self.body, bytes):
            self.body = ReadableStream(one_chunk(self.body))
            self.body.locked = self.body.disturbed = self._used
        return self.body

    async def read(self) -> bytes:
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
        return b"".join([chunk async for chunk in body])

    def copied_body(self) -> Content:
        """The body for a second message; a stream is split for the two.

        Errors: a JavaScript TypeError when it was used before.
        """
        if self.body_used:
            raise js_type_error(USED_TEXT)
        if isinstance(self.body, ReadableStream):
            self.body, copy = self.body.tee()
            return copy
        return self.body

    def taken_body(self) -> Content:
        """The body for another message; it is used here from now on.

        Errors: a JavaScript TypeError when it was used before.
        """
        if self.body_used:
            raise js_type_error(USED_TEXT)
        self._used = self.body is not None
        return self.body

    async def text(self) -> str:
        """The whole body as text: UTF-8, broken parts replaced, a byte order mark dropped."""
        return (await self.read()).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")

    async def json(self) -> Any:
        """The whole body parsed.

        Errors: a JavaScript SyntaxError when it is no JSON.
        """
        text = await self.text()
        try:
            return json.loads(text)
        except ValueError as error:
            raise JsException(f"{error}", name="SyntaxError") from error

    async def array_buffer(self) -> ArrayBuffer:
        """The whole body as an ArrayBuffer."""
        return ArrayBuffer(await self.read())

    async def array(self) -> TypedArray:
        """The whole body as a typed array."""
        return TypedArray(await self.read())

    async def blob(self) -> Blob:
        """The whole body as a Blob of the message's content type."""
        return Blob(await self.read(), self.headers.get("content-type") or "")

    async def form_data(self) -> FormData:
        """The form in the body.

        Errors: a JavaScript TypeError when it is none.
        """
        content_type = self.headers.get("content-type")
        return multipart.decode(await self.read(), content_type)


def extracted(value: Any) -> tuple[Content, str | None]:
    """A body given by worker code as content, with the content type that it implies.

    Source: fetch.spec.whatwg.org, "extract a body", read 2026-12-01.
    """
    match value:
        case None | Undefined():
            return None, None
        case str():
            return utf8(value), "text/plain;charset=UTF-8"
        case bytes():
            return value, None
        case JsBuffer():
            return bytes(value), None
        case Blob():
            return value.data, value.type or None
        case FormData():
            return multipart.encode(value)
        case URLSearchParams():
            encoded = value.text().encode()
            return encoded, "application/x-www-form-urlencoded;charset=UTF-8"
        case ReadableStream():
            return value, None
        case PyObject(bytes() | bytearray() | memoryview() as inner):
            return bytes(inner), None
    return utf8(js_string(value)), "text/plain;charset=UTF-8"
