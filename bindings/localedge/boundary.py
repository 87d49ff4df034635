"""Where a Python value becomes what the platform would see, and back.

Values are copied across, never shared. `values` models the other side.

Source: reference/kv-d1-contract.md section 0 and python-workers.md 1.5 and 2.1 (SDK 1.9.5), read
2026-12-01.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, Never

from localedge.coercion import js_string
from localedge.values import (
    BigInt,
    JsDate,
    JsErrorValue,
    JsFunction,
    JsObject,
    JsSet,
    PyObject,
    Undefined,
)

MAX_SAFE_INTEGER: Final = 2**53 - 1
MAX_NUMBER_INT: Final = 2**53 - 2
"""Python ints of larger magnitude cross as BigInt (recorded: 2^53-1 already does)."""


class JsProxy:
    """A JavaScript object held by Python: attribute access reads the object.

    Shape: `_js` is the object that it stands for; two proxies of one object are equal.
    """

    __slots__ = ("_js",)

    def __init__(self, js: Any) -> None:
        self._js = js

    def __getattr__(self, name: str) -> Any:
        js = self._js
        if isinstance(js, dict):
            if name not in js:
                raise AttributeError(name)
            return proxy(js[name])
        return proxy(getattr(js, name))

    def __getitem__(self, key: Any) -> Any:
        return proxy(self._js[key])

    def __len__(self) -> int:
        return len(self._js)

    def __iter__(self) -> Iterator[Any]:
        return (proxy(item) for item in self._js)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsProxy) and other._js is self._js

    def __hash__(self) -> int:
        return id(self._js)

    def __repr__(self) -> str:
        return js_string(self._js)

    def to_py(self, **_options: Any) -> Any:
        """The value as plain Python: dict, list and scalars, copied."""
        return _plain(self._js)


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case _:
            return from_js(value)


def proxy(value: Any) -> Any:
    """A raw JavaScript value as Pyodide hands it to Python: scalars native, objects as JsProxy."""
    if isinstance(value, JsDate | JsErrorValue | JsObject | dict | list):
        return JsProxy(value)
    return from_js(value)


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
            return value._js
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


def number_from_js(value: float) -> float:
    """A Number as Python has it: int when it is a safe integer, else float."""
    if isinstance(value, int):
        return value if abs(value) <= MAX_SAFE_INTEGER else float(value)
    if value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        return int(value)
    return value


def call_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments of one call on the other side: keyword arguments are one trailing object."""
    converted = [to_js(arg) for arg in args]
    if kwargs:
        converted.append({name: to_js(value) for name, value in kwargs.items()})
    return converted
