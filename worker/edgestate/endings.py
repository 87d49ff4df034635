"""How steps and tasks end: with results, failures, questions; each stored with what follows."""

from __future__ import annotations

import logging
from typing import Any, Final

from pydantic import JsonValue, TypeAdapter, ValidationError

from edgestate import clock
from edgestate.agent import MODEL, Agent, follow_up, said
from edgestate.checkpoint import StateCheckpoint
from edgestate.effects import idempotency_key
from edgestate.errors import RecordTooLarge, StoreRejected
from edgestate.failures import ModelFailed, StepFailed, ToolFailed, ToolUnknown, UnknownTool
from edgestate.invoke import KnownTools
from edgestate.keeper import LeaseKeeper
from edgestate.models import VersionedTaskState
from edgestate.recovery import finished
from edgestate.store import StateStore
from edgestate.traits import Lease

logger = logging.getLogger(__name__)
_JSON: Final[TypeAdapter[JsonValue]] = TypeAdapter(JsonValue)


class StepEndings:
    """The part of a run that writes.

    Shape: `is_released` says whether the last write ended the lease; `_begun` is the step whose
    intent was stored together with the result before it.
    """

    def __init__(
        self, agent: Agent, store: StateStore, task: VersionedTaskState, lease: Lease | None
    ) -> None:
        self._agent = agent
        self._store = store
        self._checkpoint = StateCheckpoint(store, task, lease=lease)
        self._keeper = LeaseKeeper(store, lease)
        self._fence = 0 if lease is None else lease.fence
        if lease is not None:
            task.fence = lease.fence
        self._unstored = 0
        # A task that never ran has left nothing behind of its tools.
        is_fresh = lease is not None and lease.fence == 1
        self._tools = KnownTools(store, task.task_id, is_fresh=is_fresh)
        self._begun: int | None = None
        self.is_released = False

    # --- a result, and what it leads to ---

    async def _succeed(self, index: int, output: JsonValue) -> None:
        task = self._checkpoint.get_task()
        step, steps = task.steps[index], len(task.steps)
        try:
            self._checkpoint.move_step(index, finished(step, _JSON.validate_python(output)))
        except (ValidationError, TypeError, ValueError) as error:
            await self._unstorable(index, f"the result is not JSON: {error}", steps=steps)
            return
        if step.action == MODEL:
            self._note_turn(index)
        self._settle()
        is_key_point = step.effect == "non_idempotent" or task.is_over
        is_key_point |= self._begin_next()
        try:
            await self._flush(is_key_point=is_key_point, is_forced=is_key_point)
        except (RecordTooLarge, StoreRejected) as error:
            await self._unstorable(index, str(error), steps=steps)

    def _settle(self) -> None:
        """If every step has its result: the steps that follow are there, or the task is over."""
        task = self._checkpoint.get_task()
        if task.is_over or task.first_open_step() < len(task.steps):
            return
        last = task.steps[-1] if task.steps else None
        text, has_wishes = said(last) if last and last.action == MODEL else ("", False)
        if has_wishes and task.iteration >= self._agent.max_iterations:
            self._end("failed", "iteration_limit", text)
            task.error_code = "iteration_limit"
            task.error = f"no answer within {self._agent.max_iterations} turns"
            return
        following = follow_up(self._agent, task)
        for step in following:
            task.steps.append(step)
            self._checkpoint.mark_step(step.step_index)
        task.total_steps = len(task.steps)
        if not following:
            is_answer = last is not None and last.action == MODEL
            output = last.output if last is not None else None
            self._end("completed", "answered" if is_answer else "done", text or output)

    def _begun_fields(self, index: int) -> dict[str, Any]:
        task = self._checkpoint.get_task()
        step, now = task.steps[index], clock.iso()
        return {
            "status": "running",
            "started_at": now,
            "intent_at": now if step.effect == "non_idempotent" else None,
            "attempt": step.attempt + 1,
            "idempotency_key": idempotency_key(task.task_id, index),
            "fence": self._fence,
            "error": None,
            "error_code": None,
        }

    def _begin_next(self) -> bool:
        """Whether the next step's intent is stored together with this step's result.

        Only if its effect begins as soon as that is written: a question that nobody has to be
        asked is not asked.
        """
        task = self._checkpoint.get_task()
        index = task.first_open_step()
        if task.is_over or index >= len(task.steps):
            return False
        step, tool = task.steps[index], self._agent.tool(task.steps[index].action)
        if step.status != "pending" or step.effect != "non_idempotent" or tool is None:
            return False
        if tool.rate is not None or self._keeper.left_s() <= tool.timeout_s:
            return False
        self._checkpoint.move_step(index, self._begun_fields(index))
        self._begun = index
        return True

    def _end(self, status: str, outcome: str, result: JsonValue) -> None:
        task = self._checkpoint.get_task()
        task.status = status  # type: ignore[assignment]  # checked by the model
        task.outcome = outcome
        task.result = result
        self._checkpoint.mark_dirty()

    def _note_turn(self, index: int) -> None:
        """The model's turn is part of the conversation, and counted."""
        task = self._checkpoint.get_task()
        step = task.steps[index]
        text, _ = said(step)
        calls = step.output.get("toolCalls") if isinstance(step.output, dict) else None
        step.messages = [{"role": "assistant", "content": text, "toolCalls": calls}]
        task.iteration += 1

    async def _unstorable(self, index: int, why: str, *, steps: int) -> None:
        """The effect happened and its result cannot be kept: the step fails, and says so.

        Shape: `steps` is how many the task had before the result; what followed is undone.
        """
        task = self._checkpoint.get_task()
        if self._begun is not None:
            undone = {"status": "pending", "attempt": task.steps[self._begun].attempt - 1}
            self._checkpoint.update_step(self._begun, {**undone, "intent_at": None})
            self._begun = None
        self._checkpoint.drop_steps(steps)
        step = task.steps[index].model_copy(update={"status": "running", "output": None})
        task.steps[index] = step
        if task.is_over:
            task.__dict__.update(status="running", outcome=None, result=None)
        failure = StoreRejected(f"the step ran, but {why}")
        await self._fail(index, failure, "result_not_stored")

    # --- how steps end otherwise ---

    async def _fail(self, index: int, failure: Exception, code: str) -> None:
        """The failure is stored with its step; the task fails, unless the model can go on."""
        task = self._checkpoint.get_task()
        step = task.steps[index]
        if (
            self._agent.model is not None
            and step.action != MODEL
            and isinstance(failure, ToolFailed | UnknownTool)
        ):
            await self._succeed(index, {"error": str(failure)})
            return
        self._checkpoint.update_step(
            index, {"status": "failed", "error": str(failure), "error_code": code}
        )
        task.error, task.error_code = str(failure), code
        if step.action == MODEL:
            cause = failure.__cause__
            known = (
                cause
                if isinstance(cause, ModelFailed)
                else ModelFailed(str(failure), may_retry=True)
            )
            self._end("failed", "degraded", self._agent.degrade(known))
            await self._flush(is_forced=True)
            return
        self._end("failed", "step_failed", None)
        await self._flush(is_forced=True)
        raise StepFailed(task.task_id, index, str(failure)) from failure

    async def _ask(self, index: int, failure: ToolUnknown) -> None:
        self._checkpoint.update_step(index, {"error": str(failure), "error_code": failure.code})
        await self._wait_for_decision()

    async def _wait_for_decision(self) -> None:
        """The task waits for a person; nobody holds it meanwhile."""
        task = self._checkpoint.get_task()
        if task.status == "running":
            task.status = "waiting_tool"
            self._checkpoint.mark_dirty()
        await self._flush(is_forced=True)
        logger.info("task waits for a decision", extra={"task": task.task_id})

    async def _flush(self, *, is_key_point: bool = False, is_forced: bool = False) -> None:
        """Store what is unstored, if the policy or `is_forced` says so; the end always is."""
        self._unstored += not is_forced
        task = self._checkpoint.get_task()
        is_end = task.is_over or task.status == "waiting_tool"
        due = self._agent.policy.is_due(self._unstored, is_key_point=is_key_point)
        if is_forced or is_end or due:
            await self._checkpoint.flush(release=is_end)
            self._unstored = 0
            self.is_released = is_end
