"""Every batch of the team's library: guards stand where they must, and within D1's limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.team.world import PATIENT, Team, claimed

import edgestate.team
from edgestate.team import D1Record, Done, SagaDefinition, Sagas, SagaStep, StepCall, Subtask
from edgestate.team import sql as statements
from edgestate.team.errors import ContextConflictError
from edgestate.team.sql import (
    board,
    contexts,
    inspecting,
    knowledge,
    messages,
    sagas,
    settings,
    writing,
)
from edgestate.team.sql.knowledge import Shelf

pytestmark = pytest.mark.anyio

MODULES: list[ModuleType] = [board, contexts, knowledge, messages, sagas, settings, writing]


class Recorder:
    """`env.DB` that remembers the text of every batch."""

    def __init__(self, db: Any) -> None:
        self._db = db
        self.batches: list[list[str]] = []

    def prepare(self, text: str) -> Any:
        return _Statement(self._db.prepare(text), text)

    async def batch(self, given: Sequence[Any]) -> Any:
        self.batches.append([statement.text for statement in given])
        return await self._db.batch([statement.inner for statement in given])


class _Statement:
    def __init__(self, inner: Any, text: str) -> None:
        self.inner, self.text = inner, text

    def bind(self, *values: Any) -> _Statement:
        return _Statement(self.inner.bind(*values), self.text)


async def everything(team: Team) -> None:
    """What the library can do, each thing once at least."""
    cycle = await team.goal("a", Subtask("b", "w", needs_review=False), "c", "d")
    planner, worker, critic = await team.planner(), await team.worker(), await team.critic()
    held = await claimed(worker)
    await worker.board.renew(held)
    await worker.board.release(held, reason="later")
    ((task_id, version), *_) = await worker.board.look()
    taken = await worker.board.take(task_id, version)
    note = worker.messages.sending("critic", "done", 1)
    await worker.board.complete(taken, 1, summary="one", effects=[note])
    await worker.board.fail(await claimed(worker), "no such thing")
    while held := await worker.board.claim():  # type: ignore[assignment]
        await worker.board.complete(held, 1, summary="one")
    first, *rest = await critic.reviews.open()
    await critic.reviews.reject(first, reason="wrong")
    for task in rest:
        await critic.reviews.accept(task, reason="right")
    await critic.reviews.reject(
        await _again(team, worker, critic), reason="wrong again", max_attempts=1
    )
    await worker.board.set_aside()
    (letter, *_) = await planner.dead_letters.list()
    await planner.dead_letters.requeue(letter.id)
    inbox = await critic.messages.poll()
    await critic.messages.consume(inbox[0])
    (sent, *_) = [message for message in inbox if message.source_agent_id == "worker-1"]
    await worker.messages.correct(sent, 2)
    await planner.knowledge.create("k", 1, kind="norm", visibility="public")
    fact = await planner.knowledge.get("k")
    assert fact is not None
    await planner.knowledge.update(fact, 2)
    await worker.memory.create("m", 1, kind="note", visibility="private", scope="a")
    await planner.settings.set("model", "small")
    restored = await planner.snapshots.restore("goal")
    await planner.snapshots.roll_back(cycle, restored, reason="to see")
    await planner.contexts.draft(cycle, "next")
    await planner.contexts.freeze_context("goal", 2)
    with pytest.raises(ContextConflictError):
        await worker.messages.send("planner", "note", 1, cycle=cycle)
    await planner.planning.rebase((await planner.board.task("goal")).cycle, reason="new")
    claim = await worker.requests.claim("r", "x", 1)
    await worker.requests.finish(claim, 1)  # type: ignore[arg-type]
    await worker.requests.sweep(older_than_s=0)
    await worker.roster.beat()
    await _saga(worker.desk)


async def _again(team: Team, worker: Any, critic: Any) -> Any:
    held = await claimed(worker)
    await worker.board.complete(held, 1, summary="one")
    return (await critic.reviews.open())[0]


async def _saga(desk: Any) -> None:
    async def act(_call: StepCall) -> Done:
        return Done(1)

    runner = Sagas(desk, [SagaDefinition("s", (SagaStep("one", act),))])
    await runner.run(await runner.start("s", None))


@pytest.fixture
async def recorder(team: Team) -> Recorder:
    recorder = Recorder(team.db)
    await everything(Team(team.db, D1Record(recorder, deadlines=PATIENT)))
    return recorder


WRITES_BEFORE_GUARDS = {
    board.GUARD_PLAN: {board.PLAN},
    board.GUARD_HELD: {board.COMPLETE, board.FAIL, board.RELEASE},
    board.GUARD_VERSION: {board.ACCEPT, board.REJECT, board.REJECT_FOR_GOOD},
    contexts.GUARD_POINTER: {contexts.MOVE_POINTER},
    contexts.GUARD_SNAPSHOT: {contexts.TAKE_SNAPSHOT},
    messages.GUARD_CONSUME: {messages.CONSUME},
    sagas.GUARD_SAGA: {sagas.MOVE_SAGA},
    writing.GUARD_REQUEST: {writing.FINISH_REQUEST},
    knowledge.LONG_TERM.guard_update: {knowledge.LONG_TERM.update, knowledge.SHORT_TERM.update},
}
MUST_BE_GUARDED = set().union(*WRITES_BEFORE_GUARDS.values()) | {
    contexts.FREEZE,
    contexts.UPSERT_DRAFT,
    messages.DECIDE,
    messages.SEND_CORRECTION,
    settings.PUT_SETTING,
    sagas.REQUEUE,
    sagas.REQUEUE_SAGA,
    board.REQUEUE_TASK,
    knowledge.LONG_TERM.create,
    knowledge.SHORT_TERM.create,
}


async def test_a_guard_follows_the_write_that_it_guards_and_nothing_is_between(
    recorder: Recorder,
) -> None:
    guarded = 0
    for batch in recorder.batches:
        for place, text in enumerate(batch):
            if "agent_guard" in text and "changes()" in text:
                before = batch[place - 1]
                allowed = WRITES_BEFORE_GUARDS.get(text, MUST_BE_GUARDED)
                assert place > 0
                assert before in allowed or before in MUST_BE_GUARDED, before
                guarded += 1

    assert guarded > 30


async def test_no_guarded_write_goes_without_its_guard(recorder: Recorder) -> None:
    seen = set()
    for batch in recorder.batches:
        for place, text in enumerate(batch):
            if text in MUST_BE_GUARDED:
                seen.add(text)
                assert "agent_guard" in batch[place + 1], text
                assert "changes() <> " in batch[place + 1], text

    assert len(seen) >= len(MUST_BE_GUARDED) - 3


async def test_every_write_under_a_request_asks_first_who_may(recorder: Recorder) -> None:
    requested = [batch for batch in recorder.batches if writing.DONE_REQUEST in batch]

    assert len(requested) > 25
    for batch in requested:
        assert batch[:2] == [writing.GUARD_ROLE, writing.DONE_REQUEST]
        assert batch[-2:] == [writing.COUNT, writing.SELECT_ANSWER]


async def test_the_guard_table_stays_empty(recorder: Recorder, team: Team) -> None:
    assert await team.rows("SELECT * FROM agent_guard") == []


async def test_a_completion_is_one_batch(recorder: Recorder) -> None:
    batches = [batch for batch in recorder.batches if board.COMPLETE in batch]

    assert len(batches) >= 4
    for batch in batches:
        assert {board.PUT_RESULT, contexts.TAKE_SNAPSHOT, writing.GUARD_CONTEXT} <= set(batch)


def _texts(module: ModuleType) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in vars(module).items():
        if isinstance(value, Shelf):
            found |= {f"{name}.{f}": getattr(value, f) for f in Shelf.__dataclass_fields__}
        elif isinstance(value, str) and name.isupper() and not name.startswith("_"):
            found[name] = value
    return found


@pytest.mark.parametrize("module", [*MODULES, inspecting], ids=lambda m: m.__name__[14:])
async def test_every_statement_is_one_that_the_database_takes(
    team: Team, module: ModuleType
) -> None:
    for name, text in _texts(module).items():
        if "COLUMNS" in name or name in ("READABLE", "WRITABLE"):
            continue
        count = max((int(n) for n in re.findall(r"\?(\d+)", text)), default=0)
        assert set(map(int, re.findall(r"\?(\d+)", text))) == set(range(1, count + 1)), name
        plan = team.db.prepare(f"EXPLAIN {text}")
        await (plan.bind(*[None] * count) if count else plan).all()
        assert len(text) < 100_000
        assert count <= 100


def test_no_sql_is_written_outside_of_its_layer() -> None:
    folder = Path(edgestate.team.__file__).parent
    layer = Path(statements.__file__).parent
    keyword = re.compile(r"\b(INSERT INTO|SELECT .* FROM|UPDATE \w+ SET|DELETE FROM)\b")

    found = [
        path.name
        for path in folder.rglob("*.py")
        if layer not in path.parents and keyword.search(path.read_text("utf-8"))
    ]

    assert found == []
