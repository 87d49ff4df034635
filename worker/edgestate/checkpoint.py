"""When a task's progress is stored, and that none of it is lost on the way."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from typing import Any, Final

from edgestate import clock
from edgestate.errors import StepNotFound, StoreUnavailable, VersionConflict
from edgestate.models import StepResult, TaskState, ToolState, VersionedTaskState
from edgestate.records import versioned
from edgestate.statuses import refuse_impossible
from edgestate.store import StateStore
from edgestate.traits import Lease

COMMIT_TRIES: Final = 6
RETRY_S: Final = 0.02
RESULT_FIELDS: Final = frozenset(
    {
        "status",
        "output",
        "error",
        "error_code",
        "started_at",
        "completed_at",
        "attempt",
        "idempotency_key",
        "intent_at",
        "fence",
        "messages",
    }
)
"""What a run changes of a step: see `StateStore.commit`."""


def _head_of(task: TaskState) -> tuple[object, ...]:
    """All of the task but its pointer and steps."""
    own = (
        task.status,
        task.goal,
        task.total_steps,
        task.iteration,
        task.outcome,
        task.error,
        task.error_code,
    )
    return (*own, task.result, {**task.counters}, {**task.intermediate})


class StateCheckpoint:
    """A task in memory and how much of it is stored.

    Shape: changes are numbered, so that one made while another is being stored is stored next.
    With a `lease`, every write carries its fence, and a version that someone without the lease
    took meanwhile is no loss: what they changed is kept, and what ran is added to it.
    """

    def __init__(self, store: StateStore, task: TaskState, *, lease: Lease | None = None) -> None:
        self._store = store
        if not isinstance(task, VersionedTaskState):
            task = versioned(task, version=0, fence=0)
        self._task = task
        self._lease = lease
        # A task that was never stored is stored by the first flush.
        self._revision = 0 if task.version else 1
        self._flushed = 0
        self._changed: set[int] = set()
        self._rewritten: set[int] = set()
        self._head = _head_of(task)
        self._tools: dict[str, ToolState] = {}
        self._writing = asyncio.Lock()
        self.ended_by_other: str | None = None
        """The status in which someone else ended the task while it ran."""

    @property
    def is_dirty(self) -> bool:
        """Whether something is not stored yet."""
        return self._flushed != self._revision

    def mark_dirty(self) -> None:
        """What was changed in `get_task()` directly is stored by the next flush."""
        self._revision += 1

    def get_task(self) -> VersionedTaskState:
        """The task as it is in memory."""
        return self._task

    def update_step(self, step_index: int, update: Mapping[str, Any]) -> None:
        """The step has the fields of `update`.

        Errors: StepNotFound; UnknownStatus, InvalidTransition. Nothing is changed then.
        """
        if not 0 <= step_index < len(self._task.steps):
            raise StepNotFound(self._task.task_id, step_index)
        step = self._task.steps[step_index]
        if "status" in update:
            refuse_impossible("step", str(step_index), step.status, update["status"])
        self._task.steps[step_index] = StepResult.model_validate({**step.__dict__, **update})
        if not update.keys() <= RESULT_FIELDS:
            self._rewritten.add(step_index)
        self._changed.add(step_index)
        self.mark_dirty()

    def move_step(self, step_index: int, update: Mapping[str, Any]) -> None:
        """As `update_step`, for fields of `RESULT_FIELDS` that the library itself has made.

        Validating the whole step again would cost more than all else that memory does of a step.
        """
        step = self._task.steps[step_index]
        refuse_impossible("step", str(step_index), step.status, update["status"])
        self._task.steps[step_index] = step.model_copy(update=update)
        self._changed.add(step_index)
        self.mark_dirty()

    def mark_step(self, step_index: int) -> None:
        """The step was changed in place, or is new."""
        self._rewritten.add(step_index)
        self._changed.add(step_index)
        self.mark_dirty()

    def drop_steps(self, count: int) -> None:
        """Of the steps, the first `count` are left; the others were never stored."""
        del self._task.steps[count:]
        self._task.total_steps = count
        self._changed = {index for index in self._changed if index < count}
        self._rewritten = {index for index in self._rewritten if index < count}

    def put_tool(self, state: ToolState) -> None:
        """`state` is stored together with the next flush."""
        self._tools[state.tool_name] = state
        self.mark_dirty()

    async def flush(self, *, release: bool = False) -> None:
        """Everything changed until now is stored: results, pointer and tools in one write.

        Shape: `release` ends the lease in the same write.
        Errors: FenceLost (stop: someone else has the task); VersionConflict without a lease;
        StoreUnavailable if the store stays away. What was not stored stays to be stored.
        """
        async with self._writing:
            if not self.is_dirty and not release:
                return
            revision = self._revision
            changed, self._changed = self._changed, set()
            rewritten, self._rewritten = self._rewritten, set()
            tools, self._tools = self._tools, {}
            # Nothing here needs the checks of an assignment, which cost more than the rest.
            self._task.__dict__.update(
                current_step=self._task.first_open_step(),
                updated_at=max(self._task.updated_at, clock.iso()),
            )
            try:
                await self._write(changed, rewritten, tools, release=release)
            except BaseException:
                self._changed |= changed
                self._rewritten |= rewritten
                self._tools = {**tools, **self._tools}
                raise
            self._flushed = revision

    async def _write(
        self,
        changed: set[int],
        rewritten: set[int],
        tools: dict[str, ToolState],
        *,
        release: bool,
    ) -> None:
        if not self._store.traits.versions:
            await self._store.save_task(self._task)
            for state in tools.values():
                await self._store.save_tool_state(state, self._task.task_id)
        elif self._task.version == 0:
            created = await self._store.create_task(self._task)
            if created.task_id != self._task.task_id:
                raise VersionConflict(created.task_id, 0, created.version)
            self._task.version = created.version
        else:
            await self._commit(changed, rewritten, list(tools.values()), release=release)

    async def _commit(
        self,
        changed: set[int],
        rewritten: set[int],
        tools: list[ToolState],
        *,
        release: bool,
    ) -> None:
        head = _head_of(self._task)
        is_pointer_only = head == self._head
        for attempt in range(COMMIT_TRIES):
            try:
                self._task.__dict__["version"] = await self._store.commit(
                    self._task,
                    rewritten,
                    results=changed - rewritten,
                    lease=self._lease,
                    tools=tools,
                    release=release,
                    is_pointer_only=is_pointer_only,
                )
                self._head = head
                return
            except VersionConflict:
                if self._lease is None:
                    raise
                if await self._has_landed(changed):
                    return
                is_pointer_only = False
            except StoreUnavailable:
                if attempt == COMMIT_TRIES - 1:
                    raise
                if await self._has_landed(changed):
                    return
            await asyncio.sleep(random.uniform(0, RETRY_S * 2**attempt))
        raise VersionConflict(self._task.task_id, self._task.version, None)

    async def _has_landed(self, changed: set[int]) -> bool:
        """Whether what was to be written is stored; if not, the task is brought up to date."""
        try:
            stored = await self._store.get_task(self._task.task_id)
        except StoreUnavailable:
            return False
        if stored is None:
            raise VersionConflict(self._task.task_id, self._task.version, None)
        mine = self._task
        has_steps = all(
            index < len(stored.steps) and stored.steps[index] == mine.steps[index]
            for index in changed
        )
        if has_steps and stored.status == mine.status and stored.version > mine.version:
            mine.version = stored.version
            return bool(changed) or (stored.is_over and stored.outcome == mine.outcome)
        self._take_over(stored, changed)
        return False

    def _take_over(self, stored: VersionedTaskState, changed: set[int]) -> None:
        """Make this task what is `stored`, plus what ran here and is not stored yet."""
        mine = self._task
        if stored.version == mine.version:
            return
        kept = {"steps", "iteration", "updated_at", "outcome", "result", "error", "error_code"}
        for name in VersionedTaskState.model_fields:
            if name not in kept | {"status", "fence"}:
                mine.__dict__[name] = getattr(stored, name)
        for index, step in enumerate(stored.steps):
            if index >= len(mine.steps):
                mine.steps.append(step)
            elif index not in changed:
                mine.steps[index] = step
        mine.total_steps = max(mine.total_steps, len(mine.steps))
        if stored.is_over and stored.status != mine.status:
            mine.__dict__["status"] = self.ended_by_other = stored.status
            for name in ("outcome", "result", "error", "error_code"):
                mine.__dict__[name] = getattr(stored, name)
        mine.current_step = mine.first_open_step()
