"""Calls of the platform's functions, and the promises that they give."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from localedge.errors import JsException, js_type_error
from localedge.jsproxy import JsProxy, proxy, raw_arguments, raw_to_js
from localedge.values import UNDEFINED, JsFunction, JsPromise, Undefined


class JsAwaitable(JsProxy):
    """A proxy of a promise: it can be awaited, and asyncio's functions take it for a future."""

    # Differs: on the platform it is a PyodideFuture, for which isinstance says asyncio.Future.
    __slots__ = ("_kept",)
    _asyncio_future_blocking = False
    """What `asyncio.isfuture` asks for."""

    def __hash__(self) -> int:  # type: ignore[override]  # as a future, which gather needs
        return id(self._js)

    def __await__(self) -> Generator[Any, None, Any]:
        return _settled(self._js.future).__await__()

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The loop that it belongs to."""
        loop: asyncio.AbstractEventLoop = self._js.future.get_loop()
        return loop

    def done(self) -> bool:
        """Whether it is settled."""
        return bool(self._js.future.done())

    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return bool(self._js.future.cancelled())

    def cancel(self, msg: Any = None) -> bool:
        """Nobody waits for it any more."""
        return bool(self._js.future.cancel(msg))

    def result(self) -> Any:
        """Its value. Errors: what it was rejected with; InvalidStateError before it is settled."""
        return proxy(self._js.future.result())

    def exception(self) -> BaseException | None:
        """What it was rejected with. Errors: InvalidStateError before it is settled."""
        error: BaseException | None = self._js.future.exception()
        return error

    def add_done_callback(self, callback: Callable[[Any], object], *, context: Any = None) -> None:
        """`callback(self)` is called once it is settled."""

        def settled(_: asyncio.Future[Any]) -> None:
            callback(self)

        self._callbacks().append((callback, settled))
        self._js.future.add_done_callback(settled, context=context)

    def remove_done_callback(self, callback: Callable[[Any], object]) -> int:
        """`callback` is not called any more; how many times it was to be."""
        kept = self._callbacks()
        removed = [pair for pair in kept if pair[0] == callback]
        for pair in removed:
            kept.remove(pair)
            self._js.future.remove_done_callback(pair[1])
        return len(removed)

    def _callbacks(self) -> list[tuple[Any, Any]]:
        try:
            kept: list[tuple[Any, Any]] = object.__getattribute__(self, "_kept")
        except AttributeError:
            kept = []
            object.__setattr__(self, "_kept", kept)
        return kept

    def then(self, fulfilled: Any = None, rejected: Any = None) -> Any:
        """A promise of what `fulfilled` makes of the value, or `rejected` of the error."""
        return promised(_then(self._js.future, fulfilled, rejected))

    def catch(self, rejected: Any) -> Any:
        """A promise of the value, or of what `rejected` makes of the error."""
        return self.then(None, rejected)

    def finally_(self, done: Any) -> Any:
        """A promise of the same end, after `done()`."""
        return promised(_finally(self._js.future, done))


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
    is_void = getattr(function, "__annotations__", {}).get("return") == "None"
    if asyncio.iscoroutine(value):
        promise = promised(_void(value) if is_void else value)
        promise._js.future.add_done_callback(lambda _: _end(far))
        return promise
    _end(far)
    return None if is_void else proxy(value)


async def _void(running: Coroutine[Any, Any, Any]) -> Undefined:
    await running
    return UNDEFINED


def _end(arguments: list[Any]) -> None:
    """Functions that were lent to a call cannot be called after it, as on Pyodide."""
    for one in arguments:
        if isinstance(one, JsFunction):
            one.ends.append(True)


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
