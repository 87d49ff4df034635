"""Whatever call an agent dies at, the team's work ends the same."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conftest import Freeze
from tests.edgestate.world import d1_binding
from tests.team.world import PATIENT, Team

from doc_team import goals
from doc_team.judge import ScriptedJudge
from doc_team.working import review, work
from edgestate.team import D1Record, TeamMember, examine, history, rebuild, states

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TEXTS: Final = {
    "a.md": "Rain falls. It falls on roofs. A lantern burns. The lantern is green, says a keeper.",
}
ROUNDS: Final = 40


class Killed(BaseException):
    """The isolate dies: nothing after this line happens in it."""


class Mortal:
    """`env.DB` of an isolate that dies at one call, before or after it has its effect."""

    def __init__(self, db: Any, *, dies_at: int = 0, is_after: bool = False) -> None:
        self._db = db
        self.calls = 0
        self._dies_at = dies_at
        self._is_after = is_after

    def prepare(self, sql: str) -> Any:
        return self._db.prepare(sql)

    async def batch(self, statements: Sequence[Any]) -> Any:
        self.calls += 1
        if self.calls != self._dies_at:
            return await self._db.batch([*statements])
        if self._is_after:
            await self._db.batch([*statements])
        raise Killed


class Agents:
    """The agents of the example, reborn one and all when the isolate dies."""

    def __init__(self, db: Any, mortal: Mortal, clock: Any) -> None:
        self.team = Team(db, D1Record(mortal, deadlines=PATIENT))
        self.clock = clock
        self.deaths = 0

    async def finish(self) -> None:
        """There is nothing left to do."""
        for _ in range(ROUNDS):
            try:
                await self._round()
                return
            except Killed:
                self.deaths += 1
                self.clock.tick(31)

    async def _round(self) -> None:
        planner: TeamMember = await self.team.planner()
        worker, critic = await self.team.worker(), await self.team.critic()
        judge = ScriptedJudge()
        await goals.begin(planner, "g", TEXTS)
        while any(
            [await work(worker, judge), await review(critic, judge), await goals.tend(planner)]
        ):
            pass


async def ended(file: Path, clock: Any, **death: Any) -> tuple[dict[str, Any], Agents, Mortal]:
    """The whole work on the new database `file`, with that death."""
    async with d1_binding(file, is_migrated=True) as db:
        mortal = Mortal(db, **death)
        agents = Agents(db, mortal, clock)
        await agents.finish()
        healthy = D1Record(db, deadlines=PATIENT)
        agents.team.record = healthy
        progress = await goals.progress(await agents.team.planner(), "g")
        assert rebuild(await history(healthy)) == await states(healthy)
        assert [s.key for s in await examine(healthy) if s.is_found] == []
        counts = await agents.team.rows(
            "SELECT COUNT(*) AS n, COUNT(DISTINCT task_id || attempt) AS pairs FROM task_results"
        )
        assert counts == [{"n": 4, "pairs": 4}]
        (sent,) = await agents.team.rows(
            "SELECT COUNT(*) AS n FROM agent_messages WHERE message_type = 'result'"
        )
        assert sent["n"] == 3
        return progress, agents, mortal


async def check(empty: Path, folder: Path, clock: Any, points: slice, *, is_after: bool) -> None:
    """The outcome is the same whichever of these calls an agent dies at."""
    whole, _, mortal = await ended(_copy(empty, folder, 0), clock)
    assert whole["status"] == "completed"
    assert mortal.calls > 40

    for point in range(1, mortal.calls + 1)[points]:
        file = _copy(empty, folder, point)
        progress, agents, _ = await ended(file, clock, dies_at=point, is_after=is_after)

        assert agents.deaths == 1
        assert progress["report"] == whole["report"], point
        assert progress["subtasks"] == whole["subtasks"], point


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
async def test_a_death_at_a_call_changes_nothing_of_the_outcome(
    empty_database: Path, tmp_path: Path, frozen: Freeze, is_after: bool
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")

    await check(empty_database, tmp_path, clock, slice(3 * is_after, None, 6), is_after=is_after)


@pytest.mark.long
@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
async def test_a_death_at_any_call_changes_nothing_of_the_outcome(
    empty_database: Path, tmp_path: Path, frozen: Freeze, is_after: bool
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")

    await check(empty_database, tmp_path, clock, slice(None), is_after=is_after)


def _copy(empty: Path, folder: Path, number: int) -> Path:
    return Path(shutil.copy(empty, folder / f"{number}.sqlite"))
