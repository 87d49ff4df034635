"""Driving a task: from the step that its pointer is at, until it ends or has to stop."""

from __future__ import annotations

from typing import Any

from trip_agent.models import Step, Task
from trip_agent.moment import iso_now
from trip_agent.plan import Effect
from trip_agent.refusal import Refusal
from trip_agent.tasks import Tasks
from trip_agent.travel import Refused, Travel, Unclear

DECISIONS = ("retry", "skip", "done")


class Runner:
    """Runs tasks. Every result is stored before the next step begins."""

    def __init__(self, tasks: Tasks, travel: Travel) -> None:
        self._tasks = tasks
        self._travel = travel

    async def run(self, task: Task) -> Task:
        """Drive `task` and return it: completed, failed, or waiting for a decision.

        A step that was interrupted is done again if that is safe; if it is not, the task waits.
        Errors: Refusal 502 if the travel service gave no usable answer to a step that is safe to
        do again: the same request goes on from there.
        """
        while task.status not in ("completed", "failed"):
            step = task.next_step
            if step is None:
                raise LookupError(f"task {task.id} is {task.status} but has no step left")
            if step.effect is Effect.NON_IDEMPOTENT:
                went_on = await self._do_once(task, step)
            else:
                await self._do_again(task, step)
                went_on = True
            task = await self._tasks.get(task.id)
            if not went_on:
                return task
        return task

    async def decide(self, task: Task, index: str, *, decision: str, output: Any) -> Task:
        """Settle step `index`, whose outcome is unknown, as someone decided; then go on.

        Errors: Refusal 409 if the task does not wait for this step.
        """
        step = task.next_step
        if task.status != "waiting_tool" or step is None or str(step.index) != index:
            raise Refusal(409, "no_decision_needed", "The task does not wait for this step.")
        if decision == "retry":
            await self._tasks.withdraw_intent(task, step)
        else:
            result = {"skipped": True} if decision == "skip" else output
            await self._tasks.succeed(task, step, result, started_at=step.started_at or iso_now())
        return await self.run(await self._tasks.get(task.id))

    async def _do_again(self, task: Task, step: Step) -> None:
        """Do a read or idempotent step. No intent: its key makes a second attempt harmless."""
        started_at = iso_now()
        try:
            output = await self._travel.do(task, step)
        except Refused as exc:
            await self._tasks.fail(task, step, str(exc), started_at=started_at)
        except Unclear as exc:
            await self._tasks.note_error(task, step, str(exc))
            raise Refusal(
                502, "travel_unreachable", f"Step {step.index} ({step.action}): {exc}."
            ) from exc
        else:
            await self._tasks.succeed(task, step, output, started_at=started_at)

    async def _do_once(self, task: Task, step: Step) -> bool:
        """Do a step that must not happen twice; False if what became of it is unknown."""
        if not await self._tasks.write_intent(task, step):
            await self._tasks.await_decision(task, step)
            return False
        started_at = iso_now()
        try:
            output = await self._travel.do(task, step)
        except Refused as exc:
            await self._tasks.fail(task, step, str(exc), started_at=started_at)
        except Unclear as exc:
            await self._tasks.await_decision(task, step, str(exc))
            return False
        else:
            await self._tasks.succeed(task, step, output, started_at=started_at)
        return True
