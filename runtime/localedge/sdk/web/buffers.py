"""ArrayBuffer and typed arrays: bytes on the platform's side."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from localedge.errors import js_type_error
from localedge.jsproxy import listed
from localedge.values import UNDEFINED, JsBuffer, PyObject, Uint8Array


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
    """A Uint8Array with its members; the base of those of other numbers.

    Shape: `format` is that of memoryview.
    """

    __slots__ = ()
    format: ClassVar[str] = "B"
    js_methods: ClassVar[Mapping[str, str]] = {
        "set": "set",
        "slice": "slice",
        "subarray": "subarray",
    }
    js_properties: ClassVar[Mapping[str, str]] = {
        "buffer": "buffer",
        "byteLength": "byte_length",
        "length": "length",
    }

    @property
    def items(self) -> memoryview:
        """The same memory as numbers."""
        form: Any = self.format
        return self.view.cast(form)

    @property
    def length(self) -> int:
        """How many numbers there are."""
        return len(self.items)

    @property
    def byte_length(self) -> int:
        """The size in bytes."""
        return len(self.view)

    @property
    def buffer(self) -> ArrayBuffer:
        """The memory below, shared."""
        return ArrayBuffer(self.view)

    def set(self, source: Any, offset: Any = 0) -> None:
        """The numbers from `offset` on are those of `source`."""
        numbers = _numbers(source, self.format)
        items = self.items
        for at, number in enumerate(numbers, int(offset)):
            items[at] = number

    def slice(self, start: Any = UNDEFINED, end: Any = UNDEFINED) -> TypedArray:
        """A copy of a part."""
        return type(self)(self.items[_bound(start) : _bound(end)].tobytes())

    def subarray(self, start: Any = UNDEFINED, end: Any = UNDEFINED) -> TypedArray:
        """A part that shares this one's memory."""
        return type(self)(self.items[_bound(start) : _bound(end)].cast("B"))


class Int8Array(TypedArray):
    """Signed bytes."""

    __slots__ = ()
    js_class = "Int8Array"
    format = "b"


class Uint8ClampedArray(TypedArray):
    """Bytes of pictures."""

    __slots__ = ()
    js_class = "Uint8ClampedArray"


class Int16Array(TypedArray):
    """Signed numbers of two bytes."""

    __slots__ = ()
    js_class = "Int16Array"
    format = "h"


class Uint16Array(TypedArray):
    """Unsigned numbers of two bytes."""

    __slots__ = ()
    js_class = "Uint16Array"
    format = "H"


class Int32Array(TypedArray):
    """Signed numbers of four bytes."""

    __slots__ = ()
    js_class = "Int32Array"
    format = "i"


class Uint32Array(TypedArray):
    """Unsigned numbers of four bytes."""

    __slots__ = ()
    js_class = "Uint32Array"
    format = "I"


class Float32Array(TypedArray):
    """Floating numbers of four bytes."""

    __slots__ = ()
    js_class = "Float32Array"
    format = "f"


class Float64Array(TypedArray):
    """Floating numbers of eight bytes."""

    __slots__ = ()
    js_class = "Float64Array"
    format = "d"


class DataView(JsBuffer):
    """A window on an ArrayBuffer."""

    __slots__ = ()
    js_class = "DataView"
    js_properties: ClassVar[Mapping[str, str]] = {"byteLength": "byte_length"}

    @property
    def byte_length(self) -> int:
        """The size in bytes."""
        return len(self.view)


NUMBER_ARRAYS: Final = (
    Float32Array,
    Float64Array,
    Int16Array,
    Int32Array,
    Int8Array,
    Uint16Array,
    Uint32Array,
    Uint8ClampedArray,
)


def _bound(value: Any) -> int | None:
    return None if value is UNDEFINED else int(value)


def new_array_buffer(size: Any = 0) -> ArrayBuffer:
    """`new ArrayBuffer(size)`: zeros."""
    return ArrayBuffer(bytes(int(size)))


def is_view(value: Any) -> bool:
    """`ArrayBuffer.isView(value)`: whether it is a typed array or a DataView."""
    return isinstance(value, JsBuffer) and value.js_class != "ArrayBuffer"


def new_data_view(buffer: Any) -> DataView:
    """`new DataView(buffer)`."""
    if not isinstance(buffer, JsBuffer):
        raise js_type_error("First argument to DataView constructor must be an ArrayBuffer")
    return DataView(buffer.view)


def array_maker(cls: type[TypedArray]) -> Callable[[Any], TypedArray]:
    """`new cls(length | buffer | items)`."""

    def construct(source: Any = 0) -> TypedArray:
        size = array(cls.format).itemsize
        if isinstance(source, int | float):
            return cls(bytes(int(source) * size))
        if isinstance(source, ArrayBuffer):
            return cls(source.view)
        return cls(array(cls.format, _numbers(source, cls.format)).tobytes())

    return construct


_RANGES: Final = {"b": 2**8, "B": 2**8, "h": 2**16, "H": 2**16, "i": 2**32, "I": 2**32}


def _numbers(source: Any, form: str) -> list[Any]:
    """The numbers of `source`, wrapped to the range of `form` as JavaScript does."""
    items: Any = source.items if isinstance(source, JsBuffer) else listed(source)
    if items is None and isinstance(source, PyObject | bytes):
        items = to_bytes(source)
    if items is None:
        raise js_type_error("The value is not an ArrayBuffer, a view on one or an array.")
    span = _RANGES.get(form)
    if span is None:
        return [float(item) for item in items]
    numbers = [int(item) % span for item in items]
    return [n - span if form.islower() and n >= span // 2 else n for n in numbers]


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
