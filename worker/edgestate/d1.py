"""Sessions, tasks and tool states in D1: the system of record."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from edgestate import clock, d1_rows, sql
from edgestate.bindings import D1Binding, D1Statement, KVBinding
from edgestate.d1_call import GuardRefused, Rows
from edgestate.d1_leases import acquiring
from edgestate.d1_reading import D1Reading
from edgestate.errors import (
    FenceLost,
    InvalidTransition,
    SessionNotFound,
    StateError,
    StoreRejected,
    TaskNotFound,
    TaskQuarantined,
    VersionConflict,
)
from edgestate.models import TaskState, ToolState, VersionedTaskState
from edgestate.records import requested, versioned
from edgestate.traits import Lease, Lifetimes, Traits

logger = logging.getLogger(__name__)

FEW_STEPS = 4
JSON_BYTES = 500_000


class D1StateStore(D1Reading):
    """A `StateStore` on `env.DB`, with the tables of `edgestate/migrations`.

    Shape: `blobs` is a KV binding for step outputs too large for a row, None to refuse those.
    """

    def __init__(
        self,
        db: D1Binding,
        *,
        lifetimes: Lifetimes | None = None,
        blobs: KVBinding | None = None,
    ) -> None:
        super().__init__(db, lifetimes or Lifetimes(), blobs)

    @property
    def traits(self) -> Traits:
        return Traits(
            name="D1StateStore",
            versions=True,
            leases=True,
            queries=True,
            counters=True,
            survives=True,
            value_limit_bytes=d1_rows.ROW_LIMIT_BYTES,
        )

    async def create_task(self, task: TaskState) -> VersionedTaskState:
        results = await self._write(
            task,
            [
                *await self._creation(task),
                self._d1.bound(sql.SELECT_CREATED, task.task_id, task.session_id, task.request_id),
            ],
        )
        if not results[-1]:
            raise SessionNotFound(task.session_id)
        if results[-1][0]["id"] == task.task_id:
            return versioned(task, version=1, fence=0)
        stored = await self.get_task(results[-1][0]["id"])
        if stored is None:
            raise SessionNotFound(task.session_id)
        return stored

    async def _creation(self, task: TaskState) -> list[D1Statement]:
        values = d1_rows.insert_values(task)
        created = self._d1.bound(sql.CREATE_TASK, *values, clock.now_ms())
        if not all(map(d1_rows.is_untouched, task.steps)):
            return [
                created,
                *await self._step_statements(task, range(len(task.steps)), few=0),
            ]
        rows = [d1_rows.planned_values(step, task.task_id) for step in task.steps]
        parts = json_parts(rows) if rows else []
        return [
            created,
            *(self._d1.bound(sql.CREATE_STEPS, task.task_id, part) for part in parts),
        ]

    async def start_task(
        self, task: TaskState, holder: str, *, ttl_s: float
    ) -> tuple[Lease | None, VersionedTaskState]:
        session, request = task.session_id, requested(task)
        expires_at, (_, *lease_values) = acquiring(task.task_id, holder, ttl_s)
        results = await self._write(
            task,
            [
                *await self._creation(task),
                self._d1.bound(sql.CLAIM_OF_REQUEST, session, *lease_values, request),
                self._d1.bound(sql.SELECT_TASK_OF_REQUEST, session, request),
                self._d1.bound(sql.SELECT_STEPS_OF_REQUEST, session, request, task.task_id),
            ],
        )
        claimed, rows, steps = results[-3:]
        if not rows:
            raise SessionNotFound(session)
        row = rows[0]
        if row["id"] == task.task_id and row["fence"] <= 1 and not steps:
            stored = versioned(task, version=row["version"], fence=row["fence"])
            stored.__dict__["status"] = row["status"]
        else:
            stored = await self._whole_task(row, steps)
        if not claimed:
            return None, stored
        return Lease(stored.task_id, holder, claimed[0]["fence"], expires_at, ttl_s), stored

    async def save_task(self, task: TaskState) -> None:
        if isinstance(task, VersionedTaskState) and task.version > 0:
            steps = await self._step_statements(task, range(len(task.steps)))
            await self._write(task, [*self._head(task, fence=task.fence), *steps])
            task.version += 1
            return
        is_new = isinstance(task, VersionedTaskState)
        now_ms = clock.now_ms()
        values = d1_rows.insert_values(task)
        results = await self._write(
            task,
            [
                self._d1.bound(sql.PUT_TASK, *values, 0 if is_new else 1, now_ms),
                self._d1.bound(sql.GUARD_PUT, task.task_id, now_ms),
                *await self._step_statements(task, range(len(task.steps))),
                self._d1.bound(sql.SELECT_VERSION, task.task_id),
            ],
        )
        if isinstance(task, VersionedTaskState):
            task.version = results[-1][0]["version"]

    async def save_task_with_steps(self, task: TaskState) -> None:
        """`save_task`, by the name that the document gives it here."""
        await self.save_task(task)

    async def commit(
        self,
        task: VersionedTaskState,
        steps: Collection[int] = (),
        *,
        results: Collection[int] = (),
        lease: Lease | None = None,
        tools: Sequence[ToolState] = (),
        release: bool = False,
        is_pointer_only: bool = False,
    ) -> int:
        fence = None if lease is None else lease.fence
        expected = task.version
        if is_pointer_only and fence is not None and not release:
            statements = self._pointer(task, fence)
        else:
            statements = self._head(task, fence=fence, release=release)
        for index in sorted(results):
            step = task.steps[index]
            output = await self._blobs.stored(task.task_id, step)
            values = d1_rows.result_values(step, task.task_id, output)
            statements.append(self._d1.bound(sql.SET_RESULT, task.task_id, *values))
        statements += await self._step_statements(task, steps)
        statements += [self._d1.bound(sql.PUT_TOOL, *d1_rows.tool_values(t)) for t in tools]
        await self._write(task, statements, expected=expected, fence=fence)
        return expected + 1

    def _pointer(self, task: VersionedTaskState, fence: int) -> list[D1Statement]:
        moved = (task.task_id, task.version, task.current_step, task.updated_at)
        return [
            self._d1.bound(sql.MOVE_POINTER, *moved, fence),
            self._d1.bound(sql.GUARD_COMMIT, task.task_id, fence),
        ]

    def _head(
        self, task: VersionedTaskState, *, fence: int | None, release: bool = False
    ) -> list[D1Statement]:
        has_progress = fence is not None
        values = d1_rows.commit_values(task)
        return [
            self._d1.bound(sql.COMMIT_TASK, *values, fence, int(release), int(has_progress)),
            self._d1.bound(sql.GUARD_COMMIT, task.task_id, fence),
        ]

    async def _step_statements(
        self, task: TaskState, indexes: Iterable[int], *, few: int = FEW_STEPS
    ) -> list[D1Statement]:
        """The statements that store these steps: few by value, more as JSON in one parameter.

        The latter write nothing for a task that is not there.
        """
        rows = [
            d1_rows.step_values(step, task.task_id, await self._blobs.stored(task.task_id, step))
            for step in [task.steps[index] for index in sorted(set(indexes))]
        ]
        if not rows:
            return []
        if len(rows) <= few:
            return [self._d1.bound(sql.PUT_STEP, task.task_id, *row) for row in rows]
        return [self._d1.bound(sql.PUT_STEPS, task.task_id, part) for part in json_parts(rows)]

    async def save_tool_state(self, state: ToolState, task_id: str) -> None:
        if state.task_id != task_id:
            raise StoreRejected(f"the tool state is of task {state.task_id}, not {task_id}.")
        values = d1_rows.tool_values(state)
        try:
            await self._d1.rows(sql.PUT_TOOL, *values)
        except StoreRejected as error:
            raise _missing_task(error, task_id) from error

    # --- refusals ---

    async def _write(
        self,
        task: TaskState,
        statements: Sequence[D1Statement],
        *,
        expected: int | None = None,
        fence: int | None = None,
    ) -> list[Rows]:
        try:
            return await self._d1.batch(statements)
        except GuardRefused as error:
            raise await self._refusal(task, error.reason, expected, fence) from error
        except StoreRejected as error:
            if expected is None and "FOREIGN KEY" in str(error):
                raise SessionNotFound(task.session_id) from error
            raise

    async def _refusal(
        self, task: TaskState, reason: str, expected: int | None, fence: int | None
    ) -> StateError:
        """What a refused guard means, with the numbers that are stored now."""
        rows = await self._d1.rows(sql.SELECT_VERSION, task.task_id)
        if rows and rows[0]["quarantine_reason"] is not None:
            return TaskQuarantined(task.task_id, rows[0]["quarantine_reason"])
        if reason == "transition_refused":
            return InvalidTransition("task", task.task_id, "its stored status", task.status)
        if isinstance(task, VersionedTaskState):
            expected, fence = expected or task.version, fence or task.fence
        if reason == "fence_lost":
            return FenceLost(task.task_id, fence or 0, rows[0]["fence"] if rows else None)
        actual = rows[0]["version"] if rows else None
        return VersionConflict(task.task_id, expected or 0, actual)


def json_parts(rows: Sequence[Sequence[Any]]) -> list[str]:
    """`rows` as JSON arrays of at most about `JSON_BYTES` each (a larger row stands alone)."""
    parts: list[str] = []
    held: list[str] = []
    size = 0
    for row in rows:
        text = d1_rows.text_of(list(row), "steps")
        if held and size + len(text) > JSON_BYTES:
            parts.append(f"[{','.join(held)}]")
            held, size = [], 0
        held.append(text)
        size += len(text)
    return [*parts, f"[{','.join(held)}]"]


def _missing_task(error: StoreRejected, task_id: str) -> StateError:
    return TaskNotFound(task_id) if "FOREIGN KEY" in str(error) else error
