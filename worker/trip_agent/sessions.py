"""Sessions: the row in D1 is the truth; a copy in KV, which ends with it, saves reading it."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

from edgestate import SessionState, StateStore, clock, keys, load_or_reject_session, open_session
from trip_agent.refusal import Refusal, not_found
from trip_agent.view import session_view

FRESH_S = 60.0
"""A copy is as old as KV's own reads may be, and written no more often than this."""

SESSION_ID = re.compile(r"[0-9a-f]{32}")
WAS_THERE = "SELECT 1 AS found FROM agent_sessions WHERE id = ?"


class Sessions:
    """The sessions of one store, with copies in a KV namespace."""

    def __init__(self, store: StateStore, kv: Any, db: Any) -> None:
        self._store = store
        self._kv = kv
        self._db = db

    async def create(self, user_id: str) -> dict[str, Any]:
        """A new session of `user_id`, stored."""
        session = await open_session(uuid.uuid4().hex, user_id, self._store)
        await self._copy(session)
        return session_view(session)

    async def get(self, session_id: str) -> dict[str, Any]:
        """The session as it is, or was less than a minute ago.

        Errors: Refusal 404 if there is none, 410 if its time is over.
        """
        _check(session_id)
        copy = await self._copied(session_id)
        if copy is not None:
            return copy
        session = await self._store.get_session(session_id)
        if session is None:
            raise await self._gone(session_id)
        return session_view(session)

    async def enter(self, session_id: str) -> None:
        """The session is in use: it lives for 24 hours from now.

        Errors: Refusal 404 if there is none, 410 if it is over or was idle for over an hour.
        """
        _check(session_id)
        loaded = await load_or_reject_session(session_id, self._store)
        if "error" in loaded:
            if loaded["detail"] == "missing":
                raise await self._gone(session_id)
            raise Refusal(410, loaded["error"], f"The session is over ({loaded['detail']}).")
        if await self._copied(session_id) is None:
            await self._copy(loaded["session"])

    async def count_message(self, session_id: str) -> None:
        """The user has said one thing more."""
        await self._store.touch_session(session_id, messages=1)

    async def _copied(self, session_id: str) -> dict[str, Any] | None:
        text = await self._kv.get(keys.session(session_id))
        copy: dict[str, Any] | None = None if text is None else json.loads(text)
        if copy is None:
            return None
        active_at = clock.parse(copy["lastActiveAt"])
        return copy if active_at is not None and clock.now() - active_at < FRESH_S else None

    async def _copy(self, session: SessionState) -> None:
        text = json.dumps(session_view(session), ensure_ascii=False)
        ttl_s = int(self._store.lifetimes.ttl_s)
        await self._kv.put(keys.session(session.session_id), text, expirationTtl=ttl_s)

    async def _gone(self, session_id: str) -> Refusal:
        """404, or 410 for as long as the row of the ended session has not been swept."""
        if await self._db.prepare(WAS_THERE).bind(session_id).first() is None:
            return _unknown()
        return Refusal(410, "SESSION_EXPIRED", "The session ended after 24 hours without use.")


def _check(session_id: str) -> None:
    if not SESSION_ID.fullmatch(session_id):
        raise _unknown()


def _unknown() -> Refusal:
    return not_found("session_unknown", "There is no session with this id.")
