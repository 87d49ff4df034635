"""The older world of Python Workers: bindings as raw objects of the platform.

There, results are JsProxy, null is `jsnull`, None is undefined, and a dict is no options object.
Source: reference/python-workers.md section 0, read 2026-12-01.
"""

from __future__ import annotations

import inspect
from typing import Any

from localedge.binding import EnvWrapper, JsBinding
from localedge.jsproxy import JsProxy
from localedge.probe import Call, Probe
from localedge.sdk.fetcher import Fetcher
from localedge.values import JsBuffer, JsObject, NativeFunction


class RawEnv(dict[str, Any]):
    """The values of an env by name, each binding as the platform's object.

    Shape: `wrapped` is the same env as the current world has it.
    """

    __slots__ = ("wrapped",)

    def __init__(self, wrapped: EnvWrapper) -> None:
        super().__init__(
            (name, _observed(value, name, wrapped._probe)) for name, value in wrapped._env.items()
        )
        self.wrapped = wrapped


class _RawBinding(JsObject):
    """A binding whose calls pass the probe, as they do in the current world."""

    __slots__ = ("_binding", "_name", "_probe")

    def __init__(self, binding: JsBinding, name: str, probe: Probe) -> None:
        self._binding = binding
        self._name = name
        self._probe = probe

    @property
    def js_class(self) -> str:  # type: ignore[override]
        """The class of the binding."""
        return self._binding.js_class

    def __getattr__(self, name: str) -> Any:
        binding = self._binding
        method = binding.js_methods.get(name)
        if method is not None:
            return NativeFunction(name, self._calling(name, getattr(binding, method)))
        known = binding.js_properties.get(name)
        if known is None and isinstance(binding, Fetcher) and not name.startswith("_"):
            return NativeFunction(name, self._calling(name, binding.method(name)))
        if known is None:
            raise AttributeError(name)
        return getattr(binding, known)

    def _calling(self, name: str, method: Any) -> Any:
        def call(*arguments: Any) -> Any:
            plain = [_plain(argument) for argument in arguments]
            if not inspect.iscoroutinefunction(method):
                return _observed(method(*plain), self._name, self._probe)
            return self._run(name, method, plain)

        return call

    async def _run(self, name: str, method: Any, arguments: list[Any]) -> Any:
        call = Call(self._binding.kind, self._name, name, tuple(arguments))
        value = await self._probe.run(call, lambda: method(*arguments))
        return _observed(value, self._name, self._probe)


def _observed(value: Any, name: str, probe: Probe) -> Any:
    return _RawBinding(value, name, probe) if isinstance(value, JsBinding) else value


def _plain(value: Any) -> Any:
    """`value` as bindings take it: a statement without its probe, a typed array as bytes."""
    if isinstance(value, _RawBinding):
        return value._binding
    if isinstance(value, JsBuffer):
        return bytes(value)
    if type(value) is list:
        return [_plain(item) for item in value]
    return value


def raw_env(env: EnvWrapper) -> JsProxy:
    """`env` as the older world has it."""
    return JsProxy(RawEnv(env))


def wrapped_env(env: Any) -> Any:
    """The current world's wrapper of a raw env; anything else unchanged."""
    inner = getattr(env, "_js", None)
    return inner.wrapped if isinstance(inner, RawEnv) else env
