"""What happens to sessions: opened, loaded or rejected, paused, resumed, ended, swept."""

from __future__ import annotations

from typing import Final, Literal, TypedDict, final

from edgestate import clock
from edgestate.errors import SessionNotFound, VersionConflict
from edgestate.models import SessionState, VersionedTaskState
from edgestate.statuses import SessionStatus
from edgestate.store import StateStore
from edgestate.traits import Swept

SESSION_EXPIRED: Final = "SESSION_EXPIRED"
TRIES: Final = 5


@final
class LoadedSession(TypedDict):
    """A session that takes requests, and its tasks."""

    session: SessionState
    tasks: list[VersionedTaskState]


@final
class RejectedSession(TypedDict):
    """`error` is "SESSION_EXPIRED"; `detail` says why: missing, expired, idle or unreadable."""

    error: str
    detail: Literal["missing", "expired", "idle", "undated"]


async def open_session(session_id: str, user_id: str, store: StateStore) -> SessionState:
    """The session, made now if there was none."""
    session = await store.get_session(session_id)
    if session is None:
        session = SessionState(session_id=session_id, user_id=user_id)
        await store.save_session(session)
    return session


async def load_or_reject_session(
    session_id: str, store: StateStore
) -> LoadedSession | RejectedSession:
    """The session, active from now on, with its tasks; or why it takes no more requests.

    Shape: an active session is rejected when it was idle for more than `store.lifetimes.idle_s`;
    one that somebody paused waits until its TTL ends. A last activity that is no date, or lies
    in the future of a clock that jumped back, counts as over respectively as now.
    """
    session = await store.get_session(session_id)
    if session is None:
        return {"error": SESSION_EXPIRED, "detail": "missing"}
    if session.status == "expired":
        return {"error": SESSION_EXPIRED, "detail": "expired"}
    active_at = clock.parse(session.last_active_at)
    if active_at is None:
        return {"error": SESSION_EXPIRED, "detail": "undated"}
    if session.status == "active" and clock.now() - active_at > store.lifetimes.idle_s:
        return {"error": SESSION_EXPIRED, "detail": "idle"}
    touched = await store.touch_session(session_id)
    if touched is None:
        return {"error": SESSION_EXPIRED, "detail": "expired"}
    return {"session": touched, "tasks": await store.get_tasks_by_session(session_id)}


async def pause_session(session_id: str, store: StateStore) -> SessionState:
    """The session is paused: none of its tasks is resumed, and idling does not end it.

    Errors: SessionNotFound; InvalidTransition if it is over.
    """
    return await _move(session_id, "paused", store)


async def resume_session(session_id: str, store: StateStore) -> SessionState:
    """The paused session is active, from now on; errors as for `pause_session`."""
    return await _move(session_id, "active", store)


async def complete_session(session_id: str, store: StateStore) -> SessionState:
    """The session is completed; errors as for `pause_session`."""
    return await _move(session_id, "completed", store)


async def _move(session_id: str, status: SessionStatus, store: StateStore) -> SessionState:
    for attempt in range(TRIES):
        session = await store.get_session(session_id)
        if session is None:
            raise SessionNotFound(session_id)
        session.status = status
        session.last_active_at = max(session.last_active_at, clock.iso())
        try:
            await store.save_session(session)
        except VersionConflict:
            if attempt == TRIES - 1:
                raise
            continue
        return session
    raise AssertionError("unreachable")


async def sweep_sessions(store: StateStore, *, limit: int = 100) -> Swept:
    """At most `limit` idle sessions are marked `expired` and as many ended ones deleted.

    For a worker's `scheduled`; call it again while it reports `limit`.
    """
    return await store.sweep(limit=limit)
