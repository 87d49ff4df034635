"""State in KV: one value per record, one writer per task.

KV has no compare-and-set, so versions, leases and shared counters are denied here, not imitated.
Source: reference/kv-d1-contract.md 1.1 and 1.11, read 2026-12-01.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import Any, Final, Never

from edgestate import clock, keys, records
from edgestate.bindings import KVBinding
from edgestate.errors import (
    CorruptRecord,
    RecordTooLarge,
    StoreRejected,
    TaskQuarantined,
    Unsupported,
)
from edgestate.kv_sessions import NEVER_DENIED, KVSessions
from edgestate.models import TaskState, ToolState, VersionedTaskState
from edgestate.statuses import refuse_impossible
from edgestate.traits import Lease, Lifetimes, RateTaken, Traits

logger = logging.getLogger(__name__)

VALUE_LIMIT_BYTES: Final = 25 * 1024 * 1024
"""Source: reference/kv-d1-contract.md 1.8 (value size), read 2026-12-01."""


class KVStateStore(KVSessions):
    """A `StateStore` on `env.KV` for one writer per task.

    Shape: `kv` is the binding.
    """

    def __init__(self, kv: KVBinding, *, lifetimes: Lifetimes | None = None) -> None:
        super().__init__(kv, lifetimes or Lifetimes())

    @property
    def traits(self) -> Traits:
        return Traits(
            name="KVStateStore",
            versions=False,
            leases=False,
            queries=False,
            counters=False,
            survives=True,
            value_limit_bytes=VALUE_LIMIT_BYTES,
        )

    # --- tasks ---

    async def get_task(self, task_id: str) -> VersionedTaskState | None:
        reason = await self._kv.get(keys.quarantine(task_id))
        if reason is not None:
            raise TaskQuarantined(task_id, reason)
        text = await self._kv.get(keys.task(task_id))
        return None if text is None else await self._whole(task_id, text)

    async def _whole(self, task_id: str, text: str) -> VersionedTaskState:
        try:
            task = records.task_from_json(text, keys.task(task_id))
            if task.task_id != task_id:
                raise CorruptRecord(keys.task(task_id), f"it holds task {task.task_id}")
        except CorruptRecord as error:
            await self.quarantine_task(task_id, error.reason)
            raise TaskQuarantined(task_id, error.reason) from error
        return task

    async def create_task(self, task: TaskState) -> VersionedTaskState:
        if task.request_id is not None:
            for other in await self.get_tasks_by_session(task.session_id):
                if other.request_id == task.request_id:
                    return other
        created = records.versioned(task, version=0, fence=0)
        await self.save_task(created)
        return created

    async def save_task(self, task: TaskState) -> None:
        stored = await self.get_task(task.task_id)
        new = records.versioned(task, version=(stored.version if stored else 0) + 1, fence=0)
        if stored is not None:
            refuse_impossible("task", task.task_id, stored.status, task.status)
            _keep_what_ended(new, stored)
        text = records.to_json(new)
        if len(text.encode()) > VALUE_LIMIT_BYTES:
            raise RecordTooLarge(f"task {task.task_id}", len(text.encode()), VALUE_LIMIT_BYTES)
        lifetime = await self._lifetime(task.session_id)
        await self._kv.put(keys.task(task.task_id), text, **lifetime)
        # Last, so that a member always has its record; a crash in between is mended by any save.
        await self._kv.put(keys.session_task(task.session_id, task.task_id), "", **lifetime)
        if isinstance(task, VersionedTaskState):
            task.version = new.version

    async def get_tasks_by_session(self, session_id: str) -> list[VersionedTaskState]:
        ids = [task_id async for task_id in self._members(keys.session_tasks(session_id))]
        texts = await self._many([keys.task(task_id) for task_id in ids])
        aside = await self._many([keys.quarantine(task_id) for task_id in ids])
        tasks: list[VersionedTaskState] = []
        for task_id in ids:
            text = texts.get(keys.task(task_id))
            if text is None or aside.get(keys.quarantine(task_id)) is not None:
                continue
            try:
                tasks.append(await self._whole(task_id, text))
            except TaskQuarantined as error:
                logger.warning("task left out", extra={"task": task_id, "why": error.reason})
        return sorted(tasks, key=lambda task: (task.created_at, task.task_id))

    async def get_failed_tasks(self, session_id: str | None = None) -> list[VersionedTaskState]:
        if session_id is None:
            self._deny("search over all sessions", "KV finds records by their key only")
        return [t for t in await self.get_tasks_by_session(session_id) if t.status == "failed"]

    async def quarantine_task(self, task_id: str, reason: str) -> None:
        logger.error("task quarantined", extra={"task": task_id, "why": reason})
        if await self._kv.get(keys.quarantine(task_id)) is None:
            ttl_s = max(60, int(self.lifetimes.ttl_s))
            await self._kv.put(keys.quarantine(task_id), reason, expirationTtl=ttl_s)

    async def list_quarantined(self, session_id: str | None = None) -> dict[str, str]:
        prefix = "agent:quarantine" if session_id is None else keys.session_tasks(session_id)
        ids = [task_id async for task_id in self._members(prefix)]
        found = await self._many([keys.quarantine(task_id) for task_id in ids])
        named = {task_id: found.get(keys.quarantine(task_id)) for task_id in ids}
        return {task_id: reason for task_id, reason in named.items() if reason is not None}

    # --- tools ---

    async def get_tool_state(self, task_id: str, tool_name: str) -> ToolState | None:
        key = keys.tool_state(task_id, tool_name)
        text = await self._kv.get(key)
        return None if text is None else records.tool_from_json(text, key)

    async def save_tool_state(self, state: ToolState, task_id: str) -> None:
        if state.task_id != task_id:
            raise StoreRejected(f"the tool state is of task {state.task_id}, not {task_id}.")
        text = await self._kv.get(keys.task(task_id))
        session_id = None if text is None else (await self._whole(task_id, text)).session_id
        lifetime = await self._lifetime(session_id)
        key = keys.tool_state(task_id, state.tool_name)
        await self._kv.put(key, records.to_json(state), **lifetime)

    # --- what KV cannot promise ---

    def _deny(self, capability: str, why: str) -> Never:
        raise Unsupported("KVStateStore", capability, f"{why}.  Use a D1StateStore.")

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
        self._deny("versions", "KV has no compare-and-set, so a version could be checked too late")

    async def acquire_lease(self, task_id: str, holder: str, *, ttl_s: float) -> Lease | None:
        self._deny("leases", "KV has no put-if-absent, so two holders could both believe in one")

    async def claim_task(
        self, task_id: str, holder: str, *, ttl_s: float
    ) -> tuple[Lease, VersionedTaskState] | None:
        self._deny("leases", "KV has no put-if-absent, so two holders could both believe in one")

    async def start_task(
        self, task: TaskState, holder: str, *, ttl_s: float
    ) -> tuple[Lease | None, VersionedTaskState]:
        self._deny("leases", "KV has no put-if-absent, so two holders could both believe in one")

    async def renew_lease(self, lease: Lease, *, ttl_s: float | None = None) -> Lease:
        self._deny("leases", NEVER_DENIED)

    async def release_lease(self, task_id: str, holder: str) -> bool:
        self._deny("leases", NEVER_DENIED)

    async def find_abandoned_tasks(self, *, max_claims: int, limit: int) -> list[str]:
        self._deny("leases", NEVER_DENIED)

    async def take_rate(self, tool_name: str, *, limit: int, window_s: float) -> RateTaken:
        self._deny("counters", "KV has no increment, and takes one write a second per key")

    async def block_tool(self, tool_name: str, *, until: float) -> None:
        self._deny("counters", "KV has no increment, and takes one write a second per key")


def _keep_what_ended(new: VersionedTaskState, stored: VersionedTaskState) -> None:
    kept: dict[int, Any] = {s.step_index: s for s in stored.steps if s.status == "success"}
    for index, step in enumerate(new.steps):
        new.steps[index] = kept.get(step.step_index, step)
    new.updated_at = max(new.updated_at, stored.updated_at, clock.iso(0))
