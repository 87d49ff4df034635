"""The board in the model: exactly which task a claim gets, and who may do what with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from tests.team.machine_world import Errors, Fate, World, agents, fates

from edgestate.errors import FenceLost, LeaseLost, VersionConflict
from edgestate.team import (
    AccessDenied,
    ContextConflictError,
    Held,
    RequestMismatch,
    Subtask,
    TeamMember,
    lane_of,
)

GOAL = "goal"
LEASE_S = 30
MAX_ATTEMPTS = 3
MAX_CLAIMS = 5
LATE: Errors = (FenceLost, VersionConflict, ContextConflictError)
FIRST = (
    Subtask("t0", "work", 0),
    Subtask("t2", "work", 2, needs_review=False),
    Subtask("t1", "work", 1, after=("t0",)),
    Subtask("t3", "work", 3, after=("t2",), needs_review=False),
)
LATER = ("x0", "x1")


@dataclass
class Task:
    """What the model knows of a task."""

    ordinal: int
    role: str = "worker"
    after: tuple[str, ...] = ()
    status: str = "pending"
    review: str = "open"
    attempt: int = 1
    fence: int = 0
    claims: int = 0
    lease_ends: float = 0
    context: int = 1
    results: set[int] = field(default_factory=set)

    @property
    def is_over(self) -> bool:
        return self.status == "completed" and self.review != "open"


class BoardRules(World):
    """Claims, results, verdicts, dead letters, plans."""

    decided: list[str]

    def begin_board(self) -> None:
        self.tasks: dict[str, Task] = {GOAL: Task(0, "planner", review="none")}
        self.held: list[Held] = []
        self.done: dict[tuple[str, int, int], str] = {}
        self.letters: list[str] = []
        self.planned: set[str] = set()
        self.plan_requests: dict[str, bool] = {}
        self.snapshots: list[dict[str, int] | None] = []
        for subtask in FIRST:
            self.add(subtask)

    def add(self, subtask: Subtask) -> None:
        review = "open" if subtask.needs_review else "none"
        task = Task(len(self.tasks), after=subtask.after, review=review)
        task.context = self.tasks[GOAL].context
        self.tasks[subtask.task_id] = task
        goal = self.tasks[GOAL]
        goal.after = (*goal.after, subtask.task_id)

    # --- claiming ---

    def _free(self, role: str) -> dict[str, Task]:
        return {
            name: task
            for name, task in self.tasks.items()
            if task.role == role
            and task.context == self.tasks[GOAL].context
            and task.claims < MAX_CLAIMS
            and all(self.tasks[other].is_over for other in task.after)
        }

    def _claimable(self, name: str) -> str | None:
        """The task that the agent gets: of its lane, else any, else one whose holder is gone."""
        free = self._free(name.split("-")[0])
        lane = int(name[-1]) - 1 if name[-1].isdigit() else 0
        pending = [n for n, t in free.items() if t.status == "pending"]
        gone = [n for n, t in free.items() if t.status == "running" and t.lease_ends <= self.now]
        for names in ([n for n in pending if lane_of(n) == lane], pending, gone):
            if names:
                return min(names, key=lambda n: self.tasks[n].ordinal)
        return None

    def _taken(self, held: Held, wanted: str) -> None:
        task = self.tasks[wanted]
        task.status, task.lease_ends = "running", self.now + LEASE_S
        task.fence += 1
        task.claims += 1
        found = (held.task.task_id, held.task.fence, held.task.attempt, held.task.context_version)
        assert found == (wanted, task.fence, task.attempt, task.context)
        self.held = [*self.held[-5:], held]

    @rule(name=st.sampled_from(("worker-1", "worker-2", "worker-1", "worker-2", "planner")))
    def claim(self, name: str) -> None:
        self._claim(name, Fate())

    @rule(name=agents, fate=fates)
    def claim_and_die(self, name: str, fate: Fate) -> None:
        self._claim(name, fate)

    def _claim(self, name: str, fate: Fate) -> None:
        wanted = self._claimable(name)
        request = f"claim {len(self.held)} {self.now} {sum(t.fence for t in self.tasks.values())}"

        async def doing(member: TeamMember) -> Held | None:
            return await member.board.claim(ttl_s=LEASE_S, request_id=f"{name} {request}")

        held = self.act(name, doing, Fate(fate.dies_at, fate.is_after)).value
        if wanted is None:
            assert held is None, held
        else:
            assert held is not None, wanted
            self._taken(held, wanted)

    @rule(name=agents, fate=fates)
    def look_and_take(self, name: str, fate: Fate) -> None:
        free = self._free(name.split("-")[0])
        pending = [n for n, t in free.items() if t.status == "pending"]
        pending.sort(key=lambda n: self.tasks[n].ordinal)
        seen = self.act(name, lambda member: member.board.look()).value
        assert [task_id for task_id, _ in seen] == pending
        if not seen:
            return
        task_id, version = seen[-1]

        outcome = self.act(
            name,
            lambda member: member.board.take(task_id, version, ttl_s=LEASE_S),
            Fate(fate.dies_at, fate.is_after),
            again=(VersionConflict,),
        )

        if outcome.error is None:
            self._taken(outcome.value, task_id)
        else:
            # Taken in a life that is over: nobody has it until its lease ends.
            assert outcome.was_done
            task = self.tasks[task_id]
            task.status, task.lease_ends = "running", self.now + LEASE_S
            task.fence += 1
            task.claims += 1

    # --- with a task in hand ---

    def _is_current(self, held: Held) -> bool:
        task = self.tasks[held.task.task_id]
        return task.status == "running" and task.fence == held.task.fence

    def _refused(self, held: Held, name: str) -> Errors | None:
        """What a result of that holder, given by that agent, is refused with."""
        newest = self.tasks[GOAL].context
        if held.task.context_version != newest:
            return (ContextConflictError,)
        if not self._is_current(held):
            return LATE
        if self.tasks[held.task.task_id].context != newest:
            return LATE
        return None if held.task.agent_id == name else (AccessDenied,)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), fate=fates, is_own=st.sampled_from((True, True, True, False)))
    def complete(self, data: st.DataObject, fate: Fate, is_own: bool) -> None:
        held = data.draw(st.sampled_from(self.held))
        name = held.task.agent_id if is_own else data.draw(agents)
        key = (held.task.task_id, held.task.attempt, held.task.fence)
        refused = self._refused(held, name)
        if key in self.done:
            refused = None if self.done[key] == name else (RequestMismatch,)

        outcome = self.act(
            name,
            lambda member: member.board.complete(held, [*key], summary="done"),
            fate,
        )

        if self.happened(outcome, refused) and key not in self.done:
            task = self.tasks[key[0]]
            task.status, task.claims = "completed", 0
            task.results.add(task.attempt)
            self.done[key] = name
            self.snapshots.append(
                {n: t.attempt for n, t in self.tasks.items() if t.status == "completed"}
            )

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        held = data.draw(st.sampled_from(self.held))
        task = self.tasks[held.task.task_id]
        is_ours = self._is_current(held) and task.lease_ends > self.now

        outcome = self.act(held.task.agent_id, lambda member: member.board.renew(held))

        if self.happened(outcome, None if is_ours else (LeaseLost,)):
            task.lease_ends = self.now + LEASE_S

    @precondition(lambda self: self.held)
    @rule(data=st.data(), fate=fates, is_own=st.sampled_from((True, True, False)))
    def release(self, data: st.DataObject, fate: Fate, is_own: bool) -> None:
        held = data.draw(st.sampled_from(self.held))
        name = held.task.agent_id if is_own else data.draw(agents)
        refused: Errors | None = None if self._is_current(held) else LATE
        if refused is None and held.task.agent_id != name:
            refused = (AccessDenied, ContextConflictError)

        outcome = self.act(name, lambda m: m.board.release(held, reason="later"), fate, again=LATE)

        if self.happened(outcome, refused):
            self.tasks[held.task.task_id].status = "pending"

    @precondition(lambda self: self.held)
    @rule(data=st.data(), fate=fates)
    def fail(self, data: st.DataObject, fate: Fate) -> None:
        held = data.draw(st.sampled_from(self.held))
        refused = self._refused(held, held.task.agent_id)

        outcome = self.act(
            held.task.agent_id, lambda m: m.board.fail(held, "broken"), fate, again=LATE
        )

        if self.happened(outcome, refused):
            self.gave_up(held.task.task_id)

    def gave_up(self, name: str) -> None:
        self.tasks[name].status = "failed"
        self.letters.append(name)
