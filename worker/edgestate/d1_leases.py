"""Sessions, leases and rate windows in D1: what is one statement each."""

from __future__ import annotations

import logging

from edgestate import clock, d1_rows, sql
from edgestate.bindings import D1Binding
from edgestate.d1_call import D1Calls, GuardRefused, Rows
from edgestate.errors import (
    CorruptRecord,
    InvalidTransition,
    LeaseLost,
    TaskNotFound,
    TaskQuarantined,
    VersionConflict,
)
from edgestate.keys import check_id
from edgestate.models import SessionState, VersionedTaskState
from edgestate.traits import Lease, Lifetimes, RateTaken, Swept

logger = logging.getLogger(__name__)


def expiry_ms(session: SessionState, lifetimes: Lifetimes) -> int:
    """When `session` is gone, in ms since the epoch; at once if its last activity is no date."""
    active_at = clock.parse(session.last_active_at)
    return 0 if active_at is None else int((active_at + lifetimes.ttl_s) * 1000)


class D1Leases:
    """The part of `D1StateStore` that needs no step rows."""

    def __init__(self, db: D1Binding, lifetimes: Lifetimes) -> None:
        self._d1 = D1Calls(db)
        self._lifetimes = lifetimes

    @property
    def lifetimes(self) -> Lifetimes:
        return self._lifetimes

    # --- sessions ---

    async def get_session(self, session_id: str) -> SessionState | None:
        check_id("session", session_id)
        rows = await self._d1.rows(sql.SELECT_SESSION, session_id, clock.now_ms())
        return d1_rows.session_from_row(rows[0]) if rows else None

    async def save_session(self, session: SessionState) -> None:
        values = (
            session.session_id,
            session.user_id,
            session.status,
            session.message_count,
            session.created_at,
            session.last_active_at,
            expiry_ms(session, self.lifetimes),
            session.version,
        )
        try:
            rows = await self._d1.rows(sql.UPSERT_SESSION, *values)
        except GuardRefused as error:
            raise InvalidTransition(
                "session", session.session_id, "its stored status", session.status
            ) from error
        if not rows:
            stored = await self._d1.rows(sql.SELECT_SESSION_VERSION, session.session_id)
            actual = stored[0]["version"] if stored else None
            raise VersionConflict(session.session_id, session.version, actual)
        session.version = rows[0]["version"]

    async def touch_session(self, session_id: str, *, messages: int = 0) -> SessionState | None:
        check_id("session", session_id)
        now = clock.now()
        expires_ms = int((now + self.lifetimes.ttl_s) * 1000)
        rows = await self._d1.rows(
            sql.TOUCH_SESSION, session_id, clock.iso(now), messages, expires_ms, int(now * 1000)
        )
        return d1_rows.session_from_row(rows[0]) if rows else None

    async def list_sessions_by_user(self, user_id: str) -> list[SessionState]:
        check_id("user", user_id)
        rows = await self._d1.rows(sql.SELECT_SESSIONS_OF_USER, user_id, clock.now_ms())
        return _readable_sessions(rows)

    async def delete_session(self, session_id: str) -> None:
        check_id("session", session_id)
        await self._d1.rows(sql.DELETE_SESSION, session_id)

    async def sweep(self, *, limit: int = 100) -> Swept:
        now = clock.now()
        now_ms, idle_since = int(now * 1000), clock.iso(now - self.lifetimes.idle_s)
        expired, deleted, _ = await self._d1.batch(
            [
                self._d1.bound(sql.EXPIRE_IDLE, now_ms, idle_since, limit),
                self._d1.bound(sql.DELETE_ENDED, now_ms, limit),
                self._d1.bound(sql.DELETE_ENDED_RATES, now_ms),
            ]
        )
        return Swept(tuple(r["id"] for r in expired), tuple(r["id"] for r in deleted))

    # --- leases ---

    async def acquire_lease(self, task_id: str, holder: str, *, ttl_s: float) -> Lease | None:
        expires_at, values = acquiring(task_id, holder, ttl_s)
        rows, stored = await self._d1.batch(
            [
                self._d1.bound(sql.ACQUIRE, *values),
                self._d1.bound(sql.SELECT_VERSION, task_id),
            ]
        )
        _refuse_absent(task_id, stored)
        return Lease(task_id, holder, rows[0]["fence"], expires_at, ttl_s) if rows else None

    async def claim_task(
        self, task_id: str, holder: str, *, ttl_s: float
    ) -> tuple[Lease, VersionedTaskState] | None:
        expires_at, values = acquiring(task_id, holder, ttl_s)
        rows, stored, steps = await self._d1.batch(
            [
                self._d1.bound(sql.CLAIM, *values),
                self._d1.bound(sql.SELECT_TASK, task_id),
                self._d1.bound(sql.SELECT_STEPS, task_id),
            ]
        )
        _refuse_absent(task_id, stored)
        if not rows:
            return None
        lease = Lease(task_id, holder, rows[0]["fence"], expires_at, ttl_s)
        return lease, await self._whole_task(stored[0], steps)

    async def _whole_task(self, row: object, steps: Rows) -> VersionedTaskState:
        raise NotImplementedError

    async def renew_lease(self, lease: Lease, *, ttl_s: float | None = None) -> Lease:
        ttl_s = positive_ttl(lease.ttl_s if ttl_s is None else ttl_s)
        now = clock.now()
        rows = await self._d1.rows(
            sql.RENEW,
            lease.task_id,
            lease.holder,
            lease.fence,
            int((now + ttl_s) * 1000),
            int(now * 1000),
        )
        if not rows:
            raise LeaseLost(lease.task_id, lease.holder)
        return Lease(lease.task_id, lease.holder, lease.fence, now + ttl_s, ttl_s)

    async def release_lease(self, task_id: str, holder: str) -> bool:
        check_id("task", task_id)
        return bool(await self._d1.rows(sql.RELEASE, task_id, holder))

    async def find_abandoned_tasks(self, *, max_claims: int, limit: int) -> list[str]:
        now_ms = clock.now_ms()
        _, rows = await self._d1.batch(
            [
                self._d1.bound(sql.SET_ASIDE_POISONED, now_ms, max_claims),
                self._d1.bound(sql.SELECT_ABANDONED, now_ms, limit),
            ]
        )
        return [row["id"] for row in rows]

    # --- rate windows ---

    async def take_rate(self, tool_name: str, *, limit: int, window_s: float) -> RateTaken:
        check_id("tool", tool_name)
        now_ms, window_ms = clock.now_ms(), int(window_s * 1000)
        taken, stored = await self._d1.batch(
            [
                self._d1.bound(sql.TAKE_RATE, tool_name, now_ms, window_ms, limit),
                self._d1.bound(sql.SELECT_RATE, tool_name),
            ]
        )
        row = stored[0]
        reset_ms = max(row["window_start"] + window_ms, row["blocked_until"])
        return RateTaken(bool(taken), reset_ms / 1000)

    async def block_tool(self, tool_name: str, *, until: float) -> None:
        check_id("tool", tool_name)
        await self._d1.rows(sql.BLOCK_TOOL, tool_name, clock.now_ms(), int(until * 1000))


