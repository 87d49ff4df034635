"""Objects of the platform as Python holds them, unconverted: Pyodide's JsProxy.

The kinds of proxies (arrays, promises, functions …) are in `jskinds`.
Source: pyodide.org/en/stable/usage/type-conversions.html and api/python-api/ffi.html, read
2026-12-01.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable
from typing import Any, Final, cast

from localedge import jsmembers
from localedge.coercion import js_string
from localedge.values import (
    UNDEFINED,
    BigInt,
    JsBuffer,
    JsDate,
    JsFunction,
    JsObject,
    JsSet,
    NativeFunction,
    PyObject,
    Undefined,
)

MAX_SAFE_INTEGER: Final = 2**53 - 1
MAX_NUMBER_INT: Final = 2**53 - 2
"""Python ints of larger magnitude cross as BigInt (recorded: 2^53-1 already does)."""


class JsNull:
    """JavaScript's null where no wrapper hides it: false, but not None."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "jsnull"


JSNULL: Final = JsNull()
_null: Final[list[JsNull | None]] = [JSNULL]


def show_null_as(value: JsNull | None) -> None:
    """From now on `proxy` gives `value` for null: Pyodide before 0.28 had None for it too."""
    _null[0] = value


KIND_FINDERS: Final[list[Callable[[type], type[JsProxy] | None]]] = []
"""Asked in turn which class of proxy a class of values gets; `jskinds` adds its own."""
_kinds: dict[type, type[JsProxy]] = {}


class JsProxy:
    """An object of the platform: attributes read and write the object.

    Shape: `_js` is the object that it stands for; two proxies of one object are equal. Making
    one gives the class for the object's kind, as in `pyodide.ffi`.
    """

    __slots__ = ("__weakref__", "_js")
    _js: Any

    def __new__(cls, js: Any) -> JsProxy:
        kind = _kinds.get(type(js))
        if kind is None:
            kind = _kinds[type(js)] = _kind_of(type(js))
        made = object.__new__(kind)
        object.__setattr__(made, "_js", js)
        return made

    def __getattr__(self, name: str) -> Any:
        return proxy(jsmembers.read(self._js, _platform_name(name)))

    def __setattr__(self, name: str, value: Any) -> None:
        jsmembers.write(self._js, _platform_name(name), raw_to_js(value))

    def __delattr__(self, name: str) -> None:
        jsmembers.remove(self._js, _platform_name(name))

    def __bool__(self) -> bool:
        return not jsmembers.is_empty(self._js)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsProxy) and other._js is self._js

    __hash__ = None  # type: ignore[assignment]  # as on Pyodide: no key of a dict, in no set

    def __lt__(self, other: Any) -> bool:
        return bool(_ordered(self) < _ordered(other))

    def __le__(self, other: Any) -> bool:
        return bool(_ordered(self) <= _ordered(other))

    def __gt__(self, other: Any) -> bool:
        return bool(_ordered(self) > _ordered(other))

    def __ge__(self, other: Any) -> bool:
        return bool(_ordered(self) >= _ordered(other))

    def __repr__(self) -> str:
        return js_string(self._js)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *jsmembers.names(self._js)})

    @property
    def typeof(self) -> str:
        """What JavaScript's `typeof` says."""
        return "function" if isinstance(self._js, NativeFunction | JsFunction) else "object"

    @property
    def js_id(self) -> int:
        """A number for the object, the same as long as it lives."""
        return id(self._js)

    def object_keys(self) -> JsProxy:
        """The object's own keys as an array."""
        return JsProxy(list(jsmembers.own(self._js)))

    def object_values(self) -> JsProxy:
        """The object's own values as an array."""
        return JsProxy(list(jsmembers.own(self._js).values()))

    def object_entries(self) -> JsProxy:
        """The object's own keys and values as an array of pairs."""
        return JsProxy([[key, value] for key, value in jsmembers.own(self._js).items()])

    def to_py(self, *, depth: int = -1, default_converter: Callable[..., Any] | None = None) -> Any:
        """Objects, maps, arrays and sets as dict, list and set, copied down to `depth` levels.

        `default_converter(proxy, convert, cache)` is asked for every other object.
        """
        return _to_py(self._js, depth, default_converter)

    def as_py_json(self) -> Any:
        """The object as plain Python, as for JSON."""
        return _to_py(self._js, -1, None)

    def destroy(self) -> None:
        """Nothing: memory is Python's here."""


