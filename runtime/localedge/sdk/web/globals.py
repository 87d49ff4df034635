"""The platform's global scope: what `from js import …` finds."""

from __future__ import annotations

import asyncio
import base64
import binascii
from typing import Any, Final, NoReturn

from localedge import jsmembers
from localedge.clock import now_ms
from localedge.coercion import js_string
from localedge.errors import JsException
from localedge.sdk.web import builtins
from localedge.sdk.web.abort import AbortController
from localedge.sdk.web.blob import new_blob, new_file
from localedge.sdk.web.buffers import (
    NUMBER_ARRAYS,
    TypedArray,
    array_maker,
    is_view,
    new_array_buffer,
    new_data_view,
)
from localedge.sdk.web.cloning import structured_clone
from localedge.sdk.web.console import CONSOLE
from localedge.sdk.web.crypto import CRYPTO
from localedge.sdk.web.fetching import fetch
from localedge.sdk.web.form_data import FormData
from localedge.sdk.web.functions import CONSTANTS, FUNCTIONS
from localedge.sdk.web.headers import headers_from
from localedge.sdk.web.request import new_request
from localedge.sdk.web.response import error_response, json_response, new_response, redirect
from localedge.sdk.web.search_params import URLSearchParams
from localedge.sdk.web.streams import new_readable, new_writable
from localedge.sdk.web.text_coding import TextDecoder, TextEncoder
from localedge.sdk.web.timers import TIMERS
from localedge.sdk.web.transform import new_transform
from localedge.sdk.web.url import URL, can_parse, parsed
from localedge.values import UNDEFINED, JsObject, NativeClass, NativeFunction


class Refused(JsObject):
    """A global that exists on the platform and not here: using it says so.

    Errors: JsException, named NotSupportedError, at the first use.
    """

    __slots__ = ("_name", "_remedy")

    def __init__(self, name: str, remedy: str) -> None:
        self._name = name
        self._remedy = remedy

    def __getattr__(self, _member: str) -> NoReturn:
        raise JsException(
            f"{self._name} exists on the platform, not in localedge. {self._remedy}".rstrip(),
            name="NotSupportedError",
        )


def _atob(text: Any) -> str:
    try:
        return base64.b64decode(js_string(text), validate=True).decode("latin-1")
    except (binascii.Error, ValueError) as error:
        raise JsException(
            "atob() called with invalid base64-encoded data.", name="InvalidCharacterError"
        ) from error


def _btoa(text: Any) -> str:
    try:
        return base64.b64encode(js_string(text).encode("latin-1")).decode()
    except UnicodeEncodeError as error:
        raise JsException(
            "btoa() can only operate on characters of Latin1.", name="InvalidCharacterError"
        ) from error


def _queue_microtask(callback: Any) -> Any:
    asyncio.get_running_loop().call_soon(jsmembers.invoke, callback)
    return UNDEFINED


_RESPONSE_STATICS: Final = {
    "error": NativeFunction("error", error_response),
    "json": NativeFunction("json", json_response),
    "redirect": NativeFunction("redirect", redirect),
}
_CLASSES: Final = (
    NativeClass("AbortController", AbortController),
    NativeClass("ArrayBuffer", new_array_buffer, {"isView": NativeFunction("isView", is_view)}),
    NativeClass("Blob", new_blob),
    NativeClass("File", new_file),
    NativeClass("FormData", FormData),
    NativeClass("Headers", headers_from),
    NativeClass("ReadableStream", new_readable),
    NativeClass("Request", new_request),
    NativeClass("Response", new_response, _RESPONSE_STATICS),
    NativeClass("TextDecoder", TextDecoder),
    NativeClass("TextEncoder", TextEncoder),
    NativeClass("TransformStream", new_transform),
    NativeClass("URL", URL, builtins.functions(canParse=can_parse, parse=parsed)),
    NativeClass("URLSearchParams", URLSearchParams),
    NativeClass("DataView", new_data_view),
    *(NativeClass(cls.js_class, array_maker(cls)) for cls in (TypedArray, *NUMBER_ARRAYS)),
    NativeClass("WritableStream", new_writable),
    *(builtins.error_class(name) for name in ("Error", "RangeError", "SyntaxError", "TypeError")),
    builtins.ARRAY,
    builtins.BOOLEAN,
    builtins.DATE,
    builtins.MAP,
    builtins.NUMBER,
    builtins.OBJECT,
    builtins.PROMISE,
    builtins.SET,
    builtins.STRING,
)
# Differs: the globals refused here have no local counterpart.
_REFUSED: Final = {
    "HTMLRewriter": "Parse the body in Python.",
    "WebAssembly": "",
    "WebSocket": "",
    "WebSocketPair": "Use server-sent events or polling.",
    "caches": "Use KV.",
}
GLOBALS: Final[dict[str, Any]] = {
    **{cls.name: cls for cls in _CLASSES},
    **{name: Refused(name, remedy) for name, remedy in _REFUSED.items()},
    **TIMERS,
    **FUNCTIONS,
    **CONSTANTS,
    "JSON": builtins.JSON,
    "atob": NativeFunction("atob", _atob),
    "btoa": NativeFunction("btoa", _btoa),
    "console": CONSOLE,
    "crypto": CRYPTO,
    "fetch": NativeFunction("fetch", fetch),
    "queueMicrotask": NativeFunction("queueMicrotask", _queue_microtask),
    "structuredClone": NativeFunction("structuredClone", structured_clone),
    "performance": {"now": NativeFunction("now", now_ms), "timeOrigin": 0},
    "navigator": {"userAgent": "Cloudflare-Workers"},
    "undefined": UNDEFINED,
}