LONGEST_S = 1e9
"""Some thirty years: what is longer has no end that a database could hold."""


def positive_ttl(ttl_s: float) -> float:
    """`ttl_s` if it is a time to live; ValueError otherwise: 0 would delete what it extends."""
    if not 0 < ttl_s <= LONGEST_S:
        raise ValueError(f"a lease lasts more than 0 s and at most {LONGEST_S:.0f} s, not {ttl_s}")
    return ttl_s


def acquiring(task_id: str, holder: str, ttl_s: float) -> tuple[float, tuple[str, str, int, int]]:
    """The end of a lease taken now, and ?1 to ?4 of `sql.ACQUIRE` and `sql.CLAIM`."""
    check_id("task", task_id)
    check_id("holder", holder)
    now = clock.now()
    expires_at = now + positive_ttl(ttl_s)
    return expires_at, (task_id, holder, int(expires_at * 1000), int(now * 1000))


def _refuse_absent(task_id: str, stored: Rows) -> None:
    if not stored:
        raise TaskNotFound(task_id)
    if stored[0]["quarantine_reason"] is not None:
        raise TaskQuarantined(task_id, stored[0]["quarantine_reason"])


def _readable_sessions(rows: Rows) -> list[SessionState]:
    sessions: list[SessionState] = []
    for row in rows:
        try:
            sessions.append(d1_rows.session_from_row(row))
        except CorruptRecord as error:
            logger.warning("session left out", extra={"session": row["id"], "why": error.reason})
    return sessions
