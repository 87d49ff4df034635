"""One step's effect: the call of its tool, with retries, time limits and rate windows."""

from __future__ import annotations

from typing import Any, cast

from pydantic import JsonValue

import edgestate
from edgestate import clock
from edgestate.checkpoint import StateCheckpoint
from edgestate.effects import idempotency_key
from edgestate.errors import StateError
from edgestate.failures import ModelFailed, RateLimited, ToolFailed, ToolTimeout, ToolUnknown
from edgestate.keeper import LeaseKeeper, TimedOut
from edgestate.models import StepResult, ToolState, VersionedTaskState
from edgestate.store import StateStore
from edgestate.tools import Tool, ToolCall


class KnownTools:
    """What is stored of a task's tools, read once per run and only if there can be something."""

    def __init__(self, store: StateStore, task_id: str, *, is_fresh: bool) -> None:
        self._store = store
        self._task_id = task_id
        self._is_fresh = is_fresh
        self._states: dict[str, ToolState] = {}

    async def state(self, tool: Tool) -> ToolState:
        """The state of `tool` within the task, idle if none is stored."""
        state = self._states.get(tool.name)
        if state is None and not self._is_fresh:
            state = await self._store.get_tool_state(self._task_id, tool.name)
        if state is None:
            state = ToolState(
                tool_name=tool.name, task_id=self._task_id, max_retries=tool.max_retries
            )
        self._states[tool.name] = state
        return state


class Invocation:
    """Calls one tool for one step until there is a result or no more trying."""

    def __init__(
        self,
        tool: Tool,
        state: ToolState,
        *,
        store: StateStore,
        checkpoint: StateCheckpoint,
        keeper: LeaseKeeper,
        max_wait_s: float,
    ) -> None:
        self._tool = tool
        self._state = state
        self._store = store
        self._checkpoint = checkpoint
        self._keeper = keeper
        self._max_wait_s = max_wait_s

    async def may_begin(self) -> None:
        """Return once a call is allowed by the tool's rate, and must end before the lease does.

        Errors: RateLimited if that takes too long; LeaseTooShort, LeaseLost.
        """
        await self._window()
        await self._keeper.have(self._tool.timeout_s, self._tool.name)

    async def result(self, step: StepResult, given: Any) -> JsonValue:
        """What the tool returned for `step` with `given` as its input.

        Errors: ToolFailed, ToolUnknown; RateLimited if nothing happened and the next try has to
        wait too long; what the store and the lease raise.
        """
        call = self._call(self._checkpoint.get_task(), step, given)
        retries = 0
        while True:
            try:
                output = await self._once(call)
                self._succeeded(output)
                return output
            except (ToolFailed, ToolUnknown) as failure:
                retries += 1
                last = failure
            if not self._may_retry(last) or retries > self._tool.max_retries:
                raise last
            await self._wait(last, retries)
            await self.may_begin()

    def _succeeded(self, output: JsonValue) -> None:
        """What was remembered of the tool, if anything was, is over with its step."""
        if self._state.status == "idle":
            return
        self._state.status = "success"
        self._state.last_result = output
        self._state.last_error = self._state.rate_limit_reset_at = self._state.cursor = None
        self._state.extra = {}
        self._checkpoint.put_tool(self._state)

    def _call(self, task: VersionedTaskState, step: StepResult, given: Any) -> ToolCall:
        return ToolCall(
            task_id=task.task_id,
            session_id=task.session_id,
            step_index=step.step_index,
            input=given,
            idempotency_key=step.idempotency_key or idempotency_key(task.task_id, step.step_index),
            attempt=step.attempt,
            results=[s.output for s in task.steps[: step.step_index]],
            state=self._state,
            _save=self._save,
        )

    async def _save(self, state: ToolState) -> None:
        self._checkpoint.put_tool(state)
        await self._checkpoint.flush()

    async def _once(self, call: ToolCall) -> JsonValue:
        tool = self._tool
        try:
            return await self._keeper.run(lambda: _observed(tool, call), timeout_s=tool.timeout_s)
        except TimedOut:
            raise ToolTimeout(tool.name, tool.timeout_s) from None
        except ModelFailed as failure:
            raise ToolFailed(
                str(failure), may_retry=failure.may_retry, retry_after_s=failure.retry_after_s
            ) from failure
        except StateError:
            raise
        except Exception as error:
            # A tool's own exception: nobody knows whether its effect happened.
            raise ToolUnknown(tool.name, f"{type(error).__name__}: {error}") from error

    def _may_retry(self, failure: ToolFailed | ToolUnknown) -> bool:
        if isinstance(failure, ToolFailed):
            return failure.may_retry
        return self._tool.effect != "non_idempotent"

    async def _wait(self, failure: ToolFailed | ToolUnknown, retry: int) -> None:
        """The failure is stored, and the pause before the next try is over."""
        pause_s = self._tool.backoff.pause_s(retry)
        after_s = failure.retry_after_s if isinstance(failure, ToolFailed) else None
        if after_s is not None:
            pause_s = max(pause_s, after_s)
            await self._block(clock.now() + after_s)
        self._state.status = "retrying"
        self._state.retry_count += 1
        self._state.last_error = str(failure)
        self._checkpoint.put_tool(self._state)
        if pause_s > self._max_wait_s and isinstance(failure, ToolFailed):
            await self._limited(clock.now() + pause_s)
        await self._keeper.pause(pause_s)

    async def _block(self, until: float) -> None:
        if self._store.traits.counters:
            await self._store.block_tool(self._tool.name, until=until)

    async def _window(self) -> None:
        """A call of the tool is counted and allowed; waits for the window, but not too long."""
        rate = self._tool.rate
        if rate is None or not self._store.traits.counters:
            return
        while True:
            taken = await self._store.take_rate(
                self._tool.name, limit=rate.calls, window_s=rate.window_s
            )
            if taken.is_allowed:
                return
            wait_s = taken.reset_at - clock.now()
            if wait_s > self._max_wait_s:
                await self._limited(taken.reset_at)
            await self._keeper.pause(max(wait_s, 0.001))

    async def _limited(self, reset_at: float) -> None:
        self._state.status = "retrying"
        self._state.rate_limit_reset_at = clock.iso(reset_at)
        await self._save(self._state)
        raise RateLimited(self._tool.name, reset_at)


async def _observed(tool: Tool, call: ToolCall) -> JsonValue:
    """What `tool.run(call)` returns, seen by whoever set `edgestate.observe`."""
    observe = edgestate.observe
    if observe is None:
        result = await tool.run(call)
    else:
        result = await observe(tool.name, call.input, lambda: tool.run(call))
    # That it is JSON is checked where it becomes the step's output.
    return cast("JsonValue", result)
