"""A binding to something that answers requests: another worker, static files.

Source: reference/python-workers.md 1.6 and workers-runtime-sdk `workers/rpc.py`, read 2026-12-01.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

from localedge.binding import JsBinding, _BindingWrapper
from localedge.boundary import call_arguments
from localedge.errors import JsException
from localedge.jsproxy import JsProxy, raw_to_js
from localedge.probe import Call, Probe
from localedge.sdk.web.request import Request, new_request
from localedge.sdk.web.response import Response
from localedge.values import UNDEFINED, PyObject

Send = Callable[[Request], Awaitable[Response]]
Invoke = Callable[[str, list[Any]], Awaitable[Any]]


class Fetcher(JsBinding):
    """`env.SELF`, `env.ASSETS`: `fetch`, and for workers the methods of their entrypoint.

    Shape: `send` answers a request; `invoke(method, arguments)` calls a method, its arguments and
    result being values of the platform. Without `invoke` there are no methods.
    """

    js_class = "Fetcher"
    kind = "service"
    js_methods: ClassVar[Mapping[str, str]] = {"fetch": "fetch"}

    def __init__(self, send: Send, invoke: Invoke | None = None) -> None:
        self._send = send
        self._invoke = invoke

    def wrapped(self, name: str, probe: Probe) -> _FetcherWrapper:
        """What worker code gets: its `fetch` is the SDK's."""
        return _FetcherWrapper(self, name, probe)

    async def fetch(self, input: Any, init: Any = UNDEFINED) -> Response:
        """The answer to `new Request(input, init)`."""
        return await self._send(new_request(input, init))

    def method(self, name: str) -> Callable[..., Awaitable[Any]]:
        """The method `name` of the other side, for values of the platform."""

        async def called(*arguments: Any) -> Any:
            return await self.call(name, list(arguments))

        return called

    async def call(self, method: str, arguments: list[Any]) -> Any:
        """The result of a method of the other side's entrypoint.

        Errors: JsException, a TypeError when there are no methods, a DataCloneError for an
        argument or a result that is an object of Python's own.
        """
        if self._invoke is None:
            raise JsException(
                f'The RPC receiver does not implement the method "{method}".', name="TypeError"
            )
        for argument in arguments:
            _check(argument)
        result = await self._invoke(method, arguments)
        _check(result)
        return result


def _check(value: Any) -> None:
    if isinstance(value, PyObject):
        raise JsException(
            f'Could not serialize object of type "{type(value.value).__name__}". This type does '
            "not support serialization.",
            name="DataCloneError",
        )
    if isinstance(value, dict):
        for item in value.values():
            _check(item)
    elif isinstance(value, list):
        for item in value:
            _check(item)


class _FetcherWrapper(_BindingWrapper):
    """A Fetcher as worker code has it."""

    _binding: Fetcher

    async def fetch(self, *args: Any, **options: Any) -> Any:
        """The answer to a request, as `workers.fetch` gives it."""
        import workers

        async def send(input: Any, init: Any) -> Any:
            operation = self._binding.fetch
            call = Call("service", self._name, "fetch", (str(getattr(input, "url", input)),))
            far = (raw_to_js(input), raw_to_js(init))
            return JsProxy(await self._probe.run(call, lambda: operation(*far)))

        return await workers.fetch(*args, fetcher=send, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def method(*args: Any, **kwargs: Any) -> Any:
            arguments = call_arguments(args, kwargs)
            # The call has begun once it is made: awaiting only collects its result.
            return self._collected(asyncio.ensure_future(self._called(name, arguments)))

        return method

    async def _called(self, name: str, arguments: list[Any]) -> Any:
        call = Call("service", self._name, name, tuple(arguments))
        return await self._probe.run(call, lambda: self._binding.call(name, arguments))

    async def _collected(self, running: asyncio.Future[Any]) -> Any:
        result = await running
        from workers.rpc import from_far

        return from_far(result)
