"""Answers that were lost: what was asked for is done once all the same, and is known to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.conftest import Freeze
from tests.team.world import PATIENT, Team

from edgestate.errors import FenceLost, StoreUnavailable
from edgestate.team import (
    D1Record,
    RequestInProgress,
)
from edgestate.team.requests import Answered, RequestClaim

pytestmark = pytest.mark.anyio


# --- answers that were lost ---


class LostAnswers:
    """`env.DB` whose next answers are lost: what was asked for is done all the same."""

    def __init__(self, db: Any) -> None:
        self._db = db
        self.lost = 0

    def prepare(self, sql: str) -> Any:
        return self._db.prepare(sql)

    async def batch(self, statements: Sequence[Any]) -> Any:
        answer = await self._db.batch([*statements])
        if self.lost:
            self.lost -= 1
            raise TimeoutError("the answer was lost")
        return answer


@pytest.fixture
def lossy(team: Team) -> tuple[Team, LostAnswers]:
    database = LostAnswers(team.db)
    return Team(team.db, D1Record(database, deadlines=PATIENT)), database


async def test_a_claim_of_a_request_whose_answer_was_lost_is_still_ones_own(
    lossy: tuple[Team, LostAnswers],
) -> None:
    team, database = lossy
    worker = await team.worker()

    database.lost = 1
    claim = await worker.requests.claim("r", "sum", 1)

    assert isinstance(claim, RequestClaim)
    assert claim.fence == 1
    with pytest.raises(RequestInProgress):
        await (await team.worker()).requests.claim("r", "sum", 1)
    await worker.requests.finish(claim, "done")
    assert await worker.requests.claim("r", "sum", 1) == Answered("done")


async def test_a_claim_that_got_no_answer_at_all_is_in_the_way_until_its_time_is_over(
    lossy: tuple[Team, LostAnswers], frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    team, database = lossy
    worker = await team.worker()
    database.lost = 3
    with pytest.raises(StoreUnavailable):
        await worker.requests.claim("r", "sum", 1, ttl_s=30)

    with pytest.raises(RequestInProgress) as busy:
        await worker.requests.claim("r", "sum", 1, ttl_s=30)
    clock.tick(30)
    claim = await worker.requests.claim("r", "sum", 1, ttl_s=30)

    assert busy.value.status == 409
    assert claim == RequestClaim("r", 2)


async def test_a_request_that_was_finished_and_not_told_so_is_finished(
    lossy: tuple[Team, LostAnswers],
) -> None:
    team, database = lossy
    planner, worker = await team.planner(), await team.worker()
    claim = await worker.requests.claim("r", "sum", 1)
    assert isinstance(claim, RequestClaim)

    database.lost = 1
    await worker.requests.finish(claim, "done", worker.messages.sending("planner", "note", 1))

    assert len(await planner.messages.poll()) == 1


async def test_a_second_finish_by_a_late_holder_is_refused(team: Team, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    worker = await team.worker()
    late = await worker.requests.claim("r", "sum", 1, ttl_s=1)
    clock.tick(2)
    taken = await worker.requests.claim("r", "sum", 1, ttl_s=1)
    assert isinstance(late, RequestClaim)
    assert isinstance(taken, RequestClaim)
    await worker.requests.finish(taken, "in time")

    with pytest.raises(FenceLost) as lost:
        await worker.requests.finish(late, "late")

    assert (lost.value.fence, lost.value.actual) == (1, 2)


@pytest.mark.parametrize("what", ["enrol", "poll", "beat"])
async def test_every_write_is_sent_again_when_its_answer_is_lost(
    lossy: tuple[Team, LostAnswers], what: str
) -> None:
    team, database = lossy
    planner = await team.planner()
    await planner.messages.send("*", "note", 1)
    worker = await team.worker()

    database.lost = 1
    if what == "enrol":
        await team.worker(2)
    elif what == "poll":
        assert [message.content for message in await worker.messages.poll()] == [1]
    else:
        await worker.roster.beat(task_id="a")

    assert database.lost == 0
