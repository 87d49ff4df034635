"""One worker: its current generation, and the way to the next."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from localedge.isolate.boot import Boot
from localedge.isolate.failures import Failure
from localedge.project.models import Project
from localedge.supervisor.forks import Forks
from localedge.supervisor.generation import HERE, Generation, Spawn
from localedge.supervisor.happenings import WORKER_BROKEN, WORKER_RELOADED
from localedge.supervisor.history import History
from localedge.supervisor.isolates import Isolate
from localedge.supervisor.leaving import leave

logger = logging.getLogger(__name__)


class Pool:
    """The isolates of one worker.

    Shape: `current` serves; `generations` are all that still have isolates. `failure` is why the
    newest version could not be loaded, while the one before it goes on serving; `kv_url` is where
    the next generation finds KV. `connect` gives each new isolate its way to other workers;
    `history` is told of new generations.
    """

    def __init__(
        self, boot: Boot, forks: Forks, spawn: Spawn, connect: Callable[[Isolate], None]
    ) -> None:
        self._connect = connect
        self._orders = boot
        self._forks = forks
        self._spawn = spawn
        self._newest = boot.generation
        self.kv_url = boot.kv_url
        self.failure: Failure | None = None
        self.history: History | None = None
        self.current = self._generation()
        self.generations = [self.current]
        self.current.fill()

    @property
    def project(self) -> Project:
        """What the current generation runs."""
        return self.current.project

    def isolates(self) -> list[Isolate]:
        """All that are loaded and alive, of every generation."""
        return [isolate for one in self.generations for isolate in one.isolates()]

    def pick(self) -> Isolate | None:
        """The isolate for the next event, None when it has to be waited for."""
        return self.current.pick()

    async def acquire(self) -> Isolate:
        """The isolate for the next event. Errors: NotServing, TimeoutError."""
        return await self.current.acquire()

    async def at(self, location: str) -> Isolate:
        """The isolate for the next event of that location; any when all reads are the newest.

        Errors: NotServing, EventFailed, TimeoutError.
        """
        if self.project.local.consistency == "strong" or location == HERE:
            return self.pick() or await self.acquire()
        return await self.current.at(location)

    def kill(self, pid: int | None, outcome: str) -> int | None:
        """The isolate `pid`, or the busiest that serves, dies; returns its pid, None if none."""
        found = self.isolates() if pid is not None else self.current.serving
        wanted = [i for i in found if pid is None or i.pid == pid]
        if not wanted:
            return None
        chosen = max(wanted, key=lambda isolate: len(isolate.exchanges))
        self.current.kill(chosen, outcome)
        return chosen.pid

    def drain(self, pid: int) -> bool:
        """`pid` gets no more events and ends with its last one; False when it is not ours."""
        for generation in self.generations:
            for isolate in generation.isolates():
                if isolate.pid == pid:
                    leave(generation, isolate)
                    return True
        return False

    async def reload(self, project: Project) -> Failure | None:
        """A new generation that runs `project` serves, and the one before it drains.

        Returns why not, if it cannot be loaded: then the one before it goes on.
        """
        self._newest += 1
        before = self._orders
        self._orders = before.model_copy(
            update={"project": project, "generation": self._newest, "kv_url": self.kv_url}
        )
        new = self._generation()
        self.generations.append(new)
        new.fill()
        failure = self.failure = await new.is_settled()
        if failure is not None and self.current.serving:
            self._orders = before
            self._spawn(self._retire(new))
            self._tell(WORKER_BROKEN, new.number, failure)
            return failure
        old, self.current = self.current, new
        self._spawn(self._retire(old))
        self._tell(WORKER_RELOADED if failure is None else WORKER_BROKEN, new.number, failure)
        if failure is None:
            logger.info("reloaded", extra={"generation": new.number})
        return failure

    def move_clock(self, offset_s: float) -> None:
        """All isolates, those to come too, see the time moved by `offset_s` from now on."""
        self._orders = self._orders.model_copy(update={"clock_offset_s": offset_s})
        for generation in self.generations:
            for isolate in generation.every():
                isolate.note("clock", offset_s)

    def watch(self, is_wanted: bool) -> None:
        """All isolates, those to come too, record their calls from now on, or no more."""
        self._orders = self._orders.model_copy(update={"is_watched": is_wanted})
        for generation in self.generations:
            for isolate in generation.every():
                isolate.note("watch", is_wanted)

    def _tell(self, kind: str, generation: int, failure: Failure | None) -> None:
        if self.history is not None:
            text = failure.text if failure is not None else None
            self.history.add(kind, worker=self.project.name, generation=generation, failure=text)

    async def _retire(self, generation: Generation) -> None:
        await generation.drain()
        self.generations.remove(generation)

    def _generation(self) -> Generation:
        project, number = self._orders.project, self._newest
        since_ms = int(time.time() * 1000)

        def boot(_number: int) -> Boot:
            # The clock may have been moved since this generation began.
            location = HERE if project.local.consistency == "eventual" else None
            return self._orders.model_copy(
                update={
                    "project": project,
                    "generation": number,
                    "location": location,
                    "since_ms": since_ms,
                }
            )

        return Generation(boot, number, self._forks, self._spawn, self._connect)
