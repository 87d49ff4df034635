"""A simple model of the whole repository layer, and the machine that compares the two."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.edgestate.world import d1_binding
from tests.team.world import PATIENT, Team

from edgestate.errors import FenceLost, LeaseLost, VersionConflict
from edgestate.team import (
    AccessDenied,
    AlreadyConsumed,
    ContextConflictError,
    D1Record,
    Done,
    Held,
    Message,
    NoSnapshot,
    RequestMismatch,
    SagaDefinition,
    Sagas,
    SagaStep,
    SagaStepFailed,
    StepCall,
    Subtask,
    TeamMember,
    history,
    rebuild,
    states,
)

T = TypeVar("T")
TASKS = [f"t{n}" for n in range(4)]
AGENTS = ["planner", "worker-1", "worker-2", "critic"]
WORKERS = ["worker-1", "worker-2"]
LEASE_S = 30
MAX_ATTEMPTS = 3
MAX_CLAIMS = 5
TRY_S = 10
BEGINNING = "2026-12-01T00:00:00Z"


@dataclass
class Task:
    """What the model knows of a subtask."""

    status: str = "pending"
    review: str = "open"
    attempt: int = 1
    fence: int = 0
    claims: int = 0
    lease_ends: float = 0
    context: int = 1
    results: set[int] = field(default_factory=set)


class TeamMachine(RuleBasedStateMachine):
    """Everything that agents can do, in any order, on a database of its own."""

    empty: Path
    clock: Any

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.folder = tempfile.mkdtemp()
        self.clock.move_to(BEGINNING)
        self.now = 0.0
        self.tasks = {name: Task() for name in TASKS}
        self.context = 1
        self.held: list[Held] = []
        self.done: set[tuple[str, int]] = set()
        self.sent: dict[str, int] = {}
        self.inbox: dict[str, list[int]] = {name: [] for name in AGENTS}
        self.consumed: set[tuple[int, str]] = set()
        self.known: dict[tuple[int, str], Message] = {}
        self.fact = ("first", 1)
        self.setting = 0
        self.revision = 0
        self.snapshots: list[dict[str, int]] = []
        self.denied = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @initialize()
    def begin(self) -> None:
        self.run(self._begin())

    async def _begin(self) -> None:
        file = Path(self.folder) / "team.sqlite"
        shutil.copy(self.empty, file)
        db = await self.stack.enter_async_context(d1_binding(file, is_migrated=True))
        self.team = Team(db, D1Record(db, deadlines=PATIENT))
        self.members: dict[str, TeamMember] = {}
        for name in AGENTS:
            await self._born(name)
        await self.team.goal(*(Subtask(name, "work", name) for name in TASKS))
        for name in AGENTS:
            self.inbox[name] += [1] if name != "planner" else []
        await self.members["planner"].knowledge.create(
            "norm", "first", kind="norm", visibility="public", acl=["worker-2"]
        )

    async def _born(self, name: str) -> None:
        role: Any = name.split("-")[0]
        lane = int(name[-1]) - 1 if role == "worker" else 0
        self.members[name] = await self.team.member(name, role, lane=lane)

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.runner.close()
        shutil.rmtree(self.folder)

    # --- time and death ---

    @rule(seconds=st.sampled_from([1, 15, 31]))
    def time_passes(self, seconds: int) -> None:
        self.clock.tick(seconds)
        self.now += seconds

    @rule(name=st.sampled_from(AGENTS))
    def an_isolate_is_killed(self, name: str) -> None:
        self.run(self._born(name))

    # --- the board ---

    def _claimable(self) -> set[str]:
        return {
            name
            for name, task in self.tasks.items()
            if task.context == self.context
            and task.claims < MAX_CLAIMS
            and (
                task.status == "pending"
                or (task.status == "running" and task.lease_ends <= self.now)
            )
        }

    @rule(name=st.sampled_from(WORKERS))
    def claim(self, name: str) -> None:
        claimable = self._claimable()

        held = self.run(self.members[name].board.claim(ttl_s=LEASE_S))

        if held is None:
            assert not claimable
            return
        assert held.task.task_id in claimable
        task = self.tasks[held.task.task_id]
        task.status, task.lease_ends = "running", self.now + LEASE_S
        task.fence += 1
        task.claims += 1
        assert (held.task.fence, held.task.attempt) == (task.fence, task.attempt)
        self.held.append(held)

    def _is_current(self, held: Held) -> bool:
        task = self.tasks[held.task.task_id]
        return task.status == "running" and task.fence == held.task.fence

    @precondition(lambda self: self.held)
    @rule(data=st.data(), name=st.sampled_from(WORKERS), times=st.sampled_from([1, 1, 3]))
    def complete(self, data: st.DataObject, name: str, times: int) -> None:
        held = data.draw(st.sampled_from(self.held))
        task = self.tasks[held.task.task_id]
        key = (held.task.task_id, held.task.fence)
        member = self.members[name]
        for _ in range(times):
            in_time = self._is_current(held) and self.context == held.task.context_version
            allowed = in_time and held.task.agent_id == name
            try:
                self.run(member.board.complete(held, key[0], summary="done"))
            except AccessDenied:
                assert in_time and not allowed
                self.denied += 1
                continue
            except (FenceLost, VersionConflict, ContextConflictError):
                assert not allowed
                assert key not in self.done
                continue
            except RequestMismatch:
                # Another agent has finished it with the same request.
                assert key in self.done
                continue
            assert allowed or key in self.done
            if allowed:
                task.status, task.claims = "completed", 0
                task.results.add(task.attempt)
                self.done.add(key)
                finished = {n: t.attempt for n, t in self.tasks.items() if t.status == "completed"}
                self.snapshots.append(finished)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        held = data.draw(st.sampled_from(self.held))
        task = self.tasks[held.task.task_id]
        allowed = self._is_current(held) and task.lease_ends > self.now
        try:
            self.run(self.members["worker-1"].board.renew(held))
        except LeaseLost:
            assert not allowed
            return
        assert allowed
        task.lease_ends = self.now + LEASE_S

    @precondition(lambda self: self.held)
    @rule(data=st.data(), name=st.sampled_from(WORKERS))
    def release(self, data: st.DataObject, name: str) -> None:
        held = data.draw(st.sampled_from(self.held))
        in_time = self._is_current(held)
        allowed = in_time and held.task.agent_id == name
        try:
            self.run(self.members[name].board.release(held, reason="later"))
        except AccessDenied:
            assert in_time and not allowed
            self.denied += 1
            return
        except (FenceLost, VersionConflict, ContextConflictError):
            assert not allowed
            return
        assert allowed
        self.tasks[held.task.task_id].status = "pending"

    @rule(verdict=st.booleans(), name=st.sampled_from(["critic", "critic", "worker-1"]))
    def review(self, verdict: bool, name: str) -> None:
        member = self.members[name]
        waiting = self.run(member.reviews.open())
        assert {task.task_id for task in waiting} == {
            n for n, t in self.tasks.items() if (t.status, t.review) == ("completed", "open")
        }
        for shown in waiting[:1]:
            task = self.tasks[shown.task_id]
            judging = (
                member.reviews.accept(shown, reason="right")
                if verdict
                else member.reviews.reject(shown, reason="wrong", max_attempts=MAX_ATTEMPTS)
            )
            try:
                self.run(judging)
            except AccessDenied:
                assert name != "critic"
                self.denied += 1
                return
            assert name == "critic"
            if verdict:
                task.review = "accepted"
            elif task.attempt >= MAX_ATTEMPTS:
                task.status = "failed"
            else:
                task.status, task.attempt, task.claims = "pending", task.attempt + 1, 0

    @rule()
    def freeze(self) -> None:
        planner = self.members["planner"]
        self.context += 1
        self.run(planner.contexts.freeze_context("goal", self.context, context=self.context))

    @rule()
    def rebase(self) -> None:
        planner = self.members["planner"]
        cycle = self.run(planner.board.task("goal")).cycle
        self.run(planner.planning.rebase(cycle, reason="new context"))
        for task in self.tasks.values():
            if task.status in ("pending", "running") and task.context != self.context:
                task.status, task.context, task.claims = "pending", self.context, 0
                task.fence += 1

    # --- messages ---

    @rule(
        source=st.sampled_from(AGENTS),
        to=st.sampled_from(AGENTS),
        request=st.sampled_from([f"r{n}" for n in range(5)]),
    )
    def send(self, source: str, to: str, request: str) -> None:
        sending = self.members[source].messages.send(to, "note", request, request_id=request)
        body = f"{source} {to} {request}"
        try:
            seq = self.run(sending)
        except RequestMismatch:
            assert request in self.sent and body not in self.sent
            return
        assert self.sent.setdefault(body, seq) == seq
        if request not in self.sent:
            self.sent[request] = seq
            self.inbox[to].append(seq)

    @rule(name=st.sampled_from(AGENTS))
    def poll(self, name: str) -> None:
        got = self.run(self.members[name].messages.poll(limit=100))

        unread = [seq for seq in self.inbox[name] if (seq, name) not in self.consumed]
        assert [message.seq for message in got] == unread
        self.known |= {(message.seq, name): message for message in got}

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def consume(self, data: st.DataObject) -> None:
        seq, name = data.draw(st.sampled_from(sorted(self.known)))
        try:
            self.run(self.members[name].messages.consume(self.known[seq, name]))
        except AlreadyConsumed:
            assert (seq, name) in self.consumed
            return
        assert (seq, name) not in self.consumed
        self.consumed.add((seq, name))

    # --- knowledge ---

    @rule(name=st.sampled_from(AGENTS), behind=st.integers(0, 2), value=st.sampled_from("abc"))
    def update_fact(self, name: str, behind: int, value: str) -> None:
        member = self.members[name]
        fact = self.run(member.knowledge.get("norm"))
        assert fact is not None
        assert (fact.value, fact.version) == self.fact
        seen = type(fact)(**{**_fields(fact), "version": fact.version - behind})
        try:
            self.run(member.knowledge.update(seen, value))
        except AccessDenied:
            assert name not in ("planner", "worker-2")
            self.denied += 1
            return
        except VersionConflict:
            assert behind > 0
            return
        assert behind == 0
        self.fact = (value, fact.version + 1)

    # --- settings, snapshots, sagas ---

    @rule(name=st.sampled_from(["planner", "planner", "critic"]), behind=st.integers(0, 1))
    def set_setting(self, name: str, behind: int) -> None:
        version = self.setting - behind
        try:
            new = self.run(self.members[name].settings.set("model", version, version=version))
        except AccessDenied:
            assert name != "planner"
            self.denied += 1
            return
        except VersionConflict:
            assert behind > 0
            return
        assert behind == 0
        assert new == version + 1
        self.setting = new
        self.revision += 1

    @rule(name=st.sampled_from(AGENTS))
    def get_setting(self, name: str) -> None:
        settings = self.members[name].settings
        settings.at_least(self.revision)
        held = self.run(settings.get("model"))
        assert (held.version if held else 0) == self.setting

    @rule()
    def restore(self) -> None:
        try:
            restored = self.run(self.members["planner"].snapshots.restore("goal"))
        except NoSnapshot:
            assert self.snapshots == []
            return
        assert restored.version == len(self.snapshots)
        assert restored.completed == self.snapshots[-1]

    @rule(outcomes=st.lists(st.sampled_from(["ok", "fails", "raises"]), min_size=1, max_size=3))
    def run_a_saga(self, outcomes: list[str]) -> None:
        log: list[str] = []
        saga = _saga(outcomes, log)
        runner = Sagas(self.members["worker-1"].desk, [saga])
        status, pauses = self.run(_finished(runner, self.clock))
        self.now += TRY_S * pauses
        done = outcomes.index("fails") if "fails" in outcomes else len(outcomes)
        forward = [f"do {n}" for n in range(done)]
        back = [f"undo {n}" for n in reversed(range(done))]
        assert list(dict.fromkeys(log)) == (forward + back if "fails" in outcomes else forward)
        assert status == ("compensated" if "fails" in outcomes else "completed")

    # --- what always holds ---

    @invariant()
    def the_board_is_what_the_model_says(self) -> None:
        if not hasattr(self, "team"):
            return
        self.run(self._compare())

    async def _compare(self) -> None:
        stored = await states(self.team.record)
        for name, task in self.tasks.items():
            state = stored[name]
            found = (state.status, state.review, state.attempt, state.fence, state.context_version)
            wanted = (task.status, task.review, task.attempt, task.fence, task.context)
            assert found == wanted, name
        assert rebuild(await history(self.team.record)) == stored
        results = await self.team.rows("SELECT task_id, attempt FROM task_results")
        pairs = {(row["task_id"], row["attempt"]) for row in results}
        assert len(results) == len(pairs)
        assert pairs == {(n, a) for n, task in self.tasks.items() for a in task.results}
        (guards,) = await self.team.rows("SELECT COUNT(*) AS n FROM agent_guard")
        (denied,) = await self.team.rows("SELECT COUNT(*) AS n FROM access_denials")
        assert (guards["n"], denied["n"]) == (0, self.denied)


def _saga(outcomes: list[str], log: list[str]) -> SagaDefinition:
    """A saga whose steps do as `outcomes` says; one that raises does so the first time."""

    def step(number: int, outcome: str) -> SagaStep:
        async def do(call: StepCall) -> Done:
            if outcome == "fails":
                raise SagaStepFailed("no", "no")
            log.append(f"do {number}")
            if outcome == "raises" and call.attempt == 1:
                raise OSError("busy")
            return Done(number)

        async def undo(_call: StepCall) -> Done:
            log.append(f"undo {number}")
            return Done()

        return SagaStep(f"step {number}", do, f"undo {number}", undo)

    return SagaDefinition("played", tuple(step(n, o) for n, o in enumerate(outcomes)))


async def _finished(runner: Sagas, clock: Any) -> tuple[str, int]:
    """How a new saga ends, and after how many pauses, each of which is over at once."""
    saga_id = await runner.start("played", None)
    for tries in range(10):
        status = await runner.run(saga_id)
        if status != "running":
            return status, tries
        clock.tick(TRY_S)
    raise AssertionError("the saga does not end")


def _fields(fact: Any) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in fact.__dataclass_fields__}
