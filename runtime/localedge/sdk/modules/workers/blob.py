"""`workers.Blob` and `workers.File`."""

from __future__ import annotations

import builtins
from enum import StrEnum
from typing import Any

from localedge.jsproxy import JsProxy
from localedge.sdk import web
from localedge.sdk.web.blob import part_bytes
from localedge.sdk.web.usv import utf8


class BlobEnding(StrEnum):
    """What happens to line ends in text parts: on the platform, always nothing."""

    TRANSPARENT = "transparent"
    NATIVE = "native"


class Blob:
    """Bytes with a type, made of parts: text, bytes, buffers, other blobs.

    Errors: TypeError for a part of another kind.
    Source: reference/python-workers.md 1.5, read 2026-12-01.
    """

    __slots__ = ("__dict__", "_js")

    _js: web.Blob

    def __init__(
        self,
        blob_parts: Any,
        content_type: str | None = None,
        endings: BlobEnding | str | None = None,
    ) -> None:
        del endings
        single = _single(blob_parts)
        if single is not None and not content_type:
            content_type = single.type
        self._js = web.Blob(_joined(blob_parts), (content_type or "").lower())

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self._js.size

    @property
    def content_type(self) -> str:
        """The type; empty when unknown."""
        return self._js.type

    @property
    def js_object(self) -> JsProxy:
        """The platform's Blob."""
        return JsProxy(self._js)

    async def text(self) -> str:
        """The bytes as UTF-8 text."""
        return await self._js.text()

    async def bytes(self) -> builtins.bytes:
        """The bytes."""
        return self._js.data

    def slice(
        self, start: int | None = None, end: int | None = None, content_type: str | None = None
    ) -> Blob:
        """A part of the bytes as a Blob of its own, which the SDK leaves without a type."""
        del content_type
        part = self._js.slice(start or 0, self._js.size if end is None else end)
        return Blob([JsProxy(part)])


class File(Blob):
    """A Blob with a name."""

    __slots__ = ()

    _js: web.File

    def __init__(
        self,
        blob_parts: Any,
        filename: str,
        content_type: str | None = None,
        endings: BlobEnding | str | None = None,
        last_modified: int | None = None,
    ) -> None:
        del endings
        single = _single(blob_parts)
        if single is not None and not content_type:
            content_type = single.type
        if isinstance(single, web.File) and not last_modified:
            last_modified = single.last_modified
        data = _joined(blob_parts)
        self._js = web.File(data, filename, (content_type or "").lower(), last_modified)

    @property
    def name(self) -> str:
        """The name."""
        return self._js.name

    @property
    def last_modified(self) -> int:
        """When it was last changed, in milliseconds since the epoch."""
        return self._js.last_modified


def _single(parts: Any) -> web.Blob | None:
    if isinstance(parts, Blob):
        return parts._js
    if isinstance(parts, JsProxy) and isinstance(parts._js, web.Blob):
        return parts._js
    return None


def _joined(parts: Any) -> bytes:
    # Bytes can be walked too, but their items are numbers: they are one part.
    walkable = hasattr(parts, "__iter__") and not isinstance(
        parts, str | bytes | bytearray | memoryview | JsProxy
    )
    if isinstance(parts, JsProxy) and isinstance(parts._js, list):
        walkable = True
    return b"".join(_part(part) for part in (parts if walkable else [parts]))


def _part(part: Any) -> bytes:
    if isinstance(part, str):
        return utf8(part)
    if isinstance(part, Blob):
        return part._js.data
    if isinstance(part, JsProxy) and isinstance(part._js, web.Blob | web.ArrayBuffer):
        return part_bytes(part._js)
    if isinstance(part, JsProxy) and hasattr(part, "to_bytes"):
        return bytes(part._js)
    if isinstance(part, bytes | bytearray | memoryview):
        return bytes(part)
    raise TypeError(f"Don't know how to handle {type(part)} for Blob()")
