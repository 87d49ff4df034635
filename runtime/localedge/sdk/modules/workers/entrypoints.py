"""The classes that a worker derives from, and the decorator of the older form."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from localedge.jsproxy import JsProxy
from localedge.sdk import web
from localedge.sdk.legacy import wrapped_env
from workers.request import Request


class WorkerEntrypoint:
    """A worker's entrypoint: one instance handles one event.

    Shape: `ctx` is the event's context, `env` holds the bindings.
    Source: reference/python-workers.md 1.1, read 2026-12-01.
    """

    ctx: Any
    env: Any

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx = ctx
        self.env = env


def _refuse(kind: str) -> NoReturn:
    raise NotImplementedError(
        f"{kind} exists on the platform, but localedge runs only WorkerEntrypoint. "
        "State that must outlive a request belongs into D1 (see edgestate)."
    )


# Differs: classes of the next two kinds can be defined, so that a module that has some still
# loads, but no instance can be made: nothing here could call it.
class DurableObject:
    """Exists on the platform, not here.

    Errors: NotImplementedError when an instance is made.
    """

    def __init__(self, ctx: Any, env: Any) -> None:
        _refuse("DurableObject")


class WorkflowEntrypoint:
    """Exists on the platform, not here.

    Errors: NotImplementedError when an instance is made.
    """

    def __init__(self, ctx: Any, env: Any) -> None:
        _refuse("WorkflowEntrypoint")


def handler(func: Callable[..., Any]) -> Callable[..., Any]:
    """`func`, a module's `on_fetch` or the like, gets a Request and a wrapped env.

    Source: reference/python-workers.md 1.2, read 2026-12-01.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        event, *rest = args or (None,)
        if isinstance(event, JsProxy) and isinstance(event._js, web.Request):
            event = Request._of(event._js)
        if rest:
            rest[0] = wrapped_env(rest[0])
        return func(*((event, *rest) if args else ()), **kwargs)

    return wrapper
