"""Reads and writes the members of values of the platform's side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from localedge.coercion import js_string
from localedge.errors import JsException, js_type_error
from localedge.values import (
    UNDEFINED,
    JsBuffer,
    JsDate,
    JsErrorValue,
    JsFunction,
    JsMap,
    JsObject,
    JsSet,
    NativeClass,
    NativeFunction,
    PyObject,
)


def read(js: Any, name: str) -> Any:
    """The member `name` of `js`: a value, or a NativeFunction bound to `js`.

    Errors: AttributeError where JavaScript reads undefined from a missing member.
    """
    if name.startswith("__"):
        raise AttributeError(name)
    found = _read_object(js, name) if isinstance(js, JsObject) else _read_builtin(js, name)
    if found is not _MISSING:
        return found
    if name == "constructor":
        return {"name": class_name(js)}
    if name == "toString":
        return NativeFunction(name, lambda: js_string(js))
    raise AttributeError(name)


_MISSING: Final = object()
# Source: Pyodide src/core/pyproxy.ts, read 2026-12-01.
DESTROYED: Final = (
    "This borrowed proxy was automatically destroyed at the end of a function call. "
    "Try using create_proxy or create_once_callable."
)


def _read_object(js: JsObject, name: str) -> Any:
    method = js.js_methods.get(name)
    if method is not None:
        return NativeFunction(name, getattr(js, method))
    ours = js.js_properties.get(name)
    if ours is not None:
        return getattr(js, ours)
    if isinstance(js, NativeFunction):
        if name == "name":
            return js.name
        if isinstance(js, NativeClass) and name in js.statics:
            return js.statics[name]
    if hasattr(type(js), "__getattr__") and name != "constructor":
        # A class that decides about its members as they are asked for.
        return getattr(js, name)
    return _MISSING


def _read_builtin(js: Any, name: str) -> Any:
    if isinstance(js, dict) and not isinstance(js, JsMap):
        return js.get(name, _MISSING) if name != "hasOwnProperty" else _own_property(js)
    for kind, members in _MEMBERS.items():
        if isinstance(js, kind) and name in members:
            return members[name](js)
    return _MISSING


def _own_property(js: dict[str, Any]) -> NativeFunction:
    return NativeFunction("hasOwnProperty", lambda key: js_string(key) in js)


def write(js: Any, name: str, value: Any) -> None:
    """The member `name` of `js` is `value`.

    Errors: AttributeError for a member that cannot be set.
    """
    if isinstance(js, dict) and not isinstance(js, JsMap):
        js[name] = value
        return
    ours = js.js_properties.get(name) if isinstance(js, JsObject) else None
    if ours is None:
        raise AttributeError(name)
    setattr(js, ours, value)


def remove(js: Any, name: str) -> None:
    """The object `js` has no member `name`."""
    if not isinstance(js, dict) or name not in js:
        raise AttributeError(name)
    del js[name]


def own(js: Any) -> Mapping[str, Any]:
    """The enumerable own members of `js`."""
    if isinstance(js, dict) and not isinstance(js, JsMap):
        return js
    if isinstance(js, list) and not isinstance(js, JsSet):
        return {str(at): item for at, item in enumerate(js)}
    return {}


def names(js: Any) -> list[str]:
    """The members of `js` that can be read."""
    if isinstance(js, JsObject):
        return [*js.js_methods, *js.js_properties]
    members = [name for kind, group in _MEMBERS.items() if isinstance(js, kind) for name in group]
    return [*own(js), *members]


def is_empty(js: Any) -> bool:
    """Whether `js` is a container without items, which Python takes for false.

    Source: recorded on Pyodide 314.0.7: Arrays, Maps, Sets, buffers, and what has a `size` of 0.
    """
    if isinstance(js, JsBuffer):
        return not js.view.nbytes
    if isinstance(js, dict) and not isinstance(js, JsMap):
        return "size" in js and js["size"] == 0
    if isinstance(js, JsObject):
        return "size" in js.js_properties and getattr(js, js.js_properties["size"]) == 0
    return isinstance(js, list | dict) and not js


def walk(js: Any) -> Iterator[Any]:
    """The items that `for … of` gives."""
    if isinstance(js, JsMap):
        return iter([key, value] for key, value in js.items())
    if isinstance(js, JsBuffer):
        return iter(js.view)
    return iter(js)


def class_name(js: Any) -> str:
    """The name of the constructor of `js`."""
    match js:
        case JsObject():
            return js.js_class
        case JsMap():
            return "Map"
        case JsSet():
            return "Set"
        case dict():
            return "Object"
        case list():
            return "Array"
        case JsDate():
            return "Date"
        case JsErrorValue():
            return js.name
        case JsFunction():
            return "Function"
        case bytes():
            return "ArrayBuffer"
    raise AttributeError("constructor")


def invoke(callback: Any, *arguments: Any) -> Any:
    """What a callback of worker code gives for values of this side.

    Errors: a JavaScript TypeError when it is no function; Python's when it takes fewer arguments:
    JavaScript drops those that a function does not name, Python does not.
    """
    from localedge.jsproxy import proxy, raw_to_js

    if isinstance(callback, NativeFunction):
        return callback.function(*arguments)
    function = callback.function if isinstance(callback, JsFunction) else None
    if isinstance(callback, PyObject) and callable(callback.value):
        function = callback.value
    if function is None:
        raise js_type_error(f"{js_string(callback)} is not a function")
    if isinstance(callback, JsFunction) and callback.has_ended:
        raise JsException(DESTROYED)
    return raw_to_js(function(*map(proxy, arguments)))


def method(name: str, function: Callable[..., Any]) -> Callable[[Any], NativeFunction]:
    """A member that is `function`, which gets the object that it is called on first."""

    def bind(js: Any) -> NativeFunction:
        def call(*arguments: Any) -> Any:
            return function(js, *arguments)

        return NativeFunction(name, call)

    return bind


_MAP: Final = {
    "size": len,
    "get": method("get", lambda js, key: js.get(key, UNDEFINED)),
    "has": method("has", lambda js, key: key in js),
    "set": method("set", lambda js, key, value: js.__setitem__(key, value)),
    "delete": method("delete", lambda js, key: js.pop(key, _MISSING) is not _MISSING),
    "keys": method("keys", lambda js: list(js)),
    "values": method("values", lambda js: list(js.values())),
    "entries": method("entries", lambda js: [[key, value] for key, value in js.items()]),
    "forEach": method("forEach", lambda js, f: [invoke(f, js[k], k, js) for k in js] and UNDEFINED),
    "clear": method("clear", lambda js: js.clear() or UNDEFINED),
}


def add(items: list[Any], value: Any) -> list[Any]:
    """`items`, which have `value` too."""
    items.append(value)
    return items


_PARTS: Final[Mapping[str, Callable[[Any], float]]] = {
    "FullYear": lambda moment: moment.year,
    "Month": lambda moment: moment.month - 1,
    "Date": lambda moment: moment.day,
    "Day": lambda moment: moment.isoweekday() % 7,
    "Hours": lambda moment: moment.hour,
    "Minutes": lambda moment: moment.minute,
    "Seconds": lambda moment: moment.second,
    "Milliseconds": lambda moment: moment.microsecond // 1000,
}


def _part(take: Callable[[Any], float]) -> Callable[[Any], float]:
    return lambda js: take(js.moment) if math.isfinite(js.epoch_ms) else math.nan


_DATE: Final = {
    **{
        f"get{zone}{name}": method(f"get{zone}{name}", _part(take))
        for zone in ("", "UTC")
        for name, take in _PARTS.items()
    },
    "getTimezoneOffset": method("getTimezoneOffset", lambda js: 0),
    "toUTCString": method("toUTCString", lambda js: f"{js.moment:%a, %d %b %Y %H:%M:%S} GMT"),
    "getTime": method("getTime", lambda js: js.epoch_ms),
    "valueOf": method("valueOf", lambda js: js.epoch_ms),
    "toISOString": method("toISOString", lambda js: js.iso()),
    "toJSON": method("toJSON", lambda js: js.iso()),
}
_ERROR: Final = {
    "name": lambda js: js.name,
    "message": lambda js: js.message,
    "stack": lambda js: js_string(js),
}
_SET: Final = {
    "size": len,
    "has": method("has", lambda items, value: value in items),
    "add": method("add", lambda items, value: items if value in items else add(items, value)),
    "delete": method("delete", lambda items, value: value in items and not items.remove(value)),
    "clear": method("clear", lambda items: items.clear() or UNDEFINED),
}
_MEMBERS: Final[dict[type, Mapping[str, Callable[[Any], Any]]]] = {
    JsSet: _SET,
    list: {},
    JsMap: _MAP,
    JsDate: _DATE,
    JsErrorValue: _ERROR,
}


def set_members(kind: type, members: Mapping[str, Callable[[Any], Any]]) -> None:
    """Values of that `kind` have these members."""
    _MEMBERS[kind] = members
