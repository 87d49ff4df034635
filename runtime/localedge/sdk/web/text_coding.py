"""TextEncoder and TextDecoder."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any, ClassVar

from localedge.coercion import js_string
from localedge.errors import JsException, js_type_error
from localedge.sdk.web.buffers import TypedArray, to_bytes
from localedge.sdk.web.options import members_of
from localedge.sdk.web.usv import utf8
from localedge.values import UNDEFINED, JsObject, PyObject


class TextEncoder(JsObject):
    """Text to UTF-8."""

    __slots__ = ()
    js_class = "TextEncoder"
    js_methods: ClassVar[Mapping[str, str]] = {"encode": "encode"}
    js_properties: ClassVar[Mapping[str, str]] = {"encoding": "encoding"}
    encoding: ClassVar[str] = "utf-8"

    def encode(self, text: Any = "") -> TypedArray:
        """`text` as bytes; broken surrogates are replaced."""
        return TypedArray(utf8("" if text is UNDEFINED else js_string(text)))


class TextDecoder(JsObject):
    """Bytes to text.

    Errors: a JavaScript RangeError for an unknown label; with `fatal`, a TypeError for broken
    bytes.
    """

    __slots__ = ("_decoder", "_fatal", "_keeps_mark", "encoding")
    js_class = "TextDecoder"
    js_methods: ClassVar[Mapping[str, str]] = {"decode": "decode"}
    js_properties: ClassVar[Mapping[str, str]] = {"encoding": "encoding"}

    def __init__(self, label: Any = "utf-8", options: Any = UNDEFINED) -> None:
        chosen = members_of(options)
        self.encoding = js_string(label).strip().lower()
        self._fatal = bool(chosen.get("fatal"))
        self._keeps_mark = bool(chosen.get("ignoreBOM"))
        self._decoder: codecs.IncrementalDecoder | None = None
        self._fresh()

    def _fresh(self) -> codecs.IncrementalDecoder:
        is_utf8 = self.encoding in ("utf-8", "utf8")
        name = "utf-8-sig" if is_utf8 and not self._keeps_mark else self.encoding
        try:
            return codecs.getincrementaldecoder(name)("strict" if self._fatal else "replace")
        except LookupError as error:
            raise JsException(
                f'"{self.encoding}" is not a valid encoding.', name="RangeError"
            ) from error

    def decode(self, source: Any = b"", options: Any = UNDEFINED) -> str:
        """The text of `source`; with `stream`, a broken end waits for the next piece."""
        goes_on = _goes_on(options)
        decoder = self._decoder or self._fresh()
        self._decoder = decoder if goes_on else None
        try:
            return decoder.decode(to_bytes(source), not goes_on)
        except UnicodeDecodeError as error:
            raise js_type_error("Failed to decode input.") from error


def _goes_on(options: Any) -> bool:
    chosen = options.value if isinstance(options, PyObject) else options
    return isinstance(chosen, dict) and bool(chosen.get("stream"))
