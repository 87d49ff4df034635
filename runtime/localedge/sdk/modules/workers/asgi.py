"""`workers.asgi`: ASGI applications as workers.

Source: reference/python-workers.md 1.5 and workers-runtime-sdk `workers/asgi.py`, read 2026-12-01.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from localedge.jsproxy import JsProxy
from localedge.sdk import inline_threads
from localedge.sdk.context import ExecutionContext, current
from workers import asgi_lifespan, asgi_request
from workers.entrypoints import WorkerEntrypoint
from workers.gateway import BaseOptions

logger = logging.getLogger("asgi")

inline_threads.install()

_kept: set[asyncio.Future[Any]] = set()


async def fetch(
    app: Any, req: Any, env: Any, ctx: Any = None, *, options: BaseOptions | None = None
) -> JsProxy:
    """The application's response; its lifespan runs around this one request.

    Shape: a streamed response comes back at its first piece; the application then goes on, and
    its shutdown follows, as a `waitUntil` task.
    Errors: what the application raises before its response; RuntimeError when it gives none, or
    when its startup fails.
    """
    lifespan = await asgi_lifespan.started(app)
    try:
        response, running = await asgi_request.process(app, req, env, lifespan.state)
    except BaseException:
        logger.exception("ASGI request failed")
        await lifespan.shut_down()
        raise
    if running.done():
        await lifespan.shut_down()
    else:
        # Both tasks began with the request, and go on after it with what waits for them.
        for task in (running, lifespan.task, asyncio.ensure_future(_finish(running, lifespan))):
            _go_on(ctx, task)
    response.encode_body = (options or BaseOptions()).encode_body
    return JsProxy(response)


async def _finish(running: asyncio.Task[None], lifespan: asgi_lifespan.Lifespan) -> None:
    try:
        await running
    finally:
        await lifespan.shut_down()


def _go_on(ctx: Any, task: asyncio.Future[Any]) -> None:
    context = ctx if isinstance(ctx, ExecutionContext) else current.get()
    if context is not None:
        context.waitUntil(task)
    else:
        run_in_background(task)


def request_to_scope(req: Any, env: Any) -> dict[str, Any]:
    """The ASGI scope of a request."""
    return asgi_request.scope_of(asgi_request.platform_request(req), env, None)


def run_in_background(coro: Any) -> asyncio.Future[Any]:
    """`coro` runs on its own; its failure is logged."""
    task: asyncio.Future[Any] = asyncio.ensure_future(coro)
    _kept.add(task)
    task.add_done_callback(_ended)
    return task


def _ended(task: asyncio.Future[Any]) -> None:
    _kept.discard(task)
    error = None if task.cancelled() else task.exception()
    if error is not None:
        logger.error("Unhandled exception in background task", exc_info=error)


async def websocket(app: Any, req: Any, env: Any = None) -> JsProxy:
    """Refuses: there are no WebSockets here.

    Errors: NotImplementedError.
    """
    # Differs: the platform connects a WebSocketPair to the application.
    raise NotImplementedError(
        "WebSockets exist on the platform, not in localedge: use server-sent events or polling."
    )


def entrypoint(app: Any) -> type[WorkerEntrypoint]:
    """The default entrypoint of an ASGI application: `Default = asgi.entrypoint(app)`."""

    class Default(WorkerEntrypoint):
        async def fetch(self, request: Any) -> Any:
            if (request.headers.get("upgrade") or "").lower() == "websocket":
                return await websocket(app, request, self.env)
            return await fetch(app, request, self.env, self.ctx)

    return Default


def __getattr__(name: str) -> Any:
    if name != "env":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # FastAPI is the worker's own; its dependency is made when a worker asks for it.
    from fastapi import Depends, Request

    def of_request(request: Any) -> Any:
        return request.scope["env"]

    of_request.__annotations__ = {"request": Request}
    return Depends(of_request)
