"""How a worker dies at a chosen point, and that it reaches nothing afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from localedge.errors import JsException
from localedge.explore.world import State, World
from localedge.probe import Call, Observer, Outcome


class WorkerKilled(BaseException):
    """The worker is dead: whatever it still tries raises this and does nothing."""


class Mode(StrEnum):
    """What happens at a point.

    Shape: `BEFORE`: the worker dies and the call was not made; `AFTER`: the call was made and
    the worker died before it knew; `ERROR_AFTER`: the call was made, and the worker is told that
    it failed.
    """

    BEFORE = "before"
    AFTER = "after"
    ERROR_AFTER = "error-after"


@dataclass(slots=True)
class Trace:
    """What one run did: its calls by point, and the world around each, if they are recorded."""

    is_recording: bool
    calls: dict[int, Call] = field(default_factory=dict)
    before: dict[int, State] = field(default_factory=dict)
    after: dict[int, State] = field(default_factory=dict)


Faults: TypeAlias = Mapping[int, Mode]
Watch: TypeAlias = Callable[[Call], Awaitable[None]]


@dataclass(slots=True)
class LateCall:
    """A call of a dead worker that the store carries out when the successor is at `point`.

    Shape: `committed` says what is stored, with the fence first; `fence` is that of the dead;
    `has_torn` says that the call changed something after a later fence was given.
    """

    point: int
    call: Call
    committed: Callable[[], Awaitable[tuple[int, object]]]
    fence: int
    is_made: bool = False
    has_torn: bool = False

    async def make(self, world: World) -> None:
        """The statements run now; that they are refused is what is hoped for."""
        self.is_made = True
        fence, was = await self.committed()
        with suppress(JsException):
            await world.database.batch(*self.call.arguments)
        _, now = await self.committed()
        self.has_torn = fence > self.fence and was != now


class Incarnation(Observer):
    """One life of a worker: counts its calls and ends it at a fault."""

    def __init__(
        self,
        world: World,
        faults: Faults,
        trace: Trace,
        *,
        watch: Watch,
        late: LateCall | None = None,
    ) -> None:
        self._world = world
        self._faults = faults
        self._trace = trace
        self._watch = watch
        self._late = late
        self._points: dict[int, int] = {}
        self.is_dead = False
        world.worker += 1

    async def before(self, call: Call) -> None:
        """Count the call; die before it is made, if that is the fault."""
        if self.is_dead:
            raise WorkerKilled
        world = self._world
        world.point += 1
        point = self._points[call.number] = world.point
        self._trace.calls[point] = call
        if self._late is not None and self._late.point == point and not self._late.is_made:
            await self._late.make(world)
        if self._trace.is_recording:
            self._trace.before[point] = world.state()
        if call.kind == "tool":
            await self._watch(call)
        if self._faults.get(point) is Mode.BEFORE:
            self.is_dead = True
            raise WorkerKilled

    async def after(self, call: Call, outcome: Outcome) -> None:
        """Die after the call, or tell a lie about it, if that is the fault."""
        if self.is_dead:
            raise WorkerKilled
        point = self._points[call.number]
        if self._trace.is_recording:
            self._trace.after[point] = self._world.state()
        mode = self._faults.get(point)
        if mode is Mode.AFTER:
            self.is_dead = True
            raise WorkerKilled
        if mode is Mode.ERROR_AFTER and outcome.error is None:
            raise _lost(call)


def _lost(call: Call) -> Exception:
    """What a worker sees when the answer to `call` does not arrive."""
    if call.kind == "d1":
        return JsException("D1_ERROR: Network connection lost.")
    if call.kind == "kv":
        return JsException("KV PUT failed: 500 Internal Server Error")
    return ConnectionError("the connection was lost")


async def bury() -> None:
    """No task of a dead worker is left on this loop."""
    me = asyncio.current_task()
    left = [task for task in asyncio.all_tasks() if task is not me]
    for task in left:
        task.cancel()
    if left:
        async with asyncio.timeout(10):
            await asyncio.gather(*left, return_exceptions=True)


def tool_call(name: str, arguments: Any) -> Call:
    """A tool call as the probe sees it."""
    return Call("tool", "", name, (arguments,))
