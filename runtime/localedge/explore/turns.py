"""Whose turn it is: workers that meet go on one binding call at a time, in a chosen order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from localedge.explore.incarnation import Incarnation
from localedge.explore.trace import Decision

Pick = Callable[[int, tuple[int, ...], int], int]
"""The worker to go next: called with the point, the enabled workers and the default."""
Seen = Callable[[Decision], bool]


class Turns:
    """Lets one call through whenever nothing else can happen.

    Shape: by default a worker goes on until it cannot; `forced` names another one by point.
    `is_seen` is asked at each decision whether the rest is known already.
    """

    def __init__(
        self,
        forced: Mapping[int, int],
        pick: Pick,
        key: Callable[[], tuple[object, ...]],
        is_seen: Seen,
    ) -> None:
        self._forced = forced
        self._pick = pick
        self._key = key
        self._is_seen = is_seen
        self.workers: dict[int, Incarnation] = {}
        self.current = 0
        self.decisions: list[Decision] = []

    async def wait(self, worker: Incarnation) -> None:
        """It is `worker`'s turn."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        worker.queue.append(turn)
        await turn

    def give(self, point: int) -> bool | None:
        """Somebody goes on with the call that will be `point`.

        Shape: False if nobody waits; None if the rest is known and nobody needs to go on.
        """
        for worker in self.workers.values():
            while worker.queue and worker.queue[0].done():
                worker.queue.popleft()
        enabled = tuple([number for number, worker in sorted(self.workers.items()) if worker.queue])
        if not enabled:
            return False
        default = self.current if self.current in enabled else enabled[0]
        chosen = self._forced.get(point, 0)
        if chosen not in enabled:
            chosen = default if len(enabled) == 1 else self._pick(point, enabled, default)
        if len(enabled) > 1:
            decision = Decision(point, enabled, chosen, self.current, self._key())
            self.decisions.append(decision)
            if point not in self._forced and self._is_seen(decision):
                return None
        self.current = chosen
        self.workers[chosen].queue.popleft().set_result(None)
        return True
