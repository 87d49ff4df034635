"""One life of a worker: what belongs to it, and that nothing does once it is dead."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Generator
from contextvars import Context, ContextVar
from types import coroutine
from typing import Any, Final, TypeVar

from localedge.explore.answers import Answer, Ask
from localedge.explore.seeded import Source
from localedge.isolate import ownership
from localedge.isolate.ownership import Event
from localedge.probe import Probe

T = TypeVar("T")


class WorkerKilled(BaseException):
    """The worker is dead: whatever it still tries raises this and does nothing."""


class Incarnation:
    """A worker from one event to its death or the event's end.

    Shape: `number` counts from 1; `ended` is done when the handler has answered, the worker died
    or stalled; `queue` holds the calls that wait for their turn; `told` is a hash of everything
    that the worker has learned so far; `stall` is pending while the worker stalls;
    `has_served` once its handler has come to an end.
    """

    def __init__(self, number: int, ask: Ask, seed: int) -> None:
        self.number = number
        self.ask = ask
        self.source = Source(seed, number)
        self.event = Event(number, f"explored-{number}")
        # In the order of their beginning: a set of tasks has another order in every process.
        self.tasks: dict[asyncio.Task[Any], None] = {}
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.stall: asyncio.Future[None] | None = None
        self.queue: deque[asyncio.Future[None]] = deque()
        self.answer: Answer | None = None
        self.told = 0
        self.is_dead = False
        self.has_served = False
        self.died_at_s = 0.0

    def note(self, task: asyncio.Task[Any]) -> None:
        """`task` is this worker's until it is done."""
        self.tasks[task] = None
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self.tasks.pop(task, None)

    def end(self) -> None:
        """Whoever waits for the answer need not wait any longer."""
        if not self.ended.done():
            self.ended.set_result(None)

    def die(self, wall_s: float, *, is_cancelled: bool = True) -> None:
        """From now on no call of this worker reaches anything."""
        self.is_dead = True
        self.died_at_s = wall_s
        if is_cancelled:
            me = asyncio.current_task()
            for task in [*self.tasks]:
                if task is not me:
                    task.cancel()
        self.end()

    async def bury(self) -> None:
        """Nothing of this worker is left on the loop."""
        me = asyncio.current_task()
        while left := [task for task in self.tasks if task is not me]:
            for task in left:
                task.cancel()
            await asyncio.wait(left)


INCARNATION: ContextVar[Incarnation | None] = ContextVar("localedge_incarnation", default=None)


def source_of_current() -> Source | None:
    """The randomness of the worker that runs now."""
    incarnation = INCARNATION.get()
    return None if incarnation is None else incarnation.source


_CALL: Final = Probe.run.__code__


@coroutine
def _rest(running: Any, waits_for: Any) -> Generator[Any, Any, Any]:
    """The result of `running`, which waits for `waits_for` already."""
    try:
        yield waits_for
    except BaseException as error:  # noqa: BLE001  (for `running` to handle)
        waits_for = running.throw(error)
        return (yield from _rest(running, waits_for))
    return (yield from running)


async def _resumed(running: Any, waits_for: Any) -> Any:
    # A task of 3.12 and later takes no generator.
    return await _rest(running, waits_for)


class _Begun(asyncio.Future[T]):
    """A call that never waited, in the place of its task: the loop of 3.12 and later names it."""

    def set_name(self, _name: object) -> None:
        """It keeps no name: it is over."""


def task_factory(
    loop: asyncio.AbstractEventLoop,
    coro: Coroutine[Any, Any, T] | Generator[Any, None, T],
    *,
    context: Context | None = None,
    **options: Any,
) -> asyncio.Task[T]:
    """A task that is noted with the worker whose code starts it.

    A binding's call is begun at once, as on the platform, and needs none if it does not wait.
    """
    incarnation = INCARNATION.get()
    if incarnation is not None and getattr(coro, "cr_code", None) is _CALL:
        begun: _Begun[T] = _Begun(loop=loop)
        try:
            waits_for = coro.send(None)
        except StopIteration as end:
            begun.set_result(end.value)
            return begun  # type: ignore[return-value]
        except asyncio.CancelledError:
            begun.cancel()
            return begun  # type: ignore[return-value]
        except BaseException as error:  # noqa: BLE001  (raised where it is awaited, as of a task)
            begun.set_exception(error)
            return begun  # type: ignore[return-value]
        coro = _resumed(coro, waits_for)
    task = ownership.task_factory(loop, coro, context=context, **options)
    if incarnation is not None:
        incarnation.note(task)
    return task
