"""Sessions: a KV key that lives for 24 hours says whether one is alive, D1 has its row."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

from trip_agent.models import Session
from trip_agent.moment import iso_now, seconds_between
from trip_agent.refusal import Refusal, not_found

SESSION_TTL_S = 24 * 60 * 60
TOUCH_AFTER_S = 60
"""A session used again within this time is not written again: KV takes one write a second per key.

Source: reference/kv-d1-contract.md section 1, read 2026-12-01.
"""

SESSION_ID = re.compile(r"[0-9a-f]{32}")

INSERT = """
INSERT INTO agent_sessions (id, user_id, created_at, last_active_at) VALUES (?1, ?2, ?3, ?3)
RETURNING *
"""
SELECT = "SELECT * FROM agent_sessions WHERE id = ?"
TOUCH = "UPDATE agent_sessions SET last_active_at = ?2 WHERE id = ?1 RETURNING *"


def session_key(session_id: str) -> str:
    """The name of a session's key in KV."""
    return f"agent:session:{session_id}"


class Sessions:
    """The sessions of one database and one namespace."""

    def __init__(self, kv: Any, db: Any) -> None:
        self._kv = kv
        self._db = db

    async def create(self, user_id: str) -> Session:
        """A new session of `user_id`, stored.

        The row comes first: tasks refer to it. A worker that dies in between leaves a row whose
        id nobody was told.
        """
        statement = self._db.prepare(INSERT).bind(uuid.uuid4().hex, user_id, iso_now())
        session = Session.from_row(await statement.first())
        await self._store(session)
        return session

    async def get(self, session_id: str) -> Session:
        """The live session `session_id`.

        Errors: Refusal 404 if there never was one, 410 if its 24 hours are over.
        """
        if not SESSION_ID.fullmatch(session_id):
            raise not_found("session_unknown", "There is no session with this id.")
        alive = await self._kv.get(session_key(session_id))
        row = await self._db.prepare(SELECT).bind(session_id).first()
        if row is None:
            raise not_found("session_unknown", "There is no session with this id.")
        if alive is None:
            raise Refusal(410, "SESSION_EXPIRED", "The session ended after 24 hours without use.")
        return Session.from_row(row)

    async def touch(self, session: Session) -> None:
        """Keep `session` for 24 hours from now, to within a minute."""
        now = iso_now()
        if seconds_between(session.last_active_at, now) < TOUCH_AFTER_S:
            return
        row = await self._db.prepare(TOUCH).bind(session.id, now).first()
        await self._store(Session.from_row(row))

    async def _store(self, session: Session) -> None:
        await self._kv.put(
            session_key(session.id),
            json.dumps(session.to_json()),
            expirationTtl=SESSION_TTL_S,
        )