def _ordered(value: Any) -> Any:
    """What JavaScript compares of an object: a date's number, a text of everything else."""
    js = value._js if isinstance(value, JsProxy) else value
    return js.epoch_ms if isinstance(js, JsDate) else js_string(js)


def _kind_of(cls: type) -> type[JsProxy]:
    found = (finder(cls) for finder in KIND_FINDERS)
    return next((kind for kind in found if kind is not None), JsProxy)


def _platform_name(name: str) -> str:
    """`name` without the underscore that a reserved word gets in Python (`from_`)."""
    return name[:-1] if name.endswith("_") and keyword.iskeyword(name[:-1]) else name


def _to_py(js: Any, depth: int, converter: Callable[..., Any] | None) -> Any:
    if depth == 0:
        return proxy(js)

    def convert(item: Any) -> Any:
        return _to_py(item, depth - 1, converter)

    match js:
        case JsSet():
            return {convert(item) for item in js}
        case dict():
            return {key: convert(item) for key, item in js.items()}
        case list():
            return [convert(item) for item in js]
        case JsBuffer():
            form: Any = js.items.format
            return memoryview(bytearray(js.view)).cast(form)
        case bytes():
            return memoryview(js)
    held = proxy(js)
    if converter is None or not isinstance(held, JsProxy):
        return held
    return converter(held, lambda value: value, lambda before, after: None)


def proxy(value: Any) -> Any:
    """A value of the platform as Pyodide hands it to Python: scalars native, objects proxies.

    Shape: null is `jsnull`, undefined None; a Python object or function comes back as itself.
    """
    match value:
        case str() | bool():
            return value
        case None:
            return _null[0]
        case BigInt():
            return int(value)
        case int() | float():
            return number_from_js(value)
        case Undefined():
            return None
        case PyObject():
            return value.value
        case JsFunction():
            return value.function
        case bytes():
            return JsProxy(JsBuffer(value))
    return JsProxy(value)


def number_from_js(value: float) -> float:
    """A Number as Python has it: int when it is a safe integer, else float."""
    if isinstance(value, int):
        return value if abs(value) <= MAX_SAFE_INTEGER else float(value)
    if value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        return int(value)
    return value


def raw_to_js(value: Any) -> Any:
    """A Python argument of a raw call: scalars cross, None is undefined, the rest is a proxy.

    Shape: a dict or list stays a Python object on the other side, unless `to_js` made it one.
    """
    match value:
        case None:
            return UNDEFINED
        case str() | bool() | float() | BigInt():
            return value
        case int():
            number = int(value)
            return number if abs(number) <= MAX_NUMBER_INT else BigInt(number)
        case JsProxy():
            return value._js
        case JsNull():
            return None
        case JsObject():
            return value
    return JsFunction(value) if inspect.isroutine(value) else PyObject(value)


def raw_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments of a raw call: keyword arguments are one trailing object."""
    far = [raw_to_js(arg) for arg in args]
    if kwargs:
        far.append({name: raw_to_js(value) for name, value in kwargs.items()})
    return far


def listed(value: Any) -> list[Any] | None:
    """The items of an Array, or of a Python iterable that stands for one; None for the rest."""
    match value:
        case list():
            return value
        case PyObject(inner) if not isinstance(inner, str | bytes) and hasattr(inner, "__iter__"):
            return [raw_to_js(item) for item in cast("list[Any]", inner)]
    return None


__all__ = [
    "JSNULL",
    "KIND_FINDERS",
    "MAX_NUMBER_INT",
    "MAX_SAFE_INTEGER",
    "JsNull",
    "JsProxy",
    "listed",
    "number_from_js",
    "proxy",
    "raw_arguments",
    "raw_to_js",
    "show_null_as",
]
