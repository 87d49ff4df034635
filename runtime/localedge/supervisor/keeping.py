"""Keeps a copy of each D1 database every minute in which it has changed."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from localedge.d1.copies import Budget, budget_of
from localedge.d1.files import database_file
from localedge.errors import OperatorError
from localedge.supervisor.clock import EdgeClock
from localedge.supervisor.pool import Pool

if TYPE_CHECKING:
    from localedge.d1.time_travel import TimeTravel

logger = logging.getLogger(__name__)

_MINUTE_S: Final = 60.0


class Keeping:
    """The databases of all workers in `pools`, whose files lie in `state`.

    Shape: copies are taken on the minute of the workers' clock, so that a restore to a full minute
    finds what there was then.
    """

    def __init__(self, pools: Sequence[Pool], clock: EdgeClock, state: Path) -> None:
        self._pools = pools
        self._clock = clock
        self._state = state
        self._too_large: set[Path] = set()

    async def run(self) -> None:
        """Keep copies, until cancelled."""
        while True:
            now = self._clock.now()
            minute = now + _MINUTE_S - now % _MINUTE_S
            if await self._clock.sleep_until(minute):
                await self._keep(minute)

    async def _keep(self, minute: float) -> None:
        """Each database that has changed since its newest copy has a new one, of that minute."""
        for file, budget in self._databases():
            # The server does not wait for the driver at its start.
            from localedge.d1.time_travel import TimeTravel

            travel = TimeTravel(file, budget, now=self._clock.now)
            try:
                if travel.has_changed() and self._has_room(travel):
                    await travel.keep("minute", minute)
            except (OperatorError, OSError) as error:
                # The worker goes on without: it has lost nothing.
                logger.warning("no copy kept", extra={"file": file.name, "why": str(error)})

    def _has_room(self, travel: TimeTravel) -> bool:
        if travel.has_room():
            return True
        if travel.file not in self._too_large:
            self._too_large.add(travel.file)
            logger.warning(
                "no copies are kept: the database is larger than time_travel_mb",
                extra={"file": travel.file.name, "most_bytes": travel.budget.size_bytes},
            )
        return False

    def _databases(self) -> Iterator[tuple[Path, Budget]]:
        seen: set[str] = set()
        for pool in self._pools:
            local = pool.project.local
            for database in pool.project.d1_databases:
                if database.storage_id not in seen and local.time_travel_mb > 0:
                    seen.add(database.storage_id)
                    file = database_file(self._state, database.storage_id)
                    yield file, budget_of(local.time_travel_mb, local.time_travel_copies)
