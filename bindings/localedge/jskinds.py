"""The kinds of JsProxy: what can be walked, indexed, called, awaited.

Each is called JsProxy, as on the platform; `pyodide.ffi` exports them under their own names.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from typing import Any

from localedge import jsmembers
from localedge.errors import JsException, js_type_error
from localedge.jsproxy import KIND_FINDERS, JsProxy, proxy, raw_arguments, raw_to_js
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
    """A proxy of an Array."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self._js)

    def __getitem__(self, index: Any) -> Any:
        found = self._js[index]
        return JsProxy(found) if isinstance(index, slice) else proxy(found)

    def __setitem__(self, index: int, value: Any) -> None:
        self._js[index] = raw_to_js(value)

    def __contains__(self, value: Any) -> bool:
        return any(item == value for item in self)

    def append(self, value: Any) -> None:
        """`value` is the array's last item."""
        self._js.append(raw_to_js(value))


class JsMapping(JsIterable):
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

    def __contains__(self, key: Any) -> bool:
        return raw_to_js(key) in self._js


class JsMapLike(JsIterable):
    """A proxy of an object that has `get` and `has`: headers, parameters, a form."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        if key not in self:
            raise KeyError(key)
        return proxy(self._js.get(raw_to_js(key)))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._js.set(raw_to_js(key), raw_to_js(value))

    def __delitem__(self, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        self._js.delete(raw_to_js(key))

    def __contains__(self, key: Any) -> bool:
        found: bool = self._js.has(raw_to_js(key))
        return found


class JsBytes(JsIterable):
    """A proxy of an ArrayBuffer or a typed array."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self._js.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._js.items)

    def __getitem__(self, index: Any) -> Any:
        return self._js.items[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._js.items[index] = value

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


class JsAwaitable(JsProxy):
    """A proxy of a promise: it can be awaited."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, Any]:
        return _settled(self._js.future).__await__()

    def then(self, fulfilled: Any = None, rejected: Any = None) -> Any:
        """A promise of what `fulfilled` makes of the value, or `rejected` of the error."""
        return promised(_then(self._js.future, fulfilled, rejected))

    def catch(self, rejected: Any) -> Any:
        """A promise of the value, or of what `rejected` makes of the error."""
        return self.then(None, rejected)

    def finally_(self, done: Any) -> Any:
        """A promise of the same end, after `done()`."""
        return promised(_finally(self._js.future, done))


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


def result_of(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What a function of the platform gives for Python arguments; a promise for a coroutine.

    Errors: a JavaScript TypeError when arguments are missing.
    """
    far = raw_arguments(args, kwargs)
    target: Any = vars(function).get("__init__") if isinstance(function, type) else function
    code = getattr(getattr(target, "__func__", target), "__code__", None)
    if code is not None and not code.co_flags & 0x04:
        bound = isinstance(function, type) or hasattr(target, "__self__")
        most = code.co_argcount - (1 if bound else 0)
        if len(far) < most - len(target.__defaults__ or ()):
            raise js_type_error(f"Failed to execute '{name}': parameter {len(far) + 1} is missing.")
        del far[most:]
    value = function(*far)
    return promised(value) if asyncio.iscoroutine(value) else proxy(value)


def promised(running: Coroutine[Any, Any, Any]) -> JsProxy:
    """A promise of `running`, which has begun."""
    return JsProxy(JsPromise(asyncio.ensure_future(running)))


async def _settled(future: asyncio.Future[Any]) -> Any:
    return proxy(await future)


async def _then(future: asyncio.Future[Any], fulfilled: Any, rejected: Any) -> Any:
    try:
        value = await future
    except JsException as error:
        if rejected is None:
            raise
        return await _flat(rejected(error))
    return value if fulfilled is None else await _flat(fulfilled(proxy(value)))


async def _finally(future: asyncio.Future[Any], done: Any) -> Any:
    try:
        return await future
    finally:
        await _flat(done())


async def _flat(value: Any) -> Any:
    """`value` of a callback on this side, awaited if it can be."""
    return raw_to_js(await value if hasattr(value, "__await__") else value)


def _find(cls: type) -> type[JsProxy] | None:
    for kind, found in _BY_CLASS:
        if issubclass(cls, kind):
            return found
    if issubclass(cls, JsObject):
        if hasattr(cls, "js_items"):
            return JsAsyncIterable
        if {"get", "has"} <= cls.js_methods.keys():
            return JsMapLike
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
    JsBytes,
    JsCallable,
    JsAwaitable,
):
    _kind.__name__ = _kind.__qualname__ = "JsProxy"
KIND_FINDERS.append(_find)
