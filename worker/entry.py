"""The reference worker: sessions and tasks of a small travel agent, over HTTP and by the clock."""

from __future__ import annotations

from typing import Any

from workers import Request, Response, WorkerEntrypoint

from trip_agent.api import Api
from trip_agent.upkeep import keep_up


class Default(WorkerEntrypoint):
    """What the platform calls for each event: a new instance each time."""

    async def fetch(self, request: Request) -> Response:
        """The answer to `request`, of any kind: nothing is kept in this object."""
        return await Api(self.env).answer(request)

    async def scheduled(self, controller: Any, env: Any, ctx: Any) -> None:
        """What clients left behind is taken up again, and ended sessions are cleared away."""
        await keep_up(self.env)
