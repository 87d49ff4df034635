"""Blob and File."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from localedge import clock
from localedge.coercion import js_string
from localedge.errors import js_type_error
from localedge.jsproxy import listed
from localedge.sdk.web.buffers import ArrayBuffer, TypedArray, to_bytes
from localedge.sdk.web.options import members_of
from localedge.sdk.web.usv import utf8
from localedge.stream import ReadableStream, one_chunk
from localedge.values import UNDEFINED, JsBuffer, JsObject, PyObject


class Blob(JsObject):
    """Bytes with a type.

    Shape: `type` is lower case, empty when unknown.
    """

    __slots__ = ("data", "type")
    js_class = "Blob"
    js_methods: ClassVar[Mapping[str, str]] = {
        "arrayBuffer": "array_buffer",
        "bytes": "array",
        "slice": "slice",
        "stream": "stream",
        "text": "text",
    }
    js_properties: ClassVar[Mapping[str, str]] = {"size": "size", "type": "type"}

    def __init__(self, data: bytes, type: str = "") -> None:
        self.data = data
        self.type = type

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.data)

    async def text(self) -> str:
        """The bytes as UTF-8 text."""
        return self.data.decode("utf-8", "replace")

    async def array_buffer(self) -> ArrayBuffer:
        """A copy of the bytes."""
        return ArrayBuffer(self.data)

    async def array(self) -> TypedArray:
        """A copy of the bytes as a typed array."""
        return TypedArray(self.data)

    def stream(self) -> ReadableStream:
        """The bytes as a stream."""
        return ReadableStream(one_chunk(self.data))

    def slice(self, start: Any = UNDEFINED, end: Any = UNDEFINED, type: Any = UNDEFINED) -> Blob:
        """A part of the bytes, as a Blob of its own; negative positions count from the end."""
        part = self.data[_position(start) : _position(end)]
        return Blob(part, "" if type in (UNDEFINED, None) else js_string(type).lower())


def _position(value: Any) -> int | None:
    return None if value in (UNDEFINED, None) else int(value)


class File(Blob):
    """A Blob with a name.

    Shape: `last_modified` in milliseconds since the epoch.
    """

    __slots__ = ("last_modified", "name")
    js_class = "File"
    js_properties: ClassVar[Mapping[str, str]] = {
        **Blob.js_properties,
        "lastModified": "last_modified",
        "name": "name",
    }

    def __init__(
        self, data: bytes, name: str, type: str = "", last_modified: int | None = None
    ) -> None:
        super().__init__(data, type)
        self.name = name
        self.last_modified = clock.now_ms() if last_modified is None else last_modified


def part_bytes(part: Any) -> bytes:
    """One part of a Blob as bytes: text, buffers and Blobs; anything else as its text."""
    match part:
        case str():
            return utf8(part)
        case Blob():
            return part.data
        case JsBuffer() | bytes() | PyObject(bytes() | bytearray() | memoryview()):
            return to_bytes(part)
    return js_string(part).encode()


def new_blob(parts: Any = UNDEFINED, options: Any = UNDEFINED) -> Blob:
    """`new Blob(parts, {type, endings})`."""
    return Blob(_joined(parts), _type_of(options))


def new_file(parts: Any, name: Any, options: Any = UNDEFINED) -> File:
    """`new File(parts, name, {type, endings, lastModified})`."""
    modified: Any = members_of(options).get("lastModified")
    at = None if modified in (UNDEFINED, None) else int(modified)
    return File(_joined(parts), js_string(name), _type_of(options), at)


def _joined(parts: Any) -> bytes:
    if parts is UNDEFINED:
        return b""
    items = listed(parts)
    if items is None:
        raise js_type_error("The parts of a Blob must be an array.")
    return b"".join(part_bytes(part) for part in items)


def _type_of(options: Any) -> str:
    given = members_of(options).get("type", UNDEFINED)
    return "" if given in (UNDEFINED, None) else js_string(given).lower()
