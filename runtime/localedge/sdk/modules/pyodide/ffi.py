"""`pyodide.ffi`: what crosses between Python and the platform's side.

Source: pyodide.org/en/stable/usage/api/python-api/ffi.html, read 2026-12-01.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from localedge.coercion import js_string
from localedge.errors import JsException
from localedge.jscalls import JsAwaitable as JsPromise
from localedge.jskinds import (
    JsArray,
    JsAsyncIterable,
    JsCallable,
    JsDoubleProxy,
    JsIterable,
)
from localedge.jskinds import JsBytes as JsBuffer
from localedge.jskinds import JsMapping as JsMap
from localedge.jsproxy import JSNULL, JsNull, JsProxy, proxy, raw_to_js
from localedge.sdk import stack_switch
from localedge.sdk.host import edge_python
from localedge.values import BigInt, JsFunction, JsSet, PyObject, Uint8Array
from localedge.values import JsMap as _Map

if TYPE_CHECKING:
    from localedge.sdk.stack_switch import can_run_sync, run_sync

    jsnull: JsNull
    JsBigInt = BigInt

__all__ = [
    "IN_PYODIDE",
    "ConversionError",
    "JsArray",
    "JsAsyncGenerator",
    "JsAsyncIterable",
    "JsAsyncIterator",
    "JsBigInt",
    "JsBuffer",
    "JsCallable",
    "JsCallableDoubleProxy",
    "JsDomElement",
    "JsDoubleProxy",
    "JsException",
    "JsFetchResponse",
    "JsGenerator",
    "JsIterable",
    "JsIterator",
    "JsMap",
    "JsMutableMap",
    "JsNull",
    "JsOnceCallable",
    "JsPromise",
    "JsProxy",
    "JsTypedArray",
    "JsWeakRef",
    "ToJsConverter",
    "can_run_sync",
    "create_once_callable",
    "create_proxy",
    "destroy_proxies",
    "jsnull",
    "register_js_module",
    "run_sync",
    "to_js",
    "unregister_js_module",
]

# Differs: `sys.platform` is "emscripten" there and the machine's own here.
IN_PYODIDE: Final = True
"""What a worker asks to know that `js` is there."""
JsCallableDoubleProxy = JsOnceCallable = JsDoubleProxy
JsMutableMap = JsMap
JsTypedArray = JsBuffer
ToJsConverter = Callable[..., Any]


class JsAsyncGenerator(JsProxy):
    """For annotations: there are no generators of JavaScript's here."""


class JsAsyncIterator(JsProxy):
    """For annotations: iterators are Python's own here."""


class JsDomElement(JsProxy):
    """For annotations: a worker has no document."""


class JsFetchResponse(JsProxy):
    """For annotations: a Response is a JsProxy like others."""


class JsGenerator(JsProxy):
    """For annotations: there are no generators of JavaScript's here."""


class JsIterator(JsProxy):
    """For annotations: iterators are Python's own here."""


class JsWeakRef(JsProxy):
    """For annotations: there are no weak references of JavaScript's here."""


class ConversionError(Exception):
    """A value has no form on the other side and proxies were not wanted."""


_SINCE: Final = {"jsnull": (3, 13), "JsBigInt": (3, 14)}
"""Names that came with the Pyodide of a later Python.

Source: reference/python-workers.md 1.7 and 2.1, read 2026-12-01.
"""


def _no_switch(_awaitable: Any) -> NoReturn:
    raise RuntimeError("Cannot stack switch: the edge's Python 3.12 cannot; 3.13 and later do")


def _cannot() -> bool:
    return False


def __getattr__(name: str) -> Any:
    # Looking up `run_sync` is how a worker says that its handlers have to run in greenlets.
    if name in ("run_sync", "can_run_sync"):
        if edge_python() < (3, 13):
            return _no_switch if name == "run_sync" else _cannot
        stack_switch.want()
        return getattr(stack_switch, name)
    if name in _SINCE and edge_python() >= _SINCE[name]:
        return JSNULL if name == "jsnull" else BigInt
    raise AttributeError(f"module 'pyodide.ffi' has no attribute {name!r}")


