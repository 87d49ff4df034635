"""ArrayBuffer, typed arrays and text coding: bytes on the platform's side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from localedge.coercion import js_string
from localedge.errors import js_type_error
from localedge.jsproxy import listed
from localedge.values import UNDEFINED, JsBuffer, JsObject, PyObject, Uint8Array


class ArrayBuffer(JsBuffer):
    """A block of bytes."""

    __slots__ = ()
    js_class = "ArrayBuffer"
    js_methods: ClassVar[Mapping[str, str]] = {"slice": "slice"}
    js_properties: ClassVar[Mapping[str, str]] = {"byteLength": "byte_length"}

    @property
    def byte_length(self) -> int:
        """The size in bytes."""
        return len(self.view)

    def slice(self, start: Any = UNDEFINED, end: Any = UNDEFINED) -> ArrayBuffer:
        """A copy of a part."""
        return ArrayBuffer(bytes(self.view)[_bound(start) : _bound(end)])


class TypedArray(Uint8Array):
    """A Uint8Array with its members."""

    __slots__ = ()
    js_methods: ClassVar[Mapping[str, str]] = {
        "set": "set",
        "slice": "slice",
        "subarray": "subarray",
    }
    js_properties: ClassVar[Mapping[str, str]] = {
        "buffer": "buffer",
        "byteLength": "length",
        "length": "length",
    }

    @property
    def length(self) -> int:
        """The number of bytes."""
        return len(self.view)

    @property
    def buffer(self) -> ArrayBuffer:
        """The memory below, shared."""
        return ArrayBuffer(self.view)

    def set(self, source: Any, offset: Any = 0) -> None:
        """The bytes from `offset` on are those of `source`."""
        data = to_bytes(source)
        self.view[int(offset) : int(offset) + len(data)] = data

    def slice(self, start: Any = UNDEFINED, end: Any = UNDEFINED) -> TypedArray:
        """A copy of a part."""
        return TypedArray(bytes(self.view)[_bound(start) : _bound(end)])

    def subarray(self, start: Any = UNDEFINED, end: Any = UNDEFINED) -> TypedArray:
        """A part that shares this one's memory."""
        return TypedArray(self.view[_bound(start) : _bound(end)])


def _bound(value: Any) -> int | None:
    return None if value is UNDEFINED else int(value)


def new_array_buffer(size: Any = 0) -> ArrayBuffer:
    """`new ArrayBuffer(size)`: zeros."""
    return ArrayBuffer(bytes(int(size)))


def new_uint8_array(source: Any = 0) -> TypedArray:
    """`new Uint8Array(size | buffer | items)`."""
    if isinstance(source, int | float):
        return TypedArray(bytes(int(source)))
    if isinstance(source, ArrayBuffer):
        return TypedArray(source.view)
    return TypedArray(to_bytes(source))


def to_bytes(source: Any) -> bytes:
    """The bytes of a buffer, of a Python buffer, or of an array of numbers.

    Errors: a JavaScript TypeError for anything else.
    """
    match source:
        case bytes():
            return source
        case JsBuffer():
            return bytes(source)
        case PyObject(bytes() | bytearray() | memoryview() as inner):
            return bytes(inner)
    items = listed(source)
    if items is None:
        raise js_type_error("The value is not an ArrayBuffer, a view on one or an array.")
    return bytes(int(item) & 0xFF for item in items)


class TextEncoder(JsObject):
    """Text to UTF-8."""

    __slots__ = ()
    js_class = "TextEncoder"
    js_methods: ClassVar[Mapping[str, str]] = {"encode": "encode"}
    js_properties: ClassVar[Mapping[str, str]] = {"encoding": "encoding"}
    encoding: ClassVar[str] = "utf-8"

    def encode(self, text: Any = "") -> TypedArray:
        """`text` as bytes; broken surrogates are replaced."""
        return TypedArray(js_string(text).encode("utf-8", "replace"))


class TextDecoder(JsObject):
    """Bytes to text.

    Errors: a JavaScript RangeError for an unknown label; with `fatal`, a TypeError for broken
    bytes.
    """

    __slots__ = ("_fatal", "_keep_mark", "encoding")
    js_class = "TextDecoder"
    js_methods: ClassVar[Mapping[str, str]] = {"decode": "decode"}
    js_properties: ClassVar[Mapping[str, str]] = {"encoding": "encoding"}

    def __init__(self, label: Any = "utf-8", options: Any = UNDEFINED) -> None:
        chosen = options if isinstance(options, dict) else {}
        self.encoding = js_string(label).strip().lower()
        self._fatal = bool(chosen.get("fatal"))
        self._keep_mark = bool(chosen.get("ignoreBOM"))

    def decode(self, source: Any = b"") -> str:
        """The text of `source`."""
        data = to_bytes(source)
        if not self._keep_mark and self.encoding in ("utf-8", "utf8"):
            data = data.removeprefix(b"\xef\xbb\xbf")
        try:
            return data.decode(self.encoding, "strict" if self._fatal else "replace")
        except UnicodeDecodeError as error:
            raise js_type_error("Failed to decode input.") from error
