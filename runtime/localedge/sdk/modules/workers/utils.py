"""What the modules of `workers` share; the platform's SDK has these names too."""

from __future__ import annotations

from typing import Any

from localedge.errors import JsException
from localedge.jsproxy import JsProxy, raw_to_js
from localedge.sdk import web


def _to_python_exception(error: JsException) -> Exception:
    """`error` as the SDK translates it where a body or a redirect is concerned."""
    if error.name == "RangeError":
        return ValueError(error.message)
    if error.name == "TypeError":
        return TypeError(error.message)
    return error


def _headers_of(headers: Any) -> web.Headers:
    """A `headers` argument as new headers of the platform.

    Errors: TypeError for anything but a dict, a list of pairs or a `js.Headers`.
    """
    if isinstance(headers, dict):
        return web.Headers((name, raw_to_js(value)) for name, value in headers.items())
    if isinstance(headers, list):
        return web.Headers((name, raw_to_js(value)) for name, value in headers)
    if isinstance(headers, JsProxy) and isinstance(headers._js, web.Headers):
        return headers._js.copy()
    raise TypeError("Received unexpected type for headers argument")


def _to_js_headers(headers: Any) -> JsProxy:
    """The same, as worker code holds it."""
    return JsProxy(_headers_of(headers))


def _js_class(value: Any) -> str | None:
    """The name of the platform's class of `value`; None for a Python object."""
    if not isinstance(value, JsProxy):
        return None
    name: str = value.constructor.name
    return name
