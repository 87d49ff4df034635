"""State in this process's memory: for one request, and for development and tests."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from edgestate import clock
from edgestate.d1_leases import expiry_ms
from edgestate.errors import (
    FenceLost,
    SessionNotFound,
    StoreRejected,
    TaskNotFound,
    TaskQuarantined,
    VersionConflict,
)
from edgestate.keys import check_id
from edgestate.memory_leases import Held, MemoryLeases
from edgestate.models import SessionState, TaskState, ToolState, VersionedTaskState
from edgestate.records import copied, requested, versioned
from edgestate.statuses import refuse_impossible
from edgestate.traits import Lease, Lifetimes, Swept, Traits

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Session:
    state: SessionState
    expires_ms: int


class MemoryStateStore(MemoryLeases):
    """A `StateStore` whose content ends with this object."""

    def __init__(self, *, lifetimes: Lifetimes | None = None) -> None:
        super().__init__()
        self._lifetimes = lifetimes or Lifetimes()
        self._sessions: dict[str, _Session] = {}
        self._tools: dict[tuple[str, str], ToolState] = {}

    @property
    def traits(self) -> Traits:
        return Traits(
            name="MemoryStateStore",
            versions=True,
            leases=True,
            queries=True,
            counters=True,
            survives=False,
            value_limit_bytes=2**31,
        )

    @property
    def lifetimes(self) -> Lifetimes:
        return self._lifetimes

    # --- sessions ---

    async def get_session(self, session_id: str) -> SessionState | None:
        held = self._living(check_id("session", session_id))
        return copied(held.state) if held else None

    def _living(self, session_id: str) -> _Session | None:
        held = self._sessions.get(session_id)
        return held if held and held.expires_ms > clock.now_ms() else None

    async def save_session(self, session: SessionState) -> None:
        stored = self._sessions.get(session.session_id)
        if stored:
            refuse_impossible("session", session.session_id, stored.state.status, session.status)
        actual = stored.state.version if stored else None
        if session.version not in (0, actual):
            raise VersionConflict(session.session_id, session.version, actual)
        session.version = (actual or 0) + 1
        copy = copied(session)
        self._sessions[session.session_id] = _Session(copy, expiry_ms(session, self.lifetimes))

    async def touch_session(self, session_id: str, *, messages: int = 0) -> SessionState | None:
        held = self._living(check_id("session", session_id))
        if held is None or held.state.status == "expired":
            return None
        held.state.last_active_at = max(held.state.last_active_at, clock.iso())
        held.state.message_count += messages
        held.state.version += 1
        held.expires_ms = max(held.expires_ms, expiry_ms(held.state, self.lifetimes))
        return copied(held.state)

    async def list_sessions_by_user(self, user_id: str) -> list[SessionState]:
        check_id("user", user_id)
        mine = [s for s in map(self._living, [*self._sessions]) if s and s.state.user_id == user_id]
        ordered = sorted(mine, key=lambda s: (s.state.created_at, s.state.session_id))
        return [copied(held.state) for held in ordered]

    async def delete_session(self, session_id: str) -> None:
        self._sessions.pop(check_id("session", session_id), None)
        gone = [t for t, held in self._tasks.items() if held.task.session_id == session_id]
        for task_id in gone:
            del self._tasks[task_id]
        for key in [key for key in self._tools if key[0] in gone]:
            del self._tools[key]

    async def sweep(self, *, limit: int = 100) -> Swept:
        now_ms = clock.now_ms()
        idle_since = clock.now() - self.lifetimes.idle_s
        busy = {h.task.session_id for h in self._tasks.values() if h.lease_expires_ms > now_ms}
        expired: list[str] = []
        deleted: list[str] = []
        for session_id, held in [*self._sessions.items()]:
            active_at = clock.parse(held.state.last_active_at)
            if session_id in busy or len(expired) + len(deleted) >= limit:
                continue
            if held.expires_ms <= now_ms:
                await self.delete_session(session_id)
                deleted.append(session_id)
            elif held.state.status == "active" and (active_at is None or active_at < idle_since):
                held.state.status = "expired"
                held.state.version += 1
                expired.append(session_id)
        return Swept(tuple(expired), tuple(deleted))

    def _is_open(self, session_id: str) -> bool:
        held = self._living(session_id)
        return held is not None and held.state.status == "active"

    # --- tasks ---

    async def get_task(self, task_id: str) -> VersionedTaskState | None:
        held = self._tasks.get(check_id("task", task_id))
        return self._whole(held) if held else None

    def _whole(self, held: Held) -> VersionedTaskState:
        if held.quarantine is not None:
            raise TaskQuarantined(held.task.task_id, held.quarantine)
        return copied(held.task)

    async def create_task(self, task: TaskState) -> VersionedTaskState:
        session = self._living(task.session_id)
        if session is None or session.state.status == "expired":
            raise SessionNotFound(task.session_id)
        for held in self._tasks.values():
            other = held.task
            if task.request_id is not None and (other.session_id, other.request_id) == (
                task.session_id,
                task.request_id,
            ):
                return self._whole(held)
        if task.task_id in self._tasks:
            raise StoreRejected(f"task {task.task_id} is there already.")
        held = self._tasks[task.task_id] = Held(versioned(task, version=1, fence=0))
        return self._whole(held)

    async def start_task(
        self, task: TaskState, holder: str, *, ttl_s: float
    ) -> tuple[Lease | None, VersionedTaskState]:
        requested(task)
        stored = await self.create_task(task)
        if stored.status not in ("planned", "running"):
            return None, stored
        claimed = await self.claim_task(stored.task_id, holder, ttl_s=ttl_s)
        return claimed or (None, stored)

    async def save_task(self, task: TaskState) -> None:
        if isinstance(task, VersionedTaskState) and task.version > 0:
            task.version = self._set(task, range(len(task.steps)), fence=task.fence).task.version
            return
        held = self._tasks.get(task.task_id)
        if held is None:
            await self.create_task(task)
        elif isinstance(task, VersionedTaskState):
            raise VersionConflict(task.task_id, 0, held.task.version)
        elif held.lease_expires_ms > clock.now_ms():
            raise FenceLost(task.task_id, 0, held.task.fence)
        else:
            stored = versioned(task, version=held.task.version, fence=held.task.fence)
            self._set(stored, range(len(task.steps)), fence=None)
        if isinstance(task, VersionedTaskState):
            task.version = 1

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
        held = self._set(task, {*steps, *results}, fence=None if lease is None else lease.fence)
        for state in tools:
            self._tools[(state.task_id, state.tool_name)] = copied(state)
        if lease is not None:
            held.claims = 0
        if release:
            held.lease_expires_ms, held.holder = 0, None
        return held.task.version

    def _set(self, task: VersionedTaskState, steps: Collection[int], *, fence: int | None) -> Held:
        held = self._tasks.get(task.task_id)
        if held is None:
            raise VersionConflict(task.task_id, task.version, None)
        stored = held.task
        if held.quarantine is not None:
            raise TaskQuarantined(task.task_id, held.quarantine)
        if fence is not None and fence != stored.fence:
            raise FenceLost(task.task_id, fence, stored.fence)
        if task.version != stored.version:
            raise VersionConflict(task.task_id, task.version, stored.version)
        refuse_impossible("task", task.task_id, stored.status, task.status)
        new = copied(task)
        kept = {s.step_index: s for s in stored.steps}
        for index in range(len(new.steps)):
            was = kept.get(index)
            is_final = was is not None and was.status == "success"
            if was is not None and (index not in steps or is_final):
                new.steps[index] = was
        new.version, new.fence = stored.version + 1, stored.fence
        new.updated_at = max(stored.updated_at, new.updated_at)
        held.task = new
        return held

    async def get_tasks_by_session(self, session_id: str) -> list[VersionedTaskState]:
        check_id("session", session_id)
        return self._readable(h for h in self._tasks.values() if h.task.session_id == session_id)

    async def get_failed_tasks(self, session_id: str | None = None) -> list[VersionedTaskState]:
        failed = [h for h in self._tasks.values() if h.task.status == "failed"]
        return self._readable(h for h in failed if session_id in (None, h.task.session_id))

    async def get_tool_state(self, task_id: str, tool_name: str) -> ToolState | None:
        state = self._tools.get((check_id("task", task_id), check_id("tool", tool_name)))
        return copied(state) if state else None

    async def save_tool_state(self, state: ToolState, task_id: str) -> None:
        if state.task_id != task_id:
            raise StoreRejected(f"the tool state is of task {state.task_id}, not {task_id}.")
        if task_id not in self._tasks:
            raise TaskNotFound(task_id)
        self._tools[(task_id, state.tool_name)] = copied(state)
