"""One run of one task: from wherever it stands to its end, or to a question for a person."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from edgestate.agent import MODEL
from edgestate.endings import StepEndings
from edgestate.errors import StepNeedsDecision
from edgestate.failures import (
    RateLimited,
    TaskInterrupted,
    ToolFailed,
    ToolUnknown,
    UnknownTool,
)
from edgestate.invoke import Invocation
from edgestate.models import StepResult, VersionedTaskState
from edgestate.recovery import find_resumable_step


class Run(StepEndings):
    """Runs a task's steps under one lease (or as the only writer, where there are no leases).

    Shape: `is_released` says whether the last write ended the lease.
    """

    async def drive(self) -> VersionedTaskState:
        """The task when it is over, or waits for a person.

        Errors: StepFailed (the task is stored as failed); RateLimited (a later run goes on);
        TaskInterrupted; FenceLost and LeaseLost when it is someone else's now.
        """
        task = self._checkpoint.get_task()
        if task.status == "planned":
            task.status = "running"
            self._checkpoint.mark_dirty()
        while not task.is_over:
            try:
                index = find_resumable_step(task) if self._begun is None else self._begun
            except StepNeedsDecision:
                await self._wait_for_decision()
                return task
            if index is None:
                await self._go_on_or_end()
                continue
            await self._run_steps(self._together(index))
            if task.status == "waiting_tool":
                return task
        return task

    # --- what comes next ---

    def _together(self, index: int) -> list[int]:
        """Step `index`, and those after it that may run at the same time."""
        steps = self._checkpoint.get_task().steps
        first = steps[index]
        if first.group is None or first.effect == "non_idempotent":
            return [index]
        together = [index]
        for step in steps[index + 1 :]:
            if step.group != first.group or step.effect == "non_idempotent":
                break
            if step.status in ("pending", "running"):
                together.append(step.step_index)
        return together

    async def _go_on_or_end(self) -> None:
        self._settle()
        await self._flush(is_key_point=True)

    # --- one step, or some at once ---

    async def _run_steps(self, indexes: Sequence[int]) -> None:
        if len(indexes) == 1:
            await self._run_step(indexes[0])
            return
        ends = await asyncio.gather(*map(self._run_step, indexes), return_exceptions=True)
        failures = [end for end in ends if isinstance(end, BaseException)]
        # What is not an Exception (a cancellation, a death) comes first.
        for failure in sorted(failures, key=lambda f: isinstance(f, Exception)):
            raise failure

    async def _run_step(self, index: int) -> None:
        step = self._checkpoint.get_task().steps[index]
        try:
            invocation = await self._invocation(step)
            if index == self._begun:
                self._begun = None
            else:
                step = await self._begin(index)
            output = await invocation.result(step, self._given(step))
        except RateLimited:
            await self._call_off(index)
            raise
        except ToolUnknown as failure:
            if step.effect == "non_idempotent":
                await self._ask(index, failure)
                return
            await self._fail(index, failure, failure.code)
        except (ToolFailed, UnknownTool) as failure:
            await self._fail(index, failure, failure.code)
        else:
            try:
                await self._succeed(index, output)
            except asyncio.CancelledError:
                # A worker that is told to stop keeps the result that it has already.
                await self._flush(is_forced=True)
                raise
        if self._checkpoint.ended_by_other is not None:
            if self._begun is not None:
                await self._call_off(self._begun)
            task = self._checkpoint.get_task()
            raise TaskInterrupted(task.task_id, self._checkpoint.ended_by_other)

    async def _begin(self, index: int) -> StepResult:
        """The step is running; for a non-idempotent one its intent is stored."""
        task = self._checkpoint.get_task()
        self._checkpoint.move_step(index, self._begun_fields(index))
        if task.steps[index].effect == "non_idempotent":
            await self._flush(is_forced=True)
        return task.steps[index]

    async def _invocation(self, step: StepResult) -> Invocation:
        """The call of the step's tool, which may begin now: before that no intent is stored."""
        tool = self._agent.tool(step.action)
        if tool is None:
            raise UnknownTool(step.action)
        invocation = Invocation(
            tool,
            await self._tools.state(tool),
            store=self._store,
            checkpoint=self._checkpoint,
            keeper=self._keeper,
            max_wait_s=self._agent.max_wait_s,
        )
        await invocation.may_begin()
        return invocation

    def _given(self, step: StepResult) -> Any:
        return self._checkpoint.get_task().transcript if step.action == MODEL else step.input

    async def _call_off(self, index: int) -> None:
        """The step's effect did not happen, and nobody has to be asked about it."""
        step = self._checkpoint.get_task().steps[index]
        if step.is_uncertain:
            self._checkpoint.update_step(index, {"status": "pending", "intent_at": None})
            await self._flush(is_forced=True)
