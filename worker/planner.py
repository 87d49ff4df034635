"""The planner of the document team: takes goals over HTTP, splits them, reports."""

from __future__ import annotations

from typing import Any

from workers import Request, Response, WorkerEntrypoint

from doc_team.api import answer_planner
from doc_team.goals import tend
from doc_team.shift import SHIFT_S, run_shift, seat, seconds


class Default(WorkerEntrypoint):
    """One planner, in any number of isolates: nothing is kept in them."""

    async def fetch(self, request: Request) -> Response:
        """The answer to a client."""
        member = await seat(self.env, "planner", "planner")
        return await answer_planner(request, self.env, member)

    async def scheduled(self, controller: Any, env: Any, ctx: Any) -> None:
        """A shift: what workers ask for, and goals whose subtasks are all done."""
        member = await seat(self.env, "planner", "planner")
        await run_shift(member, tend, shift_s=seconds(self.env, "SHIFT_S", SHIFT_S))
