"""Leases, quarantine and rate windows in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from edgestate import clock
from edgestate.d1_leases import positive_ttl
from edgestate.errors import LeaseLost, TaskNotFound, TaskQuarantined
from edgestate.keys import check_id
from edgestate.models import VersionedTaskState
from edgestate.records import copied
from edgestate.traits import Lease, RateTaken


@dataclass(slots=True)
class Held:
    """One task as this store holds it."""

    task: VersionedTaskState
    holder: str | None = None
    lease_expires_ms: int = 0
    claims: int = 0
    quarantine: str | None = None


@dataclass(slots=True)
class _Window:
    start_ms: int
    used: int
    blocked_until_ms: int = 0


class MemoryLeases:
    """The part of `MemoryStateStore` that needs no sessions."""

    def __init__(self) -> None:
        self._tasks: dict[str, Held] = {}
        self._windows: dict[str, _Window] = {}

    def _is_open(self, session_id: str) -> bool:
        raise NotImplementedError

    def _readable(self, tasks: Iterable[Held]) -> list[VersionedTaskState]:
        whole = [held.task for held in tasks if held.quarantine is None]
        ordered = sorted(whole, key=lambda task: (task.created_at, task.task_id))
        return [copied(task) for task in ordered]

    async def acquire_lease(self, task_id: str, holder: str, *, ttl_s: float) -> Lease | None:
        held = self._leasable(task_id)
        check_id("holder", holder)
        now = clock.now()
        expires_at = now + positive_ttl(ttl_s)
        if held.lease_expires_ms > int(now * 1000) and held.holder != holder:
            return None
        held.task.fence += 1
        held.holder, held.lease_expires_ms = holder, int(expires_at * 1000)
        return Lease(task_id, holder, held.task.fence, expires_at, ttl_s)

    def _leasable(self, task_id: str) -> Held:
        held = self._tasks.get(check_id("task", task_id))
        if held is None:
            raise TaskNotFound(task_id)
        if held.quarantine is not None:
            raise TaskQuarantined(task_id, held.quarantine)
        return held

    async def claim_task(
        self, task_id: str, holder: str, *, ttl_s: float
    ) -> tuple[Lease, VersionedTaskState] | None:
        lease = await self.acquire_lease(task_id, holder, ttl_s=ttl_s)
        if lease is None:
            return None
        held = self._tasks[task_id]
        held.claims += 1
        if held.task.status == "planned":
            held.task.status = "running"
            held.task.version += 1
        return lease, copied(held.task)

    async def renew_lease(self, lease: Lease, *, ttl_s: float | None = None) -> Lease:
        ttl_s = positive_ttl(lease.ttl_s if ttl_s is None else ttl_s)
        now = clock.now()
        held = self._tasks.get(lease.task_id)
        if (
            held is None
            or (held.holder, held.task.fence) != (lease.holder, lease.fence)
            or held.lease_expires_ms <= int(now * 1000)
        ):
            raise LeaseLost(lease.task_id, lease.holder)
        held.lease_expires_ms = int((now + ttl_s) * 1000)
        return Lease(lease.task_id, lease.holder, lease.fence, now + ttl_s, ttl_s)

    async def release_lease(self, task_id: str, holder: str) -> bool:
        held = self._tasks.get(check_id("task", task_id))
        if held is None or held.holder != holder:
            return False
        held.lease_expires_ms, held.holder = 0, None
        return True

    async def find_abandoned_tasks(self, *, max_claims: int, limit: int) -> list[str]:
        now_ms = clock.now_ms()
        free = [
            held
            for held in self._tasks.values()
            if held.task.status in ("planned", "running")
            and held.lease_expires_ms <= now_ms
            and held.quarantine is None
        ]
        for held in free:
            if held.claims >= max_claims:
                held.quarantine = f"it was claimed {held.claims} times without any progress"
        open_ones = [
            h.task for h in free if h.quarantine is None and self._is_open(h.task.session_id)
        ]
        ordered = sorted(open_ones, key=lambda task: (task.updated_at, task.task_id))
        return [task.task_id for task in ordered[:limit]]

    async def quarantine_task(self, task_id: str, reason: str) -> None:
        held = self._tasks.get(check_id("task", task_id))
        if held is not None and held.quarantine is None:
            held.quarantine = reason

    async def list_quarantined(self, session_id: str | None = None) -> dict[str, str]:
        aside = {
            task_id: held.quarantine
            for task_id, held in sorted(self._tasks.items())
            if session_id in (None, held.task.session_id)
        }
        return {task_id: reason for task_id, reason in aside.items() if reason is not None}

    async def take_rate(self, tool_name: str, *, limit: int, window_s: float) -> RateTaken:
        now_ms, window_ms = clock.now_ms(), int(window_s * 1000)
        window = self._windows.setdefault(check_id("tool", tool_name), _Window(now_ms, 0))
        if window.start_ms + window_ms <= now_ms or window.start_ms > now_ms:
            window.start_ms, window.used = now_ms, 0
        is_allowed = window.blocked_until_ms <= now_ms and window.used < limit
        window.used += is_allowed
        reset_ms = max(window.start_ms + window_ms, window.blocked_until_ms)
        return RateTaken(is_allowed, reset_ms / 1000)

    async def block_tool(self, tool_name: str, *, until: float) -> None:
        window = self._windows.setdefault(check_id("tool", tool_name), _Window(clock.now_ms(), 0))
        window.blocked_until_ms = max(window.blocked_until_ms, int(until * 1000))
