"""The reference worker: sessions and tasks of a small travel agent, over HTTP."""

from __future__ import annotations

from workers import Request, Response, WorkerEntrypoint

from trip_agent.api import Api


class Default(WorkerEntrypoint):
    """What the platform calls for each request: a new instance each time."""

    async def fetch(self, request: Request) -> Response:
        """The answer to `request`, of any kind: nothing is kept in this object."""
        return await Api(self.env).answer(request)
