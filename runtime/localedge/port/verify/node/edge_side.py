"""Runs on Pyodide: loads the worker and hands events to it, as the platform does.

Source: workerd src/pyodide/internal/introspection.py and python-entrypoint-helper.ts, by way of
reference/python-workers.md section 1.2, read 2026-12-01.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import textwrap
from collections.abc import Callable
from types import ModuleType
from typing import Any

from workers import Request, Response, WorkerEntrypoint, python_from_rpc, python_to_rpc

_RELAXED = frozenset({"fetch"})
_scope: dict[str, Any] = {"Request": Request, "Response": Response}
_main: list[ModuleType] = []
_wrap: Any = importlib.import_module("workers.rpc").__dict__["_EnvWrapper"]


def python_version() -> str:
    """The version of this Python."""
    return ".".join(map(str, sys.version_info[:3]))


async def load(main: str) -> None:
    """The worker's main module is imported."""
    _main[:] = [importlib.import_module(main)]


async def fetch(request: Any, env: Any, ctx: Any) -> Any:
    """The JavaScript Response of the worker to a JavaScript Request."""
    answer = await _dispatched("fetch", request, env, ctx)
    # What an older handler returns is not converted; it may be the SDK's Response all the same.
    answer = getattr(answer, "js_response", answer)
    constructor = getattr(getattr(answer, "constructor", None), "name", None)
    if constructor != "Response":
        raise TypeError(f"{type(answer).__name__} did not resolve to 'Response'.")
    return answer


async def scheduled(controller: Any, env: Any, ctx: Any) -> None:
    """The worker's handler for crons has run."""
    await _dispatched("scheduled", controller, env, ctx)


async def run(code: str, given: str, env: Any) -> str:
    """What the lines `code` return, as JSON; they have `env`, `given`, `Request`, `Response`.

    Names that the code declares global stay for the next time.
    """
    body = textwrap.indent(textwrap.dedent(code), "    ", lambda _line: True)
    exec(f"async def _code(env, given):\n{body}", _scope)
    returned = await _scope.pop("_code")(_wrap(env), json.loads(given))
    return json.dumps(returned)


async def _dispatched(event: str, argument: Any, env: Any, ctx: Any) -> Any:
    (module,) = _main
    entrypoint = _default(module)
    if entrypoint is None:
        handler = getattr(module, f"on_{event}", None)
        if handler is None or _has_no_global_handlers():
            raise TypeError(f"Handler does not export a {event}() function.")
        return await _settled(_relaxed(handler, (argument, env, ctx)))
    handler = getattr(entrypoint(ctx, env), event, None)
    if handler is None:
        raise TypeError(f"Handler does not export a {event}() function.")
    arguments = (python_from_rpc(argument), None, None)
    called = _relaxed(handler, arguments) if event in _RELAXED else handler(*arguments)
    return python_to_rpc(await _settled(called))


def _has_no_global_handlers() -> bool:
    flags = importlib.import_module("_cloudflare_compat_flags")
    return bool(getattr(flags, "python_no_global_handlers", True))


def _default(module: ModuleType) -> type | None:
    names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    found = getattr(module, "Default", None) if "Default" in names else None
    if inspect.isclass(found) and issubclass(found, WorkerEntrypoint):
        return found
    return None


def _relaxed(handler: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call `handler` without the positional arguments that it does not take."""
    parameters = inspect.signature(handler).parameters.values()
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return handler(*arguments)
    taken = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return handler(*arguments[: len(taken)])


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
