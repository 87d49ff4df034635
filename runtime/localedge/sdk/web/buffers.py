"""ArrayBuffer and typed arrays: bytes on the platform's side."""

from __future__ import annotations

from localedge.values import JsObject


class ArrayBuffer(JsObject):
    """A block of bytes."""

    __slots__ = ("data",)
    js_class = "ArrayBuffer"
    js_properties = {"byteLength": "byte_length"}

    def __init__(self, data: bytes = b"") -> None:
        self.data = data

    @property
    def byte_length(self) -> int:
        return len(self.data)
