"""`workers.rpc`: values on their way to the other side of a binding and back."""

from __future__ import annotations

from typing import Any

from localedge.binding import _BindingWrapper, _EnvWrapper
from localedge.boundary import JsDict, copied, from_js, to_js
from localedge.jsproxy import JSNULL, JsProxy
from localedge.sdk import web
from localedge.sdk.fetcher import _FetcherWrapper
from localedge.values import JsBuffer, JsSet, Uint8Array
from workers.blob import Blob, File
from workers.formdata import FormData
from workers.request import Request
from workers.response import Response

__all__ = [
    "JsDict",
    "_BindingWrapper",
    "_EnvWrapper",
    "_FetcherWrapper",
    "from_far",
    "python_from_rpc",
    "python_to_rpc",
]


def python_to_rpc(value: Any) -> Any:
    """`value` as the platform sees it: scalars as they are, null for None, else a JsProxy.

    Errors: TypeError for a tuple, a bytearray, an awaitable or a compiled pattern, nested too.
    Source: reference/python-workers.md 1.5, read 2026-12-01.
    """
    if value is None:
        return JSNULL
    if value is JSNULL:
        return JSNULL
    if isinstance(value, bool | int | float | str | JsProxy):
        return value
    if isinstance(value, _BindingWrapper):
        return value.js_object
    far = to_js(value)
    return JsProxy(Uint8Array(far)) if isinstance(far, bytes) else JsProxy(far)


def python_from_rpc(obj: Any) -> Any:
    """What the platform gave as Python values; what is none of the platform's is unchanged.

    Shape: Object and Map are JsDict, typed arrays memoryview, Date a naive datetime; Request,
    Response, FormData, Blob and File are the SDK's; other objects stay JsProxy.
    """
    if obj is JSNULL:
        return None
    return from_far(obj._js) if isinstance(obj, JsProxy) else obj


def from_far(far: Any) -> Any:
    """A value of the platform as Python has it."""
    match far:
        case JsSet():
            return {from_far(item) for item in far}
        case dict():
            return JsDict((key, from_far(item)) for key, item in far.items())
        case list():
            return [from_far(item) for item in far]
        case web.Request():
            return Request._of(far)
        case web.Response():
            return Response(JsProxy(far))
        case web.FormData():
            return FormData(JsProxy(far))
        case web.File():
            return File(JsProxy(far), far.name)
        case web.Blob():
            return Blob(JsProxy(far))
        case JsBuffer():
            return copied(far)
    return from_js(far)
