"""The kinds of JsProxy: what can be walked, indexed, called, awaited.

Each is called JsProxy, as on the platform; `pyodide.ffi` exports them under their own names.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Iterable,
    Iterator,
    MutableMapping,
    MutableSequence,
)
from typing import Any

from localedge import jsarrays, jsmembers
from localedge.errors import js_type_error
from localedge.jscalls import JsAwaitable, result_of
from localedge.jsproxy import KIND_FINDERS, JsProxy, proxy, raw_to_js
from localedge.values import (
    JsBuffer,
    JsFunction,
    JsMap,
    JsObject,
    JsPromise,
    NativeClass,
    NativeFunction,
    PyObject,
)


class JsIterable(JsProxy):
    """A proxy that can be walked."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return (proxy(item) for item in jsmembers.walk(self._js))


class JsAsyncIterable(JsProxy):
    """A proxy that can be walked with `async for`."""

    __slots__ = ()

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for item in self._js.js_items():
            yield proxy(item)


class JsArray(JsIterable):
    """A proxy of an Array: what Pyodide gives it of a list's methods, and what an Array has."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self._js)

    def __getitem__(self, index: Any) -> Any:
        try:
            found = self._js[index]
        except IndexError as error:
            raise IndexError(index) from error
        return JsProxy(found) if isinstance(index, slice) else proxy(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        far = [raw_to_js(one) for one in value] if isinstance(index, slice) else raw_to_js(value)
        self._js[index] = far

    def __delitem__(self, index: Any) -> None:
        del self._js[index]

    def __contains__(self, value: Any) -> bool:
        return any(item == value for item in self)

    def __reversed__(self) -> Iterator[Any]:
        return (proxy(item) for item in reversed(self._js))

    def append(self, value: Any) -> None:
        """`value` is the array's last item."""
        self._js.append(raw_to_js(value))

    def extend(self, values: Iterable[Any]) -> None:
        """`values` are the array's last items."""
        self._js.extend([raw_to_js(value) for value in values])

    def insert(self, index: int, value: Any) -> None:
        """`value` is before what was at `index`."""
        self._js.insert(index, raw_to_js(value))

    def index(self, value: Any, *bounds: int) -> int:
        """Where `value` is first. Errors: ValueError when it is nowhere."""
        return list(self).index(value, *bounds)

    def count(self, value: Any) -> int:
        """How often `value` is in the array."""
        return list(self).count(value)

    def remove(self, value: Any) -> None:
        """The first `value` is gone. Errors: ValueError when there is none."""
        del self._js[self.index(value)]

    def reverse(self) -> None:
        """The order is turned around."""
        self._js.reverse()

    def __add__(self, other: Any) -> Any:
        return JsProxy([*self._js, *(raw_to_js(item) for item in other)])

    def __mul__(self, times: int) -> Any:
        return JsProxy(self._js * times)

    def pop(self, index: int = -1) -> Any:
        """The item at `index`, which is taken out."""
        return proxy(self._js.pop(index))


class JsMapping(JsIterable, MutableMapping[Any, Any]):
    """A proxy of a Map."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return (proxy(key) for key in self._js)

    def __len__(self) -> int:
        return len(self._js)

    def __getitem__(self, key: Any) -> Any:
        return proxy(self._js[raw_to_js(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._js[raw_to_js(key)] = raw_to_js(value)

    def __delitem__(self, key: Any) -> None:
        del self._js[raw_to_js(key)]

    def __contains__(self, key: Any) -> bool:
        return raw_to_js(key) in self._js


class JsMapLike(JsIterable):
    """A proxy of an object that has `get` and `has`: headers, parameters, a form."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        # What is missing is null for these, and only undefined is a KeyError.
        return proxy(self._js.get(raw_to_js(key)))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._js.set(raw_to_js(key), raw_to_js(value))

    def __delitem__(self, key: Any) -> None:
        # `delete` of these gives undefined, which Pyodide takes for "it was not there".
        self._js.delete(raw_to_js(key))
        raise KeyError(key)

    def __contains__(self, key: Any) -> bool:
        found: bool = self._js.has(raw_to_js(key))
        return found


class JsSized(JsMapLike, MutableMapping[Any, Any]):
    """One that has `size` too, which Python takes for a dict: walking it gives the keys."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._js.keys())

    def __len__(self) -> int:
        return int(self._js.size)


class JsBytes(JsIterable):
    """A proxy of an ArrayBuffer or a typed array."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self._js.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._js.items)

    def __getitem__(self, index: Any) -> Any:
        return self._js.items[self._place(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._js.items[self._place(index)] = value

    def _place(self, index: Any) -> int:
        if isinstance(index, slice):
            raise NotImplementedError("Slice subscripting isn't implemented for typed arrays")
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return int(index)

    def to_bytes(self) -> bytes:
        """A copy as bytes."""
        return bytes(self._js.view)

    def to_memoryview(self) -> memoryview:
        """A copy as a memoryview."""
        return memoryview(bytearray(self._js.view)).cast(self._js.items.format)

    def to_string(self, encoding: str = "utf-8") -> str:
        """The bytes decoded."""
        return bytes(self._js.view).decode(encoding)

    def assign(self, source: Any) -> None:
        """The bytes are those of `source`, which has the same size."""
        self._js.view[:] = memoryview(source).cast("B")


class JsCallable(JsProxy):
    """A proxy of a function or a class."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self._js
        if isinstance(function, JsFunction):
            return function.function(*args, **kwargs)
        if not isinstance(function, NativeClass):
            return result_of(function.name, function.function, args, kwargs)
        if function.call is None:
            raise js_type_error(
                f"Class constructor {function.name} cannot be invoked without 'new'"
            )
        return result_of(function.name, function.call, args, kwargs)

    def new(self, *args: Any, **kwargs: Any) -> Any:
        """A new object of this class; keyword arguments are one trailing options object."""
        if not isinstance(self._js, NativeClass):
            raise js_type_error(f"{self._js.name} is not a constructor")
        return result_of(self._js.name, self._js.function, args, kwargs)


class JsDoubleProxy(JsProxy):
    """A proxy of a Python object that JavaScript holds: `create_proxy`."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._js.value, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._js.value(*args, **kwargs)

    def unwrap(self) -> Any:
        """The Python object."""
        return self._js.value


def _find(cls: type) -> type[JsProxy] | None:
    for kind, found in _BY_CLASS:
        if issubclass(cls, kind):
            return found
    if issubclass(cls, JsObject):
        if hasattr(cls, "js_items"):
            return JsAsyncIterable
        if {"get", "has"} <= cls.js_methods.keys():
            return JsSized if "size" in cls.js_properties else JsMapLike
        if hasattr(cls, "__iter__"):
            return JsIterable
    return None


_BY_CLASS: tuple[tuple[type, type[JsProxy]], ...] = (
    (JsMap, JsMapping),
    (list, JsArray),
    (JsBuffer, JsBytes),
    (JsPromise, JsAwaitable),
    (NativeFunction, JsCallable),
    (JsFunction, JsCallable),
    (PyObject, JsDoubleProxy),
)
for _kind in (
    JsIterable,
    JsAsyncIterable,
    JsArray,
    JsMapping,
    JsMapLike,
    JsSized,
    JsBytes,
    JsCallable,
    JsAwaitable,
    JsDoubleProxy,
):
    _kind.__name__ = _kind.__qualname__ = "JsProxy"
KIND_FINDERS.append(_find)
MutableSequence.register(JsArray)
jsmembers.set_members(list, jsarrays.ARRAY)
