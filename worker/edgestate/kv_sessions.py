"""Sessions in KV, and the lifetimes of all that belongs to them."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from typing import Any, Final

from edgestate import clock, keys, records
from edgestate.bindings import KVBinding
from edgestate.kv_call import KVCalls
from edgestate.models import SessionState
from edgestate.statuses import refuse_impossible
from edgestate.traits import Lifetimes, Swept

SHORTEST_TTL_S: Final = 60
"""Source: reference/kv-d1-contract.md 1.8 (expirationTtl), read 2026-12-01."""
BULK_KEYS: Final = 100
"""Source: reference/kv-d1-contract.md 1.7 (bulk get), read 2026-12-01."""
TOUCH_EVERY_S: Final = 1.0
"""One write a second per key. Source: reference/kv-d1-contract.md 1.11, read 2026-12-01."""
NEVER_DENIED: Final = "KV grants none"


class KVSessions:
    """The part of `KVStateStore` that knows how long things live."""

    def __init__(self, kv: KVBinding, lifetimes: Lifetimes) -> None:
        self.kv = kv
        self._kv = KVCalls(kv)
        self._lifetimes = lifetimes

    @property
    def lifetimes(self) -> Lifetimes:
        return self._lifetimes

    async def get_session(self, session_id: str) -> SessionState | None:
        key = keys.session(session_id)
        text = await self._kv.get(key)
        if text is None:
            return None
        session = records.session_from_json(text, key)
        return session if self._ends_at(session) > clock.now() else None

    def _ends_at(self, session: SessionState) -> float:
        active_at = clock.parse(session.last_active_at)
        return 0 if active_at is None else active_at + self.lifetimes.ttl_s

    def _until(self, ends_at: float) -> dict[str, Any]:
        """The options of a put whose key ends then; no earlier than KV can express."""
        earliest = math.ceil(clock.now()) + SHORTEST_TTL_S
        return {"expiration": max(math.ceil(ends_at), earliest)}

    async def _lifetime(self, session_id: str | None) -> dict[str, Any]:
        """The options of a put whose key is to end with the session."""
        session = None if session_id is None else await self.get_session(session_id)
        if session is None:
            return self._until(clock.now() + self.lifetimes.ttl_s)
        return self._until(self._ends_at(session))

    async def save_session(self, session: SessionState) -> None:
        stored = await self.get_session(session.session_id)
        if stored is not None:
            refuse_impossible("session", session.session_id, stored.status, session.status)
        session.version = (stored.version if stored else 0) + 1
        await self._put(session)
        if stored is not None and stored.last_active_at != session.last_active_at:
            await self._prolong_members(session)

    async def _put(self, session: SessionState) -> None:
        lifetime = self._until(self._ends_at(session))
        await self._kv.put(keys.session(session.session_id), records.to_json(session), **lifetime)
        member = keys.user_session(session.user_id, session.session_id)
        await self._kv.put(member, "", **lifetime)

    async def _prolong_members(self, session: SessionState) -> None:
        """What would end over half a TTL before its session is put again with the session's end."""
        ends_at = self._ends_at(session)
        prefix = keys.session_tasks(session.session_id)
        async for name, expiration in self._listed(f"{prefix}:"):
            if expiration is None or expiration > ends_at - self.lifetimes.ttl_s / 2:
                continue
            for key in await self._owned(keys.last_id(name), name):
                value = await self._kv.get(key)
                if value is not None:
                    await self._kv.put(key, value, **self._until(ends_at))

    async def _owned(self, task_id: str, member: str) -> list[str]:
        tools = [name async for name, _ in self._listed(keys.task_tools(task_id))]
        return [keys.task(task_id), *tools, keys.quarantine(task_id), member]

    async def touch_session(self, session_id: str, *, messages: int = 0) -> SessionState | None:
        session = await self.get_session(session_id)
        if session is None or session.status == "expired":
            return None
        active_at = clock.parse(session.last_active_at) or 0.0
        if messages or clock.now() - active_at >= TOUCH_EVERY_S:
            session.last_active_at = max(session.last_active_at, clock.iso())
            session.message_count += messages
            await self.save_session(session)
        return session

    async def list_sessions_by_user(self, user_id: str) -> list[SessionState]:
        ids = [sid async for sid in self._members(keys.user_sessions(user_id))]
        found = [session for sid in ids if (session := await self.get_session(sid)) is not None]
        return sorted(found, key=lambda session: (session.created_at, session.session_id))

    async def delete_session(self, session_id: str) -> None:
        session = await self.get_session(session_id)
        async for name, _ in self._listed(f"{keys.session_tasks(session_id)}:"):
            task_id = keys.last_id(name)
            for key in [*await self._owned(task_id, name), keys.lock(task_id)]:
                await self._kv.delete(key)
        if session is not None:
            await self._kv.delete(keys.user_session(session.user_id, session_id))
        await self._kv.delete(keys.session(session_id))

    async def sweep(self, *, limit: int = 100) -> Swept:
        """Nothing to do: every key ends by itself, and KV lists no sessions by their activity."""
        return Swept()

    # --- listing ---

    async def _listed(self, prefix: str) -> AsyncIterator[tuple[str, float | None]]:
        """Every key with `prefix` and its expiration; a page may be empty and not the last."""
        cursor: str | None = None
        while True:
            more = {} if cursor is None else {"cursor": cursor}
            page = await self._kv.list(prefix=prefix, **more)
            for key in page["keys"]:
                yield key["name"], key.get("expiration")
            if page["list_complete"]:
                return
            cursor = page["cursor"]

    async def _members(self, prefix: str) -> AsyncIterator[str]:
        async for name, _ in self._listed(f"{prefix}:"):
            yield keys.last_id(name)

    async def _many(self, names: list[str]) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for start in range(0, len(names), BULK_KEYS):
            found.update(await self._kv.get(names[start : start + BULK_KEYS]))
        return found
