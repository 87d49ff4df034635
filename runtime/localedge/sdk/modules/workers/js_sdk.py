"""What `workers` gives of the running isolate: env, the event's lifetime, JavaScript modules."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from localedge.boundary import to_js
from localedge.errors import JsException
from localedge.jsproxy import JsProxy
from localedge.sdk.context import current
from localedge.sdk.host import current_env, host, patches
from localedge.sdk.legacy import RawEnv, raw_env
from localedge.values import JsObject, NativeFunction

logger = logging.getLogger("workers")


@contextmanager
def patch_env(
    d: Mapping[str, Any] | Sequence[tuple[str, Any]] | None = None, **kwds: Any
) -> Iterator[None]:
    """Inside, `workers.env` has these values over its own. `self.env` is not changed.

    Source: reference/python-workers.md 1.5, read 2026-12-01.
    """
    given = {name: to_js(value) for name, value in {**dict(d or {}), **kwds}.items()}
    token = patches.set({**patches.get({}), **given})
    try:
        yield
    finally:
        patches.reset(token)


def _wait_until(awaitable: Any) -> None:
    context = current.get()
    if context is None:
        raise JsException("Disallowed operation called within global scope.")
    if inspect.iscoroutine(awaitable):
        logger.warning(
            "wait_until got a bare coroutine: the edge's takes a Task or a Future only, "
            "self.ctx.waitUntil takes all three"
        )
        awaitable = asyncio.ensure_future(awaitable)
    context.waitUntil(awaitable)


def _no_sockets(*_address: Any) -> NoReturn:
    raise JsException(
        "cloudflare:sockets exists on the platform, not in localedge: use fetch, or asyncio's own "
        "streams, which work in both."
    )


def import_from_javascript(module_name: str) -> JsProxy:
    """The platform's module `module_name`.

    Errors: ImportError for a module that is not here; only "cloudflare:workers" can be used.
    Source: reference/python-workers.md 1.5, read 2026-12-01.
    """
    if module_name == "cloudflare:workers":
        wait_until = NativeFunction("waitUntil", _raw_wait_until)
        return JsProxy({"env": RawEnv(current_env()), "waitUntil": wait_until})
    if module_name == "cloudflare:sockets":
        return JsProxy({"connect": NativeFunction("connect", _no_sockets)})
    raise ImportError(
        f"Failed to import '{module_name}': localedge has no JavaScript modules but "
        "'cloudflare:workers' and 'cloudflare:sockets'."
    )


def _raw_wait_until(promise: Any) -> None:
    _wait_until(JsProxy(promise) if isinstance(promise, JsObject) else promise)


def attribute(name: str) -> Any:
    """The attributes of `workers` that depend on the running isolate.

    Errors: AttributeError for any other name.
    """
    if name == "env":
        return raw_env(current_env()) if host().is_legacy else current_env()
    if name in ("waitUntil", "wait_until"):
        return _wait_until
    raise AttributeError(f"module 'workers' has no attribute {name!r}")
