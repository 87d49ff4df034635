"""Where a Python value becomes what the platform would see, and back.

Values are copied across, never shared. `values` models the other side.

Source: reference/kv-d1-contract.md section 0 and python-workers.md 1.5 and 2.1 (SDK 1.9.5), read
2026-12-01.
"""

from __future__ import annotations

import inspect
import math
import re
from datetime import UTC, datetime
from typing import Any, Never

from localedge import jskinds as _kinds_of_proxies  # noqa: F401  (it registers them)
from localedge.coercion import js_string
from localedge.jsproxy import (
    MAX_NUMBER_INT,
    MAX_SAFE_INTEGER,
    JsNull,
    JsProxy,
    number_from_js,
    proxy,
)
from localedge.values import (
    BigInt,
    JsBuffer,
    JsDate,
    JsErrorValue,
    JsFunction,
    JsObject,
    JsSet,
    PyObject,
    Undefined,
)

__all__ = [
    "MAX_NUMBER_INT",
    "MAX_SAFE_INTEGER",
    "JsDict",
    "JsProxy",
    "call_arguments",
    "from_js",
    "number_from_js",
    "proxy",
    "to_js",
]


class JsDict(dict[str, Any]):
    """A JavaScript object as worker code receives it: a dict whose keys also read as attributes.

    Names of dict's own methods (`keys`, `items`, `get` …) stay methods: use `[...]` for those.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def _refuse(value: object) -> Never:
    raise TypeError(f"{type(value)} cannot be sent over RPC.")


def to_js(value: Any) -> Any:
    """`value` as the other side sees it, copied.

    Errors: TypeError for a tuple, a bytearray, an awaitable or a compiled pattern, nested too.
    """
    match value:
        case None | bool() | float() | BigInt():
            return value
        case str():
            return str.__str__(value)
        case int():
            number = int(value)
            return number if abs(number) <= MAX_NUMBER_INT else BigInt(number)
        case tuple() | bytearray() | re.Pattern():
            _refuse(value)
        case bytes() | memoryview():
            return bytes(value)
        case dict():
            return {js_string(to_js(key)): to_js(item) for key, item in value.items()}
        case list():
            return [to_js(item) for item in value]
        case set() | frozenset():
            return JsSet(to_js(item) for item in value)
        case datetime():
            return JsDate(_epoch_ms(value))
        case BaseException():
            return JsErrorValue("Error", str(value))
        case JsProxy():
            inner = value._js
            return bytes(inner) if isinstance(inner, JsBuffer) else inner
        case JsNull():
            return None
        case JsBuffer():
            return bytes(value)
        case JsObject() | JsDate() | JsErrorValue() | JsFunction() | Undefined():
            return value
    return _object_to_js(value)


def _object_to_js(value: Any) -> Any:
    inner = getattr(value, "js_object", None)
    if isinstance(inner, JsProxy):
        return inner._js
    if inspect.isawaitable(value):
        raise TypeError(f"Awaitable {type(value)} cannot be sent over RPC.")
    if callable(value):
        return JsFunction(value)
    return PyObject(value)


def _epoch_ms(value: datetime) -> float:
    aware = value if value.tzinfo else value.astimezone()
    return math.floor(aware.timestamp() * 1000)


def from_js(value: Any) -> Any:
    """What came from the other side as worker code receives it, copied.

    Shape: a Number is an int when it is a safe integer, else a float; null and undefined are
    None; an Object or Map is a JsDict; bytes are a memoryview; a Date is a naive datetime.
    """
    match value:
        case bool() | str() | None:
            return value
        case BigInt():
            return int(value)
        case int() | float():
            return number_from_js(value)
        case Undefined():
            return None
        case bytes():
            return memoryview(value)
        case JsBuffer():
            return memoryview(bytearray(value.view))
        case JsSet():
            return {from_js(item) for item in value}
        case dict():
            return JsDict((key, from_js(item)) for key, item in value.items())
        case list():
            return [from_js(item) for item in value]
        case JsDate():
            return datetime.fromtimestamp(value.epoch_ms / 1000, UTC).replace(tzinfo=None)
        case JsErrorValue():
            return Exception(f"{value.name}: {value.message}")
        case PyObject():
            return value.value
        case JsFunction():
            return value.function
    return JsProxy(value)


def call_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments of one call on the other side: keyword arguments are one trailing object."""
    converted = [to_js(arg) for arg in args]
    if kwargs:
        converted.append({name: to_js(value) for name, value in kwargs.items()})
    return converted
