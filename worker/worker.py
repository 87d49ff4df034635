"""The workers of the document team: each cron of the configuration wakes one."""

from __future__ import annotations

from typing import Any, Final

from workers import Request, Response, WorkerEntrypoint

from doc_team.api import answer
from doc_team.judge import judge_of
from doc_team.shift import SHIFT_S, norms_of, run_shift, seat, seconds
from doc_team.working import work
from edgestate.team import TeamMember

AGENTS: Final = {"* * * * *": "worker-1", "*/1 * * * *": "worker-2"}
"""Two expressions of the same times: two agents, each in an isolate of its own."""


class Default(WorkerEntrypoint):
    """Several workers; what they share is in the database."""

    async def fetch(self, request: Request) -> Response:
        """Metrics and traces; there is nothing else to ask a worker for."""
        return await answer(request, self.env) or Response("Not found", status=404)

    async def scheduled(self, controller: Any, env: Any, ctx: Any) -> None:
        """A shift: subtasks, one after the other."""
        member = await seat(self.env, AGENTS.get(controller.cron, "worker-1"), "worker")
        judge = judge_of(self.env, await norms_of(member))
        pause_s = seconds(self.env, "WORK_S", 0.0)

        async def once(member: TeamMember) -> bool:
            return await work(member, judge, pause_s=pause_s)

        await run_shift(member, once, shift_s=seconds(self.env, "SHIFT_S", SHIFT_S))
