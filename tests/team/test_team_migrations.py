"""The library's newer migrations, on a database that a team has worked with before."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.edgestate.world import MIGRATIONS, migrate
from tests.team.world import PATIENT, Team, claimed

from edgestate.team import D1Record, examine
from localedge.binding import BindingWrapper
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.probe import Probe

pytestmark = pytest.mark.anyio

OLDER = sorted(path.name for path in MIGRATIONS.glob("*.sql"))[:4]
ROWS = (
    "INSERT INTO team_agents VALUES ('planner', 'planner', 1, 't')",
    "INSERT INTO task_status (task_id, root_id, role, kind, lane, lane_count, ordinal, "
    "context_version, agent_id, created_at, updated_at, trace_id) VALUES "
    "('g', 'g', 'planner', 'goal', 0, 4, 0, 1, 'planner', 1, 1, 'the-trace'), "
    "('a', 'g', 'worker', 'work', 0, 4, 1, 1, 'planner', 1, 1, 'the-trace')",
    "INSERT INTO task_dependencies VALUES ('g', 'a')",
    "INSERT INTO write_requests VALUES "
    "('r', 'planner', 'x', 'f', 'in_progress', 1, 9, NULL, 1, 't')",
)


async def test_rows_of_before_have_their_trace_and_work_goes_on(tmp_path: Path) -> None:
    async with open_engine(tmp_path / "team.sqlite") as engine:
        database = D1Database(engine)
        await migrate(database, *OLDER)
        for sql in ROWS:
            await database.prepare(sql).run()

        await migrate(database, "0005_close_team_state.sql")

        db = BindingWrapper(database, "DB", Probe())
        team = Team(db, D1Record(db, deadlines=PATIENT))
        worker, planner = await team.worker(), await team.planner()
        await worker.board.complete(await claimed(worker), 1, summary="one")
        await planner.board.complete(await claimed(planner), 1, summary="all")
        traces = await team.rows("SELECT trace_id FROM task_dependencies")
        assert traces == [{"trace_id": "the-trace"}]
        assert [symptom.key for symptom in await examine(team.record) if symptom.is_found] == []
