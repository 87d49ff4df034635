"""The critic of the document team: looks at each summary, and sends some back."""

from __future__ import annotations

from typing import Any

from workers import Request, Response, WorkerEntrypoint

from doc_team.api import answer
from doc_team.judge import judge_of
from doc_team.shift import SHIFT_S, norms_of, run_shift, seat, seconds
from doc_team.working import review
from edgestate.team import TeamMember


class Default(WorkerEntrypoint):
    """One critic, in any number of isolates."""

    async def fetch(self, request: Request) -> Response:
        """Metrics and traces; there is nothing else to ask a critic for."""
        return await answer(request, self.env) or Response("Not found", status=404)

    async def scheduled(self, controller: Any, env: Any, ctx: Any) -> None:
        """A shift: results, one after the other."""
        member = await seat(self.env, "critic", "critic")
        judge = judge_of(self.env, await norms_of(member))

        async def once(member: TeamMember) -> bool:
            return await review(member, judge)

        await run_shift(member, once, shift_s=seconds(self.env, "SHIFT_S", SHIFT_S))
