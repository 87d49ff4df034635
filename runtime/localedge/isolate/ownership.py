"""Which event a task belongs to, so that it can end with it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Generator, Sequence
from contextvars import Context, ContextVar
from typing import Any, Final, TypeVar

from localedge import binding, d1, jscalls, kv, probe, stream
from localedge.jsproxy import JsProxy
from localedge.sdk import stack_switch
from localedge.sdk.context import ExecutionContext

T = TypeVar("T")
_BINDINGS: Final = (
    *(module.__file__ for module in (binding, jscalls, probe, stream)),
    *(f"{folder}{os.sep}" for package in (d1, kv) for folder in package.__path__),
)
"""Where the code of bindings lies; the folder around it is the runtime's too, in a wheel."""


class _Origin:
    """A task that worker code started, and the one it was started from; outlives the task."""

    __slots__ = ("is_kept", "parent", "task")

    def __init__(self, task: asyncio.Task[Any], parent: _Origin | None) -> None:
        self.task: asyncio.Task[Any] | None = task
        self.parent = parent
        self.is_kept = False


class Event:
    """One event that an isolate is working on.

    Shape: `number` is the frames'; `ray` names the request in logs; `tasks` holds the unfinished
    tasks that worker code started; `calls` counts those to each kind of binding whose number is
    limited; `has_begun` once `main` has run its first line, `has_ended` once there is nothing left
    to cancel but what `waitUntil` was given.
    """

    __slots__ = ("calls", "context", "has_begun", "has_ended", "main", "number", "ray", "tasks")

    def __init__(
        self,
        number: int,
        ray: str,
        lines: Sequence[tuple[bytes, bytes]] = (),
        *,
        props: dict[str, Any] | None = None,
    ) -> None:
        self.number = number
        self.ray = ray
        self.context = ExecutionContext(JsProxy(props) if props else None, ray, lines)
        self.calls: dict[str, int] = {}
        self.has_begun = False
        self.has_ended = False
        self.main: asyncio.Task[None] | None = None
        self.tasks: dict[asyncio.Task[Any], _Origin] = {}

    def note(self, task: asyncio.Task[Any], started_from: asyncio.Task[Any] | None) -> None:
        """`task` belongs to this event."""
        parent = self.tasks.get(started_from) if started_from is not None else None
        self.tasks[task] = _Origin(task, parent)
        task.add_done_callback(self._forget)

    def cancel_strays(self) -> None:
        """Every task is cancelled that neither was given to `waitUntil` nor comes from one."""
        for task, origin in [*self.tasks.items()]:
            if not self._may_go_on(origin):
                task.cancel()

    def cancel_all(self) -> None:
        """Every task of this event is cancelled."""
        for task in [*self.tasks]:
            task.cancel()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        origin = self.tasks.pop(task)
        origin.is_kept = self.context.owns(task)
        origin.task = None

    def _may_go_on(self, origin: _Origin | None) -> bool:
        step = origin
        while step is not None:
            if step.is_kept or (step.task is not None and self.context.owns(step.task)):
                return True
            step = step.parent
        return False


EVENT: ContextVar[Event | None] = ContextVar("localedge_event", default=None)


def task_factory(
    loop: asyncio.AbstractEventLoop,
    coro: Coroutine[Any, Any, T] | Generator[Any, None, T],
    *,
    context: Context | None = None,
    **options: Any,
) -> asyncio.Task[T]:
    """A task that is noted with the event whose code starts it.

    A binding's own tasks are not: they serve later events too (the reader of a connection).
    """
    event = EVENT.get()
    if event is None or _is_binding(coro):
        return asyncio.Task(coro, loop=loop, context=context, **options)
    task = asyncio.Task(stack_switch.switchable(coro), loop=loop, context=context, **options)
    event.note(task, asyncio.current_task(loop))
    return task


def _is_binding(coro: object) -> bool:
    code = getattr(coro, "cr_code", None)
    return code is not None and code.co_filename.startswith(_BINDINGS)
