"""The isolates of one version of a worker: enough of them, one idle standby, the dead replaced."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final, Literal

from localedge.errors import OperatorError
from localedge.isolate.boot import Boot, Ready
from localedge.isolate.failures import Failure
from localedge.supervisor.forks import Forks, ForkServerLost
from localedge.supervisor.isolates import KILLED, EventFailed, Isolate

logger = logging.getLogger(__name__)

_MOST_FAILED_BOOTS: Final = 3
_ACQUIRE_S: Final = 60.0
DRAIN_S: Final = 30.0
MOST_LOCATIONS: Final = 16
HERE: Final = "here"
"""The location of requests that name none."""

State = Literal["serving", "standby", "busy", "draining"]
"""Gets requests; takes the place of one that dies; has its only event (`fresh`); ends its last."""

Spawn = Callable[[Coroutine[Any, Any, None]], object]
"""Runs work under the supervisor's task group."""


class NotServing(Exception):  # noqa: N818  (a state of the worker)
    """The worker cannot be loaded. Shape: `failure` is why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Generation:
    """One version of a worker and its isolates.

    Shape: `project` is what it runs; `serving` gets requests; `standby` is ready and takes the
    place of one that dies; `failure` is set when the worker cannot be loaded, `handlers` names what
    it handles once that is known. With `fresh` every isolate gets one event. `located` are the
    isolates of locations that requests have named, `leaving` those that end with their last event.
    """

    def __init__(
        self,
        boot: Callable[[int], Boot],
        number: int,
        forks: Forks,
        spawn: Spawn,
        connect: Callable[[Isolate], None],
    ) -> None:
        self._connect = connect
        self._boot = boot
        self.number = number
        self._forks = forks
        self._spawn = spawn
        self.project = boot(number).project
        local = self.project.local
        self.size = local.isolates
        self.fresh = local.fresh
        self._load_deadline_s = local.loop_block_s
        self.serving: list[Isolate] = []
        self.standby: list[Isolate] = []
        self.busy: set[Isolate] = set()
        self.located: dict[str, Isolate] = {}
        self.leaving: set[Isolate] = set()
        self.failure: Failure | None = None
        self.handlers: frozenset[str] | None = None
        self.is_draining = False
        self._locating = asyncio.Lock()
        self._loading: set[Isolate] = set()
        self._starting = 0
        self._failed_boots = 0
        self._turn = 0
        self._changes: asyncio.Future[None] | None = None

    def isolates(self) -> list[Isolate]:
        """All that are loaded and alive."""
        return [*self.serving, *self.standby, *self.busy, *self.located.values(), *self.leaving]

    def state_of(self, isolate: Isolate) -> State:
        """What `isolate`, which is one of ours, is for now."""
        if self.is_draining or isolate in self.leaving:
            return "draining"
        if isolate in self.standby:
            return "standby"
        return "busy" if isolate in self.busy else "serving"

    def every(self) -> list[Isolate]:
        """Those, and the ones that are still loading."""
        return [*self.isolates(), *self._loading]

    def fill(self) -> None:
        """Isolates are started until there are enough and one more; the first one by itself.

        Somebody may be waiting for it, and a machine of two cores would load all at half the pace.
        """
        if self.failure is not None or self.is_draining:
            return
        have = len(self.serving) + len(self.standby) + self._starting
        lacking = self.size + 1 - have
        if not self.isolates():
            lacking = min(lacking, 1 - self._starting)
        for _ in range(lacking):
            self._starting += 1
            self._spawn(self._start())

    def pick(self) -> Isolate | None:
        """The isolate for the next event: in turn, but a less busy one first."""
        serving = self.serving
        if not serving:
            return None
        if self.fresh:
            return self._take(serving.pop(0))
        self._turn = turn = (self._turn + 1) % len(serving)
        best = serving[turn]
        load = len(best.exchanges)
        if load:
            for other in serving:
                if len(other.exchanges) < load:
                    best, load = other, len(other.exchanges)
        return best

    async def acquire(self) -> Isolate:
        """`pick`, after waiting for an isolate if there is none.

        Errors: NotServing when the worker cannot be loaded; TimeoutError after 60 s.
        """
        async with asyncio.timeout(_ACQUIRE_S):
            while (isolate := self.pick()) is None:
                if self.failure is not None:
                    raise NotServing(self.failure)
                await self._change()
        return isolate

    async def at(self, location: str) -> Isolate:
        """The isolate of that location, started when it is first asked for.

        Errors: NotServing when the worker cannot be loaded; EventFailed when the isolate died.
        """
        async with self._locating:
            isolate = self.located.get(location)
            if isolate is None:
                if len(self.located) >= MOST_LOCATIONS:
                    self.stop(self.located.pop(next(iter(self.located))))
                isolate = self.located[location] = await self._load(location)
        return isolate

    async def is_settled(self) -> Failure | None:
        """Waits until the first isolate serves (None) or the worker cannot be loaded (why)."""
        async with asyncio.timeout(_ACQUIRE_S):
            while not self.serving and not self.busy and self.failure is None:
                await self._change()
        return self.failure

    async def drain(self, within_s: float = DRAIN_S) -> None:
        """No isolate of this generation is left; events in flight had `within_s` to end."""
        self.is_draining = True
        for isolate in self.isolates():
            isolate.on_idle = self.stop
            if not isolate.exchanges:
                self.stop(isolate)
        try:
            async with asyncio.timeout(within_s):
                while self.isolates():
                    await self._change()
        except TimeoutError:
            for isolate in self.isolates():
                self.kill(isolate, "canceled")

    def kill(self, isolate: Isolate, outcome: str) -> None:
        """`isolate` dies; its events in flight end with `outcome`."""
        isolate.doom = outcome
        isolate.cause = "killed" if outcome == KILLED else outcome
        self._forks.kill(isolate.pid)

    def _take(self, isolate: Isolate) -> Isolate:
        self.busy.add(isolate)
        isolate.on_idle = self.stop
        self.fill()
        return isolate

    def stop(self, isolate: Isolate) -> None:
        """`isolate`, which has no event any more, ends."""
        isolate.cause = isolate.cause or "drained"
        isolate.note("stop", None)
        # One whose loop hangs would never read the note; it has nothing in flight any more.
        asyncio.get_running_loop().call_later(1.0, self._forks.kill, isolate.pid)

    async def _start(self) -> None:
        try:
            isolate = await self._load()
        except EventFailed as failed:
            self._boot_failed(failed.failure, failed.outcome)
        except ForkServerLost:
            logger.debug("no isolate started: the fork server went away")
        except OperatorError as error:
            self._broken(Failure(kind=error.code, message=error.message, text=str(error)))
        else:
            self._admit(isolate)
        finally:
            self._starting -= 1
        self.fill()

    async def _load(self, location: str | None = None) -> Isolate:
        pid, channel = await self._forks.fork()
        isolate = Isolate(pid, self.number, on_gone=self._gone)
        self._connect(isolate)
        loop = asyncio.get_running_loop()
        await loop.create_unix_connection(lambda: isolate.channel, sock=channel)
        boot = self._boot(self.number)
        if location is not None:
            boot = boot.model_copy(update={"location": location})
        isolate.note("boot", boot.model_dump_json())
        self._loading.add(isolate)
        try:
            async with asyncio.timeout(self._load_deadline_s):
                ready = await isolate.ready
        except TimeoutError as exc:
            self.kill(isolate, "exceededWallTime")
            text = f"The worker did not finish loading within {self._load_deadline_s:g} s."
            failure = Failure(kind="exceededWallTime", message=text, text=text)
            raise EventFailed("exceededWallTime", pid, failure) from exc
        except EventFailed as failed:
            isolate.cause = isolate.cause or ("notLoaded" if failed.failure else None)
            self._forks.kill(pid)
            raise
        finally:
            self._loading.discard(isolate)
        logger.info(
            "isolate ready",
            extra={"pid": pid, "generation": self.number, "boot_ms": round(ready.boot_ms, 1)},
        )
        self._learn(ready)
        return isolate

    def _learn(self, ready: Ready) -> None:
        """What the first isolate says of the worker is true of all: it is told once."""
        if self.handlers is not None:
            return
        self.handlers = frozenset(ready.handlers)
        for warning in ready.warnings:
            logger.warning("handler will surprise: %s", warning)
        if self.project.crons and "scheduled" not in self.handlers:
            logger.warning("crons never fire: the worker has no scheduled handler")

    def _admit(self, isolate: Isolate) -> None:
        self._failed_boots = 0
        if isolate.is_gone:
            return
        if self.is_draining:
            self.stop(isolate)
        elif self.fresh or len(self.serving) < self.size:
            self.serving.append(isolate)
        else:
            self.standby.append(isolate)
        self._changed()

    def _gone(self, isolate: Isolate) -> None:
        self.busy.discard(isolate)
        self.leaving.discard(isolate)
        self.located = {at: one for at, one in self.located.items() if one is not isolate}
        if isolate in self.standby:
            self.standby.remove(isolate)
        elif isolate in self.serving:
            self.serving.remove(isolate)
            if self.standby:
                self.serving.append(self.standby.pop())
        self._changed()
        self.fill()

    def _boot_failed(self, failure: Failure | None, outcome: str) -> None:
        self._failed_boots += 1
        if failure is not None:
            self._broken(failure)
        elif self._failed_boots >= _MOST_FAILED_BOOTS:
            text = f"The isolate died while it loaded the worker ({outcome})."
            self._broken(Failure(kind=outcome, message=text, text=text))

    def _broken(self, failure: Failure) -> None:
        if self.failure is None and not self.is_draining:
            logger.error("worker cannot be loaded\n%s", failure.text.rstrip())
        self.failure = failure
        self._changed()

    async def _change(self) -> None:
        if self._changes is None:
            self._changes = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._changes)

    def _changed(self) -> None:
        changes, self._changes = self._changes, None
        if changes is not None:
            changes.set_result(None)
