"""Sagas: in order, undone in reverse, each effect once, given up in the open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import JsonValue
from tests.conftest import Freeze
from tests.team.world import Team

from edgestate.errors import FenceLost
from edgestate.team import (
    AccessDenied,
    Done,
    NoDeadLetter,
    RequestMismatch,
    SagaDefinition,
    Sagas,
    SagaStep,
    SagaStepFailed,
    StepCall,
    TeamMember,
    UnknownSaga,
)
from edgestate.team.collecting import NAME, Collecting
from edgestate.team.saga_rows import Action

pytestmark = pytest.mark.anyio


class Killed(BaseException):
    """The isolate dies: nothing after this line happens in it."""


class Outside:
    """The outside world: every call, and each key's effect once."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.keys: dict[str, int] = {}
        self.failing: dict[str, Exception | Killed] = {}

    def action(self, name: str) -> Action:
        async def run(call: StepCall) -> Done:
            fails = self.failing.get(name)
            if isinstance(fails, SagaStepFailed):
                raise fails
            self.log.append(name)
            self.keys[call.key] = self.keys.get(call.key, 0) + 1
            if fails is not None:
                raise fails
            return Done(name.upper())

        return run

    def saga(self, *names: str, **options: int) -> SagaDefinition:
        steps = (
            SagaStep(name, self.action(name), f"undo {name}", self.action(f"undo {name}"))
            for name in names
        )
        return SagaDefinition("trip", tuple(steps), **options)


@pytest.fixture
def outside() -> Outside:
    return Outside()


Runner = Callable[[TeamMember], Sagas]


async def runner(team: Team, definition: SagaDefinition, number: int = 1) -> Sagas:
    """Sagas in the hands of a new life of a worker."""
    return Sagas((await team.worker(number)).desk, [definition])


async def test_a_saga_runs_its_steps_in_order(team: Team, outside: Outside) -> None:
    sagas = await runner(team, outside.saga("a", "b", "c"))

    status = await sagas.run(await sagas.start("trip", None, saga_id="s"))

    saga = await sagas.get("s")
    assert status == "completed"
    assert outside.log == ["a", "b", "c"]
    assert [step.result for step in saga.steps] == ["A", "B", "C"]


async def test_a_failed_step_undoes_those_before_it_in_reverse(
    team: Team, outside: Outside
) -> None:
    outside.failing["c"] = SagaStepFailed("sold_out", "no seats")
    sagas = await runner(team, outside.saga("a", "b", "c"))

    status = await sagas.run(await sagas.start("trip", None))

    assert status == "compensated"
    assert outside.log == ["a", "b", "undo b", "undo a"]


