"""What is given up, judged and planned, in the model."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from tests.team.machine_board import GOAL, LATER, MAX_ATTEMPTS, MAX_CLAIMS, BoardRules
from tests.team.machine_world import Errors, Fate, agents, fates, mostly

from edgestate.errors import VersionConflict
from edgestate.team import (
    AccessDenied,
    ContextConflictError,
    Cycle,
    CyclicPlan,
    NoDeadLetter,
    Subtask,
    TeamMember,
)


class PlanRules(BoardRules):
    """Dead letters, verdicts, further subtasks."""

    @rule(name=agents, fate=fates)
    def set_aside(self, name: str, fate: Fate) -> None:
        given_up = [
            n
            for n, t in self.tasks.items()
            if t.claims >= MAX_CLAIMS
            and (t.status == "pending" or (t.status == "running" and t.lease_ends <= self.now))
        ]

        outcome = self.act(name, lambda m: m.board.set_aside(), Fate(fate.dies_at, fate.is_after))

        if not outcome.was_done:
            assert sorted(outcome.value) == sorted(given_up)
        for task_id in given_up:
            self.gave_up(task_id)

    @precondition(lambda self: self.letters)
    @rule(name=mostly("planner"), data=st.data(), fate=fates)
    def requeue(self, name: str, data: st.DataObject, fate: Fate) -> None:
        ref = data.draw(st.sampled_from(self.letters))
        letters = self.act("critic", lambda member: member.dead_letters.list()).value
        assert sorted(letter.ref for letter in letters) == sorted(self.letters)
        number = next(letter.id for letter in letters if letter.ref == ref)

        outcome = self.act(
            name, lambda m: m.dead_letters.requeue(number), fate, again=(NoDeadLetter,)
        )

        if self.happened(outcome, None if name == "planner" else (AccessDenied,)):
            self.letters.remove(ref)
            task = self.tasks[ref]
            task.status, task.attempt, task.claims = "pending", task.attempt + 1, 0

    # --- judging and planning ---

    @rule(verdict=st.booleans(), name=mostly("critic"), fate=fates)
    def review(self, verdict: bool, name: str, fate: Fate) -> None:
        waiting = self.act(name, lambda member: member.reviews.open()).value
        assert {task.task_id for task in waiting} == {
            n for n, t in self.tasks.items() if (t.status, t.review) == ("completed", "open")
        }
        if not waiting:
            return
        shown = waiting[0]

        async def doing(member: TeamMember) -> None:
            if verdict:
                await member.reviews.accept(shown, reason="right")
            else:
                await member.reviews.reject(shown, reason="wrong", max_attempts=MAX_ATTEMPTS)

        outcome = self.act(name, doing, fate)

        if not self.happened(outcome, None if name == "critic" else (AccessDenied,)):
            return
        task = self.tasks[shown.task_id]
        if verdict:
            task.review = "accepted"
        elif task.attempt >= MAX_ATTEMPTS:
            self.gave_up(shown.task_id)
        else:
            task.status, task.attempt, task.claims = "pending", task.attempt + 1, 0

    @rule(
        name=mostly("planner"),
        task_id=st.sampled_from((*LATER, "t0")),
        after=st.sampled_from(((), ("t0",), ("nowhere",))),
        behind=st.sampled_from((0, 0, 1)),
        fate=fates,
    )
    def plan(
        self, name: str, task_id: str, after: tuple[str, ...], behind: int, fate: Fate
    ) -> None:
        goal = self.tasks[GOAL]
        version = max(goal.context - behind, 1)
        subtask = Subtask(task_id, "work", task_id, after=after, needs_review=False)
        cycle = Cycle(GOAL, version, "")
        refused: Errors | None = None
        if task_id in self.tasks or after == ("nowhere",):
            refused = (CyclicPlan, VersionConflict, AccessDenied, ContextConflictError)
        elif name != "planner":
            refused = (AccessDenied,)
        elif version != goal.context:
            refused = (ContextConflictError,)
        elif goal.status != "pending":
            refused = (VersionConflict,)

        # What a plan is refused for stays so with the same request; so each has one of its own.
        request = f"plan {task_id} {self.now} {goal.context} {len(self.tasks)} {self.denied}"
        outcome = self.act(
            name,
            lambda m: m.planning.plan(cycle, [subtask], reason="more", request_id=request),
            fate,
            again=(CyclicPlan,),
        )

        if self.happened(outcome, refused):
            self.add(subtask)
            self.decided.append("split into 1 subtasks")
