"""Where a Python value becomes what the platform would see, and back.

Values are copied across, never shared. `values` models the other side.

Source: reference/kv-d1-contract.md section 0 and python-workers.md 1.5 and 2.1 (SDK 1.9.5), read
2026-12-01.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, Never

from localedge import jskinds as _kinds_of_proxies  # noqa: F401  (it registers them)
from localedge.coercion import in_js_order, js_string
from localedge.errors import JsException
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


UNWRAPPED: Final[dict[type, Callable[[Any], Any]]] = {}
"""How an object of a class crosses that stands for one of the platform: `binding` fills it."""


def to_js(value: Any) -> Any:
    """`value` as the other side sees it, copied.

    Errors: TypeError for a tuple, a bytearray, an awaitable or a compiled pattern, nested too.
    """
    if value is None:
        return None
    kind = type(value)
    if kind is str:
        return _text_to_js(value)
    if kind is bool or kind is float:
        return value
    if kind is int and -MAX_NUMBER_INT <= value <= MAX_NUMBER_INT:
        return value
    unwrap = UNWRAPPED.get(kind)
    if unwrap is not None:
        return unwrap(value)
    match value:
        case BigInt():
            return value
        case str():
            return _text_to_js(str.__str__(value))
        case int():
            number = int(value)
            return number if abs(number) <= MAX_NUMBER_INT else BigInt(number)
        case float():
            return float(value)
        case tuple() | bytearray() | re.Pattern():
            _refuse(value)
        case bytes() | memoryview():
            return bytes(value)
        case dict():
            return in_js_order({_key_to_js(key): to_js(item) for key, item in value.items()})
        case list():
            return [to_js(item) for item in value]
        case set() | frozenset():
            return JsSet(to_js(item) for item in value)
    return _object_to_js(value)


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _text_to_js(text: str) -> str:
    """`text` with each pair of surrogates as the one character that it is to JavaScript."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _key_to_js(key: object) -> str:
    """A dict's key as a property's name: only values become null and are refused as tuples."""
    match key:
        case str():
            return to_js(key)  # type: ignore[no-any-return]
        case None:
            return "undefined"
        case tuple():
            return ",".join("" if item is None else _key_to_js(item) for item in key)
    return js_string(to_js(key))


def _object_to_js(value: Any) -> Any:
    match value:
        case datetime():
            return JsDate(_epoch_ms(value))
        case Exception():
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
    inner = getattr(value, "js_object", None)
    if isinstance(inner, JsProxy):
        return inner._js
    if inspect.isawaitable(value):
        raise TypeError(f"Awaitable {type(value)} cannot be sent over RPC.")
    if callable(value):
        return JsFunction(value)
    return _copied_buffer(value)


def _copied_buffer(value: object) -> bytes | PyObject:
    """The bytes of an object that shows some (`array`), else the object itself."""
    try:
        return bytes(memoryview(value))  # type: ignore[arg-type]  # what is no buffer raises
    except TypeError:
        return PyObject(value)


def _epoch_ms(value: datetime) -> float:
    # The platform's zone is UTC, so that is what a naive time means there.
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return math.trunc(aware.timestamp() * 1000)


def from_js(value: Any) -> Any:
    """What came from the other side as worker code receives it, copied.

    Shape: a Number is an int when it is a safe integer, else a float; null and undefined are
    None; an Object or Map is a JsDict; bytes are a memoryview; a Date is a naive datetime.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None or kind is JsDict:
        # A JsDict has been made by a binding in this form already, in one step.
        return value
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
            return copied(value)
        case JsSet():
            return {from_js(item) for item in value}
        case dict():
            return JsDict((key, from_js(item)) for key, item in value.items())
        case list():
            return [from_js(item) for item in value]
        case JsDate():
            return datetime.fromtimestamp(value.epoch_ms / 1000, UTC).replace(tzinfo=None)
        case JsErrorValue(name="Error"):
            return Exception(f"{value.name}: {value.message}")
        case JsErrorValue():
            return JsException(value.message, name=value.name)
        case PyObject():
            return value.value
        case JsFunction():
            return value.function
    return JsProxy(value)


def copied(buffer: JsBuffer) -> memoryview:
    """A copy of what `buffer` shows, as numbers of its kind."""
    view = memoryview(bytearray(buffer.view))
    form: Any = buffer.items.format
    return view if form == "B" else view.cast(form)


def call_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments of one call on the other side: keyword arguments are one trailing object."""
    # Asked here, most arguments cost no call.
    converted = [
        arg if arg is None or (type(arg) is str and arg.isascii()) else to_js(arg) for arg in args
    ]
    if kwargs:
        converted.append({name: to_js(value) for name, value in kwargs.items()})
    return converted