async def test_a_step_that_raises_is_tried_again_after_a_growing_pause(
    team: Team, outside: Outside, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    outside.failing["a"] = OSError("busy")
    sagas = await runner(team, outside.saga("a"))
    saga_id = await sagas.start("trip", None)

    outcomes = [await sagas.run(saga_id)]
    clock.tick(0.9)
    too_early = await sagas.due()
    clock.tick(0.1)
    del outside.failing["a"]
    outcomes.append(await sagas.run(saga_id))

    assert too_early == []
    assert outcomes == ["running", "completed"]
    assert outside.log == ["a", "a"]
    assert set(outside.keys.values()) == {2}


async def test_a_step_that_may_have_happened_is_undone_when_its_tries_are_used_up(
    team: Team, outside: Outside, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    outside.failing["b"] = TimeoutError("no answer")
    sagas = await runner(team, outside.saga("a", "b"))
    saga_id = await sagas.start("trip", None)

    for _ in range(3):
        status = await sagas.run(saga_id)
        clock.tick(10)

    assert status == "compensated"
    assert outside.log == ["a", "b", "b", "b", "undo b", "undo a"]


@pytest.mark.parametrize("where", ["a", "b", "undo b", "undo a"])
async def test_a_saga_whose_isolate_is_killed_goes_on_with_the_same_keys(
    team: Team, outside: Outside, frozen: Freeze, where: str
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    outside.failing["c"] = SagaStepFailed("sold_out", "no seats")
    outside.failing[where] = Killed()
    definition = outside.saga("a", "b", "c")
    sagas = await runner(team, definition)
    saga_id = await sagas.start("trip", None)

    with pytest.raises(Killed):
        await sagas.run(saga_id)
    del outside.failing[where]
    clock.tick(61)
    successor = await runner(team, definition)
    (due,) = await successor.due()
    status = await successor.run(due)

    assert status == "compensated"
    # The effect that was under way is asked for twice with one key; every other one once.
    assert sorted(outside.keys.values()) == [1, 1, 1, 2]
    once = list(dict.fromkeys(outside.log))
    assert once == ["a", "b", "undo b", "undo a"]


async def test_a_running_saga_is_left_alone_and_a_late_runner_writes_nothing(
    team: Team, outside: Outside, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    definition = outside.saga("a", "b")
    other = await runner(team, definition, number=2)
    seen: list[object] = []
    inner = outside.action("a")

    async def slow(call: StepCall) -> Done:
        seen.append(await other.run(call.saga_id))
        clock.tick(61)
        seen.append(await other.run(call.saga_id))
        return await inner(call)

    steps = (SagaStep("a", slow), definition.steps[1])
    sagas = await runner(team, SagaDefinition("trip", steps))
    saga_id = await sagas.start("trip", None)

    with pytest.raises(FenceLost):
        await sagas.run(saga_id)

    assert seen == ["running", "completed"]


async def test_a_compensation_that_always_fails_ends_among_the_dead_letters(
    team: Team, outside: Outside, frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    outside.failing["b"] = SagaStepFailed("sold_out", "no seats")
    outside.failing["undo a"] = OSError("the mail server is gone")
    sagas = await runner(team, outside.saga("a", "b", max_compensation_attempts=3))
    saga_id = await sagas.start("trip", None)
    planner = await team.planner()

    for _ in range(3):
        status = await sagas.run(saga_id)
        clock.tick(100)

    (letter,) = await planner.dead_letters.list()
    assert status == "dead"
    assert (letter.kind, letter.ref, letter.step, letter.attempts) == ("saga", saga_id, 0, 3)
    assert letter.reason == "undo a failed 3 times: OSError: the mail server is gone"
    assert await sagas.due() == []


async def test_a_requeued_letter_goes_on_where_it_stopped_and_once(
    team: Team, outside: Outside
) -> None:
    outside.failing["b"] = SagaStepFailed("sold_out", "no seats")
    outside.failing["undo a"] = OSError("the mail server is gone")
    sagas = await runner(team, outside.saga("a", "b", max_compensation_attempts=1))
    saga_id = await sagas.start("trip", None)
    await sagas.run(saga_id)
    planner = await team.planner()
    (letter,) = await planner.dead_letters.list()
    del outside.failing["undo a"]

    await planner.dead_letters.requeue(letter.id)
    with pytest.raises(NoDeadLetter):
        await planner.dead_letters.requeue(letter.id)
    status = await sagas.run(saga_id)

    assert status == "compensated"
    assert await planner.dead_letters.list() == []
    assert len(await planner.dead_letters.list(with_requeued=True)) == 1


async def test_a_failed_task_is_requeued_by_the_planner_only(team: Team) -> None:
    await team.goal("a")
    planner, worker = await team.planner(), await team.worker()
    held = await worker.board.claim()
    assert held is not None
    await worker.board.fail(held, "no such document")
    (letter,) = await planner.dead_letters.list()

    with pytest.raises(AccessDenied):
        await worker.dead_letters.requeue(letter.id)
    await planner.dead_letters.requeue(letter.id)

    again = await worker.board.claim()
    assert again is not None
    assert (letter.reason, again.task.attempt) == ("no such document", 2)


async def test_a_saga_id_starts_one_saga(team: Team, outside: Outside) -> None:
    sagas = await runner(team, outside.saga("a"))

    await sagas.start("trip", 1, saga_id="s")
    await sagas.start("trip", 1, saga_id="s")

    with pytest.raises(RequestMismatch):
        await sagas.start("trip", 2, saga_id="s")
    assert len(await team.rows("SELECT * FROM sagas")) == 1


async def test_an_unknown_saga_is_said_to_be_one(team: Team, outside: Outside) -> None:
    sagas = await runner(team, outside.saga("a"))

    with pytest.raises(UnknownSaga):
        await sagas.start("journey", None)
    with pytest.raises(UnknownSaga):
        await sagas.run("nothing")


async def collecting(team: Team) -> Sagas:
    await team.member("collector", "worker")
    member = await team.member("processor", "worker")
    return Sagas(member.desk, [Collecting(member.desk, collector="collector").definition()])


async def test_the_documents_saga_stores_what_it_collected(team: Team) -> None:
    sagas = await collecting(team)
    records: list[JsonValue] = [{"value": 1}, {"value": 2.5}]

    status = await sagas.run(await sagas.start(NAME, {"records": records}, saga_id="s"))

    saga = await sagas.get("s")
    assert status == "completed"
    assert saga.steps[1].result == {"records": 2, "total": 3.5}
    assert len(await team.rows("SELECT * FROM stored_data")) == 2


async def test_the_documents_saga_deletes_bad_data_and_tells_the_collector(team: Team) -> None:
    sagas = await collecting(team)

    status = await sagas.run(await sagas.start(NAME, {"records": [{"value": "x"}]}, saga_id="s"))

    collector = await team.member("collector", "worker")
    (notice,) = await collector.messages.poll()
    saga = await sagas.get("s")
    (collection,) = await team.rows("SELECT * FROM collections")
    undone = await team.rows(
        "SELECT json_extract(detail, '$.name') AS name FROM team_events "
        "WHERE kind = 'saga step compensated' ORDER BY seq"
    )
    assert status == "compensated"
    assert [(s.name, s.status) for s in saga.steps] == [
        ("collect", "compensated"),
        ("process", "compensated"),
        ("store", "pending"),
    ]
    assert [row["name"] for row in undone] == ["process", "collect"]
    assert await team.rows("SELECT * FROM raw_data") == []
    assert (collection["required_recollect"], collection["reason"]) == (1, "format_invalid")
    assert notice.content == {"saga_id": "s", "why": "format_invalid"}


async def test_nothing_to_collect_undoes_nothing(team: Team) -> None:
    sagas = await collecting(team)

    status = await sagas.run(await sagas.start(NAME, {}))

    assert status == "compensated"
    assert await team.rows("SELECT * FROM agent_messages") == []
