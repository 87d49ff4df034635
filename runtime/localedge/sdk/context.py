"""What an event brings along besides its arguments: `self.ctx`."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextvars import ContextVar
from typing import Any

from localedge.errors import JsException
from localedge.values import PyObject

logger = logging.getLogger(__name__)


class ExecutionContext:
    """The lifetime of one event.

    Shape: `props` is what a binding that calls this worker was configured with;
    `passes_through` is true once `passThroughOnException` was called. `ray` names the event in
    logs, `lines` are the headers that it came with.
    Source: reference/python-workers.md 1.5 and 3, read 2026-12-01.
    """

    __slots__ = ("_closers", "_tasks", "lines", "passes_through", "props", "ray")

    def __init__(
        self, props: Any = None, ray: str = "", lines: Sequence[tuple[bytes, bytes]] = ()
    ) -> None:
        self.props = props if props is not None else {}
        self.ray = ray
        self.lines = lines
        self.passes_through = False
        self._tasks: list[asyncio.Future[Any]] | None = None
        self._closers: list[Callable[[], Awaitable[None]]] | None = None

    @property
    def exports(self) -> Any:
        """Refuses: entrypoints cannot be called through the context here.

        Errors: JsException, named NotSupportedError.
        """
        # Differs: on the platform these are bindings to the worker's own entrypoints.
        raise JsException(
            "ctx.exports exists on the platform, not in localedge: make an instance of the class.",
            name="NotSupportedError",
        )

    def at_end(self, close: Callable[[], Awaitable[None]]) -> None:
        """`close` is awaited when the event is over, in `drain`."""
        if self._closers is None:
            self._closers = []
        self._closers.append(close)

    def waitUntil(self, awaitable: Any, /) -> None:  # noqa: N802  (the platform's name)
        """`awaitable` runs on after the response; its failure is logged, not returned.

        A value that cannot be awaited counts as done, as a non-promise does on the platform.
        """
        inner = getattr(awaitable, "_js", None)
        if isinstance(inner, PyObject):
            awaitable = inner.value
        if not inspect.isawaitable(awaitable):
            return
        given = given_to_wait_until.set(True)
        try:
            future = asyncio.ensure_future(_as_future(awaitable))
        finally:
            given_to_wait_until.reset(given)
        if self._tasks is None:
            self._tasks = []
        self._tasks.append(future)

    def passThroughOnException(self) -> None:  # noqa: N802  (the platform's name)
        """An error goes to the origin. There is none behind a local address."""
        self.passes_through = True

    @property
    def waits_for(self) -> int:
        """How many futures given to `waitUntil` are not done."""
        return sum(not task.done() for task in self._tasks or ())

    def has_tasks(self) -> bool:
        """Whether `drain` has anything to do."""
        return bool(self._tasks or self._closers)

    def owns(self, task: asyncio.Future[Any]) -> bool:
        """Whether `task` was given to `waitUntil`."""
        return task in (self._tasks or ())

    async def drain(self, timeout_s: float) -> None:
        """Everything given to `waitUntil` has ended, or was cancelled after `timeout_s` seconds.

        Failures are logged. Tasks that are added while draining are waited for as well.
        The response must be sent by then: what it streams from is closed.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while self._tasks:
            tasks, self._tasks = self._tasks, None
            _, late = await asyncio.wait(tasks, timeout=max(0.0, deadline - loop.time()))
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=1.0)
                logger.warning(
                    "waitUntil tasks were cancelled",
                    extra={"tasks": len(late), "after_s": timeout_s},
                )
            for task in tasks:
                _report(task)
        closers, self._closers = self._closers, None
        for close in closers or ():
            await close()


def _as_future(awaitable: Awaitable[Any]) -> Coroutine[Any, Any, Any] | asyncio.Future[Any]:
    if inspect.iscoroutine(awaitable) or isinstance(awaitable, asyncio.Future):
        return awaitable
    return _await(awaitable)


async def _await(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _report(task: asyncio.Future[Any]) -> None:
    if not task.done() or task.cancelled():
        return
    error = task.exception()
    if error is not None:
        logger.error("waitUntil task failed", exc_info=error)


current: ContextVar[ExecutionContext | None] = ContextVar("localedge_context", default=None)
"""The context of the event that the running code belongs to; None at import."""
given_to_wait_until: ContextVar[bool] = ContextVar("localedge_given_to_wait_until", default=False)
"""True in what was begun by handing it to `waitUntil`, and in what that began."""
