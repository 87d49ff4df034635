"""Contexts, snapshots and sagas in the model."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from tests.team.machine_board import GOAL
from tests.team.machine_plans import PlanRules
from tests.team.machine_world import Errors, Fate, Killed, agents, fates, mostly, workers

from edgestate.team import (
    AccessDenied,
    ContextConflictError,
    ContextExists,
    Cycle,
    Done,
    NoSnapshot,
    SagaDefinition,
    Sagas,
    SagaStep,
    SagaStepFailed,
    StepCall,
    TeamMember,
    UnknownContext,
)

KEPT = 16
TRY_S = 70
contents = st.sampled_from(("one", "two"))


class GoalRules(PlanRules):
    """What holds for the goal as a whole."""

    sagas: list[str]

    def begin_goals(self) -> None:
        self.contexts: dict[int, str] = {1: "as agreed"}
        self.draft: str | None = None

    @property
    def newest(self) -> int:
        return self.tasks[GOAL].context

    # --- contexts ---

    @rule(name=mostly("planner"), content=contents, behind=st.sampled_from((0, 0, 1)), fate=fates)
    def draft_context(self, name: str, content: str, behind: int, fate: Fate) -> None:
        version = max(self.newest - behind, 1)
        refused: Errors | None = None
        if name != "planner":
            refused = (AccessDenied,)
        elif version != self.newest:
            refused = (ContextConflictError,)

        outcome = self.act(
            name, lambda m: m.contexts.draft(Cycle(GOAL, version, ""), content), Fate(fate.dies_at)
        )

        if self.happened(outcome, refused):
            self.draft = content

    @rule(
        name=mostly("planner"),
        content=st.sampled_from((None, None, "one", "two")),
        step=st.sampled_from((1, 1, 1, 0, 2)),
        fate=fates,
    )
    def freeze(self, name: str, content: str | None, step: int, fate: Fate) -> None:
        version = self.newest + step
        refused: Errors | None = None
        if step == 0:
            frozen = self.contexts[version]
            refused = None if content in (None, frozen) else (ContextExists,)
        elif name != "planner":
            refused = (AccessDenied,)
        elif step == 2:
            refused = (ContextConflictError,)
        elif (content is None and self.draft is None) or self.tasks[GOAL].status == "completed":
            refused = (UnknownContext,)

        outcome = self.act(
            name,
            lambda m: m.contexts.freeze_context(GOAL, version, context=content),
            fate,
        )

        if self.happened(outcome, refused) and step == 1:
            self.contexts[version] = content or self.draft or ""
            self.tasks[GOAL].context = version
            self.draft = None

    @rule(name=agents, claimed=agents, step=st.sampled_from((-1, 0, 0, 1)))
    def begin_cycle(self, name: str, claimed: str, step: int) -> None:
        version = max(self.newest + step, 1)
        refused: Errors | None = None
        if name != claimed:
            refused = (AccessDenied,)
        elif version > self.newest:
            refused = (UnknownContext,)
        elif version < self.newest:
            refused = (ContextConflictError,)

        outcome = self.act(
            name, lambda m: m.contexts.begin_cycle(claimed, f"task:{GOAL}:ctx:{version}")
        )

        if self.happened(outcome, refused):
            assert outcome.value.payload == self.contexts[version]

    @rule(name=agents, version=st.integers(0, 4), pinned=st.booleans())
    def read_context(self, name: str, version: int, pinned: bool) -> None:
        can_read = version == self.newest or (pinned and 1 <= version < self.newest)

        outcome = self.act(name, lambda m: m.contexts.read_context(GOAL, version, pinned=pinned))

        if self.happened(outcome, None if can_read else (ContextConflictError,)):
            assert outcome.value == self.contexts[version]

    @rule(name=mostly("planner"), behind=st.sampled_from((0, 0, 0, 1)), fate=fates)
    def rebase(self, name: str, behind: int, fate: Fate) -> None:
        version = max(self.newest - behind, 1)
        refused: Errors | None = None
        if name != "planner":
            refused = (AccessDenied,)
        elif version != self.newest:
            refused = (ContextConflictError,)
        request = f"rebase {self.now} {version} {sum(t.fence for t in self.tasks.values())}"
        request += f" {self.denied} {len(self.decided)}"

        outcome = self.act(
            name,
            lambda m: m.planning.rebase(
                Cycle(GOAL, version, ""), reason="newer", request_id=request
            ),
            fate,
        )

        if not self.happened(outcome, refused):
            return
        self.decided.append("rebase")
        for task_id, task in self.tasks.items():
            is_open = task_id != GOAL and task.status in ("pending", "running")
            if is_open and task.context != self.newest:
                task.status, task.context, task.claims = "pending", self.newest, 0
                task.fence += 1

    # --- snapshots ---

    @precondition(lambda self: self.snapshots)
    @rule()
    def damage_the_newest_snapshot(self) -> None:
        self.run(
            self.team.run(
                "UPDATE task_snapshots SET payload = payload || ' ' WHERE version = "
                "(SELECT MAX(version) FROM task_snapshots)"
            )
        )
        self.snapshots[-1] = None

    def _whole(self) -> tuple[int, dict[str, int]] | None:
        for place in range(len(self.snapshots), max(len(self.snapshots) - KEPT, 0), -1):
            snapshot = self.snapshots[place - 1]
            if snapshot is not None:
                return place, snapshot
        return None

    @rule(name=mostly("planner"), goes_back=st.booleans(), behind=st.sampled_from((0, 0, 1)))
    def restore(self, name: str, goes_back: bool, behind: int) -> None:
        whole = self._whole()
        outcome = self.act(name, lambda member: member.snapshots.restore(GOAL))
        if not self.happened(outcome, None if whole else (NoSnapshot,)) or whole is None:
            return
        restored = outcome.value
        assert (restored.version, restored.completed) == whole
        assert len(restored.broken) == len(self.snapshots) - restored.version
        if not goes_back:
            return
        version = max(self.newest - behind, 1)
        refused: Errors | None = None if version == self.newest else (ContextConflictError,)
        if name != "planner":
            refused = (AccessDenied,)

        outcome = self.act(
            name,
            lambda m: m.snapshots.roll_back(Cycle(GOAL, version, ""), restored, reason="damaged"),
        )

        if self.happened(outcome, refused):
            self.decided.append(f"rolled back to snapshot {restored.version}")
            self._rolled_back(restored.completed)

    def _rolled_back(self, completed: dict[str, int]) -> None:
        for task_id, task in self.tasks.items():
            if task.status == "completed" and completed.get(task_id) != task.attempt:
                task.status, task.attempt, task.claims = "pending", task.attempt + 1, 0
                task.review = "open" if task.review == "accepted" else task.review

    # --- sagas ---

    @rule(
        name=workers,
        outcomes=st.lists(st.sampled_from(("ok", "fails", "raises", "kills")), max_size=3),
        fate=fates,
    )
    def run_a_saga(self, name: str, outcomes: list[str], fate: Fate) -> None:
        log: list[str] = []
        saga = _saga(outcomes, log)
        saga_id = f"saga {self.now} {len(self.sagas)}"
        self.sagas.append(saga_id)
        status = self._ended(name, saga, saga_id, fate)
        done = outcomes.index("fails") if "fails" in outcomes else len(outcomes)
        forward = [f"do {n}" for n in range(done)]
        back = [f"undo {n}" for n in reversed(range(done))]
        assert list(dict.fromkeys(log)) == (forward + back if "fails" in outcomes else forward)
        assert status == ("compensated" if "fails" in outcomes else "completed")

    def _ended(self, name: str, saga: SagaDefinition, saga_id: str, fate: Fate) -> str:
        """How the saga ends, however often its runner is killed."""
        mortal = self.mortals[name]
        mortal.fate, mortal.calls = Fate(fate.dies_at * 2, fate.is_after), 0
        for _ in range(12):
            try:
                status = self.run(_advanced(self.members[name], saga, saga_id))
                if status not in ("running", "compensating"):
                    self.mortals[name].fate = Fate()
                    return status
            except Killed:
                self.run(self.born(name))
            self.pass_time(TRY_S)
        raise AssertionError("the saga does not end")


async def _advanced(member: TeamMember, saga: SagaDefinition, saga_id: str) -> str:
    sagas = Sagas(member.desk, [saga])
    return await sagas.run(await sagas.start(saga.name, None, saga_id=saga_id))


def _saga(outcomes: list[str], log: list[str]) -> SagaDefinition:
    """A saga whose steps do as `outcomes` says; one that raises or kills does so the first time."""

    def step(number: int, outcome: str) -> SagaStep:
        async def do(call: StepCall) -> Done:
            if outcome == "fails":
                raise SagaStepFailed("no", "no")
            log.append(f"do {number}")
            if call.attempt == 1 and outcome in ("raises", "kills"):
                error: Any = OSError("busy") if outcome == "raises" else Killed()
                raise error
            return Done(number)

        async def undo(_call: StepCall) -> Done:
            log.append(f"undo {number}")
            return Done()

        return SagaStep(f"step {number}", do, f"undo {number}", undo)

    steps = tuple(step(n, outcome) for n, outcome in enumerate(outcomes))
    return SagaDefinition("played", steps, max_attempts=6)
