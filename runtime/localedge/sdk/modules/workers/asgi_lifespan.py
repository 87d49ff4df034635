"""One lifespan of an ASGI application, around one request.

Source: asgi.readthedocs.io/en/latest/specs/lifespan.html, read 2026-12-01.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from localedge.sdk import stack_switch

logger = logging.getLogger("asgi")

VERSIONS: Final = {"spec_version": "2.0", "version": "3.0"}
_END_S: Final = 1.0
"""How long an application that said it failed may take to end."""


class Lifespan:
    """A lifespan under way.

    Shape: `state` is what the application keeps for its requests; `is_supported` is false when
    it has no lifespan; `task` is where it runs.
    """

    def __init__(self, app: Any) -> None:
        self.state: dict[str, Any] = {}
        self.is_supported = True
        loop = asyncio.get_running_loop()
        self._startup: asyncio.Future[bool] = loop.create_future()
        self._shutdown: asyncio.Future[None] = loop.create_future()
        self._events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._events.put_nowait({"type": "lifespan.startup"})
        self._error: Exception | None = None
        self.task = loop.create_task(stack_switch.switchable(self._run(app)))

    async def wait_started(self) -> None:
        """The application has started, or has no lifespan.

        Errors: RuntimeError when its startup failed.
        """
        try:
            self.is_supported = await self._startup
        except RuntimeError as error:
            await self._cause(error)
            raise

    async def shut_down(self) -> None:
        """The application has shut down.

        Errors: RuntimeError when that failed.
        """
        if self.is_supported:
            self._events.put_nowait({"type": "lifespan.shutdown"})
            try:
                await self._shutdown
            except RuntimeError as error:
                await self._cause(error)
                raise
        await self.task

    async def _cause(self, error: RuntimeError) -> None:
        """`error` has what the application raised after it had said that it failed."""
        await asyncio.wait((self.task,), timeout=_END_S)
        self.task.cancel()
        error.__cause__ = self._error

    async def _run(self, app: Any) -> None:
        scope = {"asgi": VERSIONS, "state": self.state, "type": "lifespan"}
        try:
            await app(scope, self._events.get, self._send)
        except Exception as error:  # the boundary of the application
            self._error = error
            if self._startup.done():
                logger.exception("Exception in ASGI lifespan application")
            else:
                logger.debug(
                    "ASGI application raised before reporting startup: it has no lifespan",
                    exc_info=True,
                )
        if not self._startup.done():
            self._startup.set_result(False)
        if not self._shutdown.done():
            self._shutdown.set_result(None)

    async def _send(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "lifespan.startup.complete":
                _settle(self._startup, True)
            case "lifespan.startup.failed":
                text = message.get("message") or "ASGI lifespan startup failed"
                _fail(self._startup, text)
            case "lifespan.shutdown.complete":
                _settle(self._shutdown, None)
            case "lifespan.shutdown.failed":
                _fail(self._shutdown, message.get("message") or "ASGI lifespan shutdown failed")
            case other:
                raise RuntimeError(f"Unexpected lifespan event {other}")


def _settle(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: asyncio.Future[Any], text: str) -> None:
    if not future.done():
        future.set_exception(RuntimeError(text))


async def started(app: Any) -> Lifespan:
    """A lifespan of `app` that has begun."""
    lifespan = Lifespan(app)
    await lifespan.wait_started()
    return lifespan
