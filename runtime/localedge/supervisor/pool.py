"""One worker: its current generation, and the way to the next."""

from __future__ import annotations

import logging

from localedge.isolate.boot import Boot
from localedge.isolate.failures import Failure
from localedge.project.models import Project
from localedge.supervisor.forks import Forks
from localedge.supervisor.generation import Generation, Spawn
from localedge.supervisor.isolates import Isolate

logger = logging.getLogger(__name__)


class Pool:
    """The isolates of one worker.

    Shape: `current` serves; `failure` is why the newest version could not be loaded, while the
    one before it goes on serving.
    """

    def __init__(self, boot: Boot, forks: Forks, spawn: Spawn) -> None:
        self._orders = boot
        self._forks = forks
        self._spawn = spawn
        self.failure: Failure | None = None
        self.current = self._generation()
        self.current.fill()

    @property
    def project(self) -> Project:
        """What the newest generation runs."""
        return self._orders.project

    def isolates(self) -> list[Isolate]:
        """All that are loaded and alive, of every generation."""
        return self.current.isolates()

    def pick(self) -> Isolate | None:
        """The isolate for the next event, None when it has to be waited for."""
        return self.current.pick()

    async def acquire(self) -> Isolate:
        """The isolate for the next event. Errors: NotServing, TimeoutError."""
        return await self.current.acquire()

    def _generation(self) -> Generation:
        return Generation(self._boot, self._orders.generation, self._forks, self._spawn)

    def _boot(self, number: int) -> Boot:
        return self._orders.model_copy(update={"generation": number})
