"""What worker code holds of a binding: a wrapper that converts, counts and forwards."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from functools import lru_cache
from operator import attrgetter
from types import coroutine
from typing import Any, ClassVar, Never

from localedge.boundary import UNWRAPPED, JsProxy, call_arguments, from_js, proxy
from localedge.probe import Call, Probe
from localedge.values import JsObject


class JsBinding(JsObject):
    """An object whose methods worker code calls across the boundary.

    Shape: a method takes its arguments in JavaScript's form (`boundary`) and returns such a
    value or an awaitable of one; `kind` names it for the probe. `goes_on_by_itself` is for one
    whose work is handed over, whole and without a task of its own, before a method first waits.
    """

    kind: ClassVar[str] = ""
    goes_on_by_itself: ClassVar[bool] = False

    def wrapped(self, name: str, probe: Probe) -> _BindingWrapper:
        """What `env` gives worker code for this binding, which is called `name` there."""
        return _BindingWrapper(self, name, probe)


class _BindingWrapper:
    """`env.KV`, `env.DB`, a statement: attributes are the platform's methods.

    Source: workers-runtime-sdk 1.9.5 `workers/rpc.py`, read 2026-12-01; the name is what its
    error texts show.
    """

    def __init__(self, binding: JsBinding, name: str, probe: Probe) -> None:
        self._binding = binding
        self._name = name
        self._probe = probe

    def __getattr__(self, name: str) -> Any:
        binding = self._binding
        ours = binding.js_methods.get(name)
        if ours is None:
            known = binding.js_properties.get(name)
            if known is None:
                raise AttributeError(name)
            return from_js(getattr(binding, known))
        method = _Method(binding, self._name, self._probe, name, getattr(binding, ours))
        # As in the SDK, the second look-up finds what the first one made.
        self.__dict__[name] = method
        return method

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Never:
        raise TypeError(f"'{self._binding.js_class}' object is not iterable")

    def __len__(self) -> int:
        raise TypeError(f"'{self._binding.js_class}' object has no len()")

    @property
    def js_object(self) -> JsProxy:
        """The raw object, so that a statement crosses back into `batch`."""
        return JsProxy(self._binding)


@lru_cache(maxsize=256)
def _is_async(function: Callable[..., Any]) -> bool:
    # Asked anew for each statement, this would cost more than its bind.
    return inspect.iscoroutinefunction(function)


class _Method:
    """One method of a binding, bound."""

    __slots__ = ("_binding", "_function", "_is_async", "_name", "_platform_name", "_probe")

    def __init__(
        self,
        binding: JsBinding,
        name: str,
        probe: Probe,
        platform_name: str,
        function: Callable[..., Any],
    ) -> None:
        self._binding = binding
        self._name = name
        self._probe = probe
        self._platform_name = platform_name
        self._function = function
        self._is_async = _is_async(getattr(function, "__func__", function))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        arguments = call_arguments(args, kwargs)
        if not self._is_async:
            return self._wrap(self._function(*arguments))
        # The platform's call has begun once it is made: awaiting only collects its result, and
        # who stops waiting does not stop it.
        if self._binding.goes_on_by_itself and not self._probe.observers:
            # A task would have the loop turn three times more for each call.
            return self._begin(self._function(*arguments), arguments)
        return self._collect(asyncio.ensure_future(self._observed(arguments)))

    def _observed(self, arguments: list[Any]) -> Coroutine[Any, Any, Any]:
        probe = self._probe
        if not probe.observers:
            return self._counted(self._function(*arguments), arguments)
        kind = self._binding.kind
        call = Call(kind, self._name, self._platform_name, tuple(arguments), target=self._binding)
        return probe.run(call, lambda: self._function(*arguments))

    def _begin(
        self, running: Coroutine[Any, Any, Any], arguments: list[Any]
    ) -> Coroutine[Any, Any, Any]:
        """The result of `running`, which is run up to where it first waits."""
        began = self._probe.tally.begin(self._name, self._platform_name, arguments, self._binding)
        try:
            waits_for = running.send(None)
        except StopIteration as end:
            self._count(began)
            return self._over(end.value)
        except (Exception, asyncio.CancelledError, GeneratorExit) as exc:  # noqa: BLE001
            self._count(began, exc)
            # The caller gets it where a task would have raised it: when it awaits.
            return self._failed(exc)
        return self._finish(running, waits_for, began)

    def _count(self, began: float, error: BaseException | None = None) -> None:
        names = self._binding.kind, self._name, self._platform_name
        self._probe.tally.ended(*names, began, error)

    async def _over(self, value: Any) -> Any:
        return self._wrap(value)

    async def _failed(self, error: BaseException) -> Any:
        raise error

    async def _finish(self, running: Coroutine[Any, Any, Any], waits_for: Any, began: float) -> Any:
        try:
            value = await _rest(running, waits_for)
        except BaseException as error:
            self._count(began, error)
            raise
        self._probe.tally.ended(self._binding.kind, self._name, self._platform_name, began)
        return self._wrap(value)

    async def _counted(self, running: Awaitable[Any], arguments: list[Any]) -> Any:
        began = self._probe.tally.begin(self._name, self._platform_name, arguments, self._binding)
        try:
            value = await running
        except BaseException as error:
            self._count(began, error)
            raise
        self._count(began)
        return value

    async def _collect(self, running: asyncio.Future[Any]) -> Any:
        return self._wrap(await asyncio.shield(running))

    def _wrap(self, value: Any) -> Any:
        if isinstance(value, JsBinding):
            return _BindingWrapper(value, self._name, self._probe)
        return from_js(value)


@coroutine
def _rest(running: Coroutine[Any, Any, Any], waits_for: Any) -> Generator[Any, Any, Any]:
    """The result of `running`, which waits for `waits_for` already."""
    try:
        yield waits_for
    except (Exception, asyncio.CancelledError, GeneratorExit) as exc:  # noqa: BLE001
        try:
            waits_for = running.throw(exc)
        except StopIteration as end:
            return end.value
        return (yield from _rest(running, waits_for))
    # The event loop sends nothing but None into a coroutine, as this does at its first step.
    return (yield from running)


class _EnvWrapper:
    """`self.env`: one attribute per binding, var and secret.

    Shape: `values` holds JsBinding objects and JavaScript values by name; JSON objects stay
    JsProxy, as on the platform. Missing names raise AttributeError; `env["X"]` a TypeError.
    """

    def __init__(self, values: Mapping[str, Any], probe: Probe) -> None:
        self._env = values
        self._probe = probe

    def __getattr__(self, name: str) -> Any:
        try:
            value = self._env[name]
        except KeyError:
            raise AttributeError(name) from None
        if isinstance(value, JsBinding):
            return value.wrapped(name, self._probe)
        return None if value is None else proxy(value)


UNWRAPPED[_BindingWrapper] = attrgetter("_binding")
BindingWrapper = _BindingWrapper
EnvWrapper = _EnvWrapper