def to_js(
    obj: Any,
    /,
    *,
    depth: int = -1,
    pyproxies: Any = None,
    create_pyproxies: bool = True,
    dict_converter: Callable[[Any], Any] | None = None,
    default_converter: Callable[..., Any] | None = None,
    eager_converter: Callable[..., Any] | None = None,
) -> Any:
    """`obj` as an object of the platform: dicts are Objects, lists and tuples Arrays, copied.

    On an edge before Python 3.14 a dict is a Map, unless `dict_converter` makes it something else.

    Shape: scalars and objects of the platform come back unchanged. `dict_converter` gets the
    pairs of each dict. `default_converter(value, convert, cache)` is asked for what is left.
    Errors: ConversionError for the rest when `create_pyproxies` is false.
    """
    del pyproxies
    if obj is None or isinstance(obj, _PASSED):
        return obj
    rules = _Rules(create_pyproxies, dict_converter, default_converter, eager_converter)
    far = rules.convert(obj, depth)
    # What has no form over there is a proxy on this side too: recorded on Pyodide 314.0.7.
    return JsProxy(far) if isinstance(far, PyObject) else proxy(far)


@dataclass(frozen=True, slots=True)
class _Rules:
    """How one call of `to_js` converts; its results are values of the platform."""

    create_pyproxies: bool
    dict_converter: Callable[[Any], Any] | None
    default_converter: Callable[..., Any] | None
    eager_converter: Callable[..., Any] | None

    def convert(self, value: Any, level: int) -> Any:
        if self.eager_converter is None:
            return self._builtin(value, level)
        converted = self.eager_converter(value, lambda v: self._builtin(v, level), _no_cache)
        return raw_to_js(converted)

    def _builtin(self, value: Any, level: int) -> Any:
        if value is None or isinstance(value, _PASSED):
            return raw_to_js(value)
        if isinstance(value, bytes | bytearray | memoryview):
            return Uint8Array(bytes(value))
        if level == 0 or not isinstance(value, dict | list | tuple | set | frozenset):
            return self._other(value, level)
        if isinstance(value, dict):
            return self._object(value, level)
        items = [self.convert(item, level - 1) for item in value]
        return JsSet(items) if isinstance(value, set | frozenset) else items

    def _object(self, value: dict[Any, Any], level: int) -> Any:
        for key in value:
            if not isinstance(key, str | int | float | bool | None):
                raise ConversionError(f"Cannot use {key!r} as a key for a Javascript Map")
        pairs = [[raw_to_js(key), self.convert(item, level - 1)] for key, item in value.items()]
        if self.dict_converter is None:
            made = {js_string(key): item for key, item in pairs}
            # Until the Pyodide of Python 3.14 a dict became a Map, which is no options object.
            return made if edge_python() >= (3, 14) else _Map(made)
        return raw_to_js(self.dict_converter(JsProxy(pairs)))

    def _other(self, value: Any, level: int) -> Any:
        if self.default_converter is not None:
            converted = self.default_converter(
                value, lambda v: proxy(self.convert(v, level)), _no_cache
            )
            return raw_to_js(converted)
        if not self.create_pyproxies:
            raise ConversionError(f"No conversion known for {value!r}.")
        # What `to_js` made is not lent to a call, but stays.
        far = raw_to_js(value)
        return PyObject(far.function) if isinstance(far, JsFunction) else far


_PASSED: Final = (bool, int, float, str, JsProxy, JsNull)
"""What crosses as it is."""


def _no_cache(_before: Any, _after: Any) -> None:
    return None


def create_proxy(obj: Any, /, *, capture_this: bool = False, roundtrip: bool = True) -> Any:
    """`obj` as an object that JavaScript may keep."""
    del capture_this, roundtrip
    return JsProxy(PyObject(obj))


def create_once_callable(obj: Callable[..., Any], /) -> Any:
    """`obj` as a function that JavaScript may call once.

    Errors: JsException at a second call.
    """
    used: list[bool] = []

    def once(*args: Any, **kwargs: Any) -> Any:
        if used:
            raise JsException("OnceProxy can only be called once")
        used.append(True)
        return obj(*args, **kwargs)

    return JsProxy(PyObject(once))


def register_js_module(name: str, jsproxy: Any, /) -> None:
    """The module `name` has the members of `jsproxy`."""
    module = ModuleType(name)
    vars(module).update({key: getattr(jsproxy, key) for key in jsproxy.object_keys()})
    sys.modules[name] = module


def unregister_js_module(name: str, /) -> None:
    """The module `name` is no longer one. Errors: ValueError when it was none."""
    if sys.modules.pop(name, None) is None:
        raise ValueError(f"Cannot unregister {name!r}: no Javascript module with that name")


def destroy_proxies(pyproxies: Iterable[Any], /) -> None:
    """Nothing: memory is Python's here."""
