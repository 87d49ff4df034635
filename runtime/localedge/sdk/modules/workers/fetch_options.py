"""The options of `fetch` and `Request` on their way to the platform."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from localedge.boundary import to_js
from localedge.jsproxy import JsProxy, raw_to_js
from workers.utils import _headers_of


def options_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """`options` as the object that the platform's Request takes.

    Errors: TypeError for headers of a wrong kind.
    """
    found: dict[str, Any] = {}
    for name, value in options.items():
        found[name] = _CONVERTERS.get(name, raw_to_js)(value)
    return found


def _method(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else raw_to_js(value)


def _headers(value: Any) -> Any:
    return raw_to_js(None) if value is None else _headers_of(value)


def body_of(value: Any) -> Any:
    """A body argument as a value of the platform; objects of the SDK stand for theirs."""
    inner = getattr(value, "js_object", None)
    return raw_to_js(inner if isinstance(inner, JsProxy) else value)


def _cf(value: Any) -> Any:
    return raw_to_js(value) if value is None else to_js(value)


_CONVERTERS = {"method": _method, "headers": _headers, "body": body_of, "cf": _cf}
