"""Sagas: steps that are undone in reverse order when one of them cannot be done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from edgestate import clock
from edgestate.errors import FenceLost, StateError, VersionConflict
from edgestate.keys import check_id
from edgestate.team.desk import Desk
from edgestate.team.errors import UnknownSaga
from edgestate.team.record import Statement, says
from edgestate.team.saga_rows import (
    GAVE_UP,
    Action,
    Done,
    SagaDefinition,
    SagaRow,
    SagaStatus,
    SagaStepFailed,
    StepCall,
    StepRow,
    saga_key,
    saga_of,
)
from edgestate.team.sql import sagas as sql
from edgestate.team.tracing import logger_of, trace_id, traced
from edgestate.team.writes import Write, new_id, request_of, text_of

logger = logger_of(__name__)


@dataclass(frozen=True, slots=True)
class _Tried:
    """What became of one try: done, failed for good, or not known."""

    done: Done | None = None
    code: str | None = None
    error: str = ""


class Sagas:
    """Starting sagas, and running those that are due."""

    def __init__(self, desk: Desk, definitions: Iterable[SagaDefinition]) -> None:
        self._desk = desk
        self._definitions = {definition.name: definition for definition in definitions}

    async def start(self, name: str, input: JsonValue, *, saga_id: str | None = None) -> str:
        """The id of a saga that is stored and not begun; the same id starts one saga.

        Errors: UnknownSaga; RequestMismatch for an id that has another input.
        """
        definition = self._definition(name)
        saga_id = check_id("saga", saga_id or new_id("saga"))
        steps: JsonValue = [[s.name, s.compensation, s.condition] for s in definition.steps]
        write = Write(
            "start saga",
            saga_id,
            [name, input],
            (
                says(sql.CREATE_SAGA, saga_id, name, text_of(input), clock.now_ms(), trace_id()),
                says(sql.CREATE_STEPS, saga_id, text_of(steps), trace_id()),
            ),
            answer=saga_id,
        )
        await self._desk.write(write, request_id=request_of("start", saga_id))
        return saga_id

    async def get(self, saga_id: str) -> SagaRow:
        """A saga as it is now. Errors: UnknownSaga."""
        rows, steps = await self._desk.read(
            says(sql.SELECT_SAGA, saga_id), says(sql.SELECT_STEPS, saga_id)
        )
        if not rows:
            raise UnknownSaga(saga_id)
        return saga_of(rows[0], steps)

    async def due(self, *, limit: int = 20) -> list[str]:
        """Sagas that somebody should run now."""
        (rows,) = await self._desk.read(says(sql.SELECT_DUE, clock.now_ms(), limit))
        return [row["saga_id"] for row in rows]

    async def run(self, saga_id: str) -> SagaStatus:
        """The saga goes on as far as it can now; its status.

        It ends completed, compensated, or dead with a dead letter; while it waits for its next
        try, or another runs it, it stays running or compensating.
        Errors: FenceLost if another took it over; UnknownSaga, also for one that was started with
        other steps than the definition has now; StoreUnavailable.
        """
        while True:
            saga = await self.get(saga_id)
            definition = self._definition(saga.name)
            definition.must_fit(saga)
            if not await self._leased(saga, definition):
                return saga.status
            with traced(saga.trace_id):
                go_on = await self._advance(saga, definition)
            if not go_on:
                return saga.status

    async def _leased(self, saga: SagaRow, definition: SagaDefinition) -> bool:
        now = clock.now()
        holder = f"{self._desk.me} {self._desk.identity.incarnation}"
        ends = int((now + definition.lease_s) * 1000)
        rows, current, steps = await self._desk.send(
            says(sql.LEASE, saga.saga_id, holder, ends, int(now * 1000)),
            says(sql.SELECT_SAGA, saga.saga_id),
            says(sql.SELECT_STEPS, saga.saga_id),
        )
        fresh = saga_of(current[0], steps)
        for name in SagaRow.__dataclass_fields__:
            setattr(saga, name, getattr(fresh, name))
        return bool(rows)

    async def _advance(self, saga: SagaRow, definition: SagaDefinition) -> bool:
        """One step forward or back; False when the saga has ended or waits."""
        if saga.status == "running":
            step = next((s for s in saga.steps if s.status != "succeeded"), None)
            if step is None:
                return await self._end(saga, "completed")
            return await self._forward(saga, step, definition)
        step = next((s for s in reversed(saga.steps) if self._is_open(saga, s)), None)
        if step is None:
            return await self._end(saga, "compensated")
        return await self._back(saga, step, definition)

    def _is_open(self, saga: SagaRow, step: StepRow) -> bool:
        is_over = step.status in ("compensated", "skipped", "dead")
        return not is_over and step.must_be_compensated(saga.failure, saga.failed_step)

    async def _end(self, saga: SagaRow, status: SagaStatus) -> bool:
        await self._move(saga, status, saga.due_at, lease_ends=0)
        return False

    async def _forward(self, saga: SagaRow, step: StepRow, definition: SagaDefinition) -> bool:
        if step.attempts >= definition.max_attempts:
            # Its last try ended with the isolate: nobody could say so then.
            return await self._give_up(saga, step, GAVE_UP)
        step.status, step.forward, step.attempts = "running", "unknown", step.attempts + 1
        await self._move(saga, "running", saga.due_at, step)
        action = definition.steps[step.seq].run
        call = self._call(saga, step, saga_key(saga.saga_id, step.seq, "run"), step.attempts)
        tried = await _tried(action, call, definition.step_timeout_s)
        step.error = tried.error or None
        if tried.done is not None:
            step.status, step.forward, step.result = "succeeded", "done", tried.done.result
            await self._move(saga, "running", saga.due_at, step, writes=tried.done.writes)
            return True
        code = tried.code
        if code is not None:
            step.forward = "failed"
        elif step.attempts >= definition.max_attempts:
            code = GAVE_UP
        if code is None:
            due = clock.now_ms() + definition.pause_ms(step.attempts)
            await self._move(saga, "running", due, step, lease_ends=0)
            return False
        return await self._give_up(saga, step, code)

    async def _give_up(self, saga: SagaRow, step: StepRow, code: str) -> bool:
        step.status, saga.failure = "failed", code
        await self._move(saga, "compensating", saga.due_at, step)
        return True

    async def _back(self, saga: SagaRow, step: StepRow, definition: SagaDefinition) -> bool:
        action = definition.steps[step.seq].compensate
        assert action is not None
        if step.compensation_attempts >= definition.max_compensation_attempts:
            return await self._die(saga, step)
        step.status = "compensating"
        step.compensation_attempts += 1
        await self._move(saga, "compensating", saga.due_at, step)
        key = saga_key(saga.saga_id, step.seq, "undo")
        call = self._call(saga, step, key, step.compensation_attempts)
        tried = await _tried(action, call, definition.step_timeout_s)
        step.error = tried.error or step.error
        if tried.done is not None:
            step.status = "compensated"
            await self._move(saga, "compensating", saga.due_at, step, writes=tried.done.writes)
            return True
        if step.compensation_attempts >= definition.max_compensation_attempts:
            return await self._die(saga, step)
        due = clock.now_ms() + definition.pause_ms(step.compensation_attempts)
        await self._move(saga, "compensating", due, step, lease_ends=0)
        return False

    async def _die(self, saga: SagaRow, step: StepRow) -> bool:
        step.status = "dead"
        why = step.error or "the isolate ended with it"
        reason = f"{step.compensation} failed {step.compensation_attempts} times: {why}"
        letter = says(
            sql.DEAD_SAGA,
            saga.saga_id,
            step.seq,
            reason,
            step.compensation_attempts,
            clock.now_ms(),
        )
        await self._move(saga, "dead", saga.due_at, step, lease_ends=0, also=(letter,))
        return False

    def _call(self, saga: SagaRow, step: StepRow, key: str, attempt: int) -> StepCall:
        results = {s.name: s.result for s in saga.steps if s.forward == "done"}
        return StepCall(
            saga.saga_id,
            step.seq,
            saga.input,
            results,
            key,
            attempt,
            step.forward,
            saga.failure,
        )

    async def _move(
        self,
        saga: SagaRow,
        status: SagaStatus,
        due_at: int,
        step: StepRow | None = None,
        *,
        writes: Sequence[Write] = (),
        also: Sequence[Statement] = (),
        lease_ends: int | None = None,
    ) -> None:
        """The saga, its step and what the step wrote are stored, all or nothing."""
        now = clock.now_ms()
        if lease_ends is None:
            lease_ends = now + int(self._definition(saga.name).lease_s * 1000)
        moved = (saga.version, status, saga.failure, due_at, now, lease_ends)
        statements = [
            says(sql.MOVE_SAGA, saga.saga_id, saga.fence, *moved),
            says(sql.GUARD_SAGA, saga.saga_id, saga.fence),
            *also,
        ]
        if step is not None:
            statements.append(says(sql.MOVE_STEP, saga.saga_id, *step.values()))
        body: JsonValue = [saga.saga_id, saga.version, saga.fence, status]
        write = Write("move saga", saga.saga_id, body, tuple(statements), effects=tuple(writes))

        async def why(reason: str) -> StateError:
            stored = await self.get(saga.saga_id)
            if reason == "fence_lost":
                return FenceLost(saga.saga_id, saga.fence, stored.fence)
            return VersionConflict(saga.saga_id, saga.version, stored.version)

        request_id = request_of("move", saga.saga_id, saga.fence, saga.version)
        await self._desk.write(write, request_id=request_id, refused=why)
        saga.version += 1
        saga.status = status
        saga.due_at = due_at

    def _definition(self, name: str) -> SagaDefinition:
        found = self._definitions.get(name)
        if found is None:
            raise UnknownSaga(name)
        return found


async def _tried(action: Action, call: StepCall, timeout_s: float) -> _Tried:
    """What became of one try of `action`."""
    try:
        async with asyncio.timeout(timeout_s):
            return _Tried(done=await action(call))
    except SagaStepFailed as failure:
        return _Tried(code=failure.code, error=str(failure))
    except TimeoutError:
        return _Tried(error=f"no answer within {timeout_s} s")
    except Exception as error:
        facts: dict[str, Any] = {"saga": call.saga_id, "step": call.seq}
        logger.warning("saga step raised", extra=facts, exc_info=True)
        return _Tried(error=f"{type(error).__name__}: {error}")
