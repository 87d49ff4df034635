"""Eventual consistency: what a location has read stays what it reads, for a while.

Source: developers.cloudflare.com/kv/concepts/how-kv-works and kv/api/read-key-value-pairs
(cacheTtl), read 2026-12-01.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from localedge import clock
from localedge.kv.redis_store import (
    RefusedError,
    Reply,
    Server,
    StrongStore,
    refused,
    visible,
)
from localedge.kv.scripts import KEEP_PAGE, LISTED_AT, READ_AT
from localedge.kv.store import (
    Listed,
    Page,
    Reading,
    TooLargeError,
    UnavailableError,
    WriteRate,
)

_DAY_MS: Final = 86_400_000
# Differs: how long a list lags on the platform is not documented; reads take a minute by default.
_LIST_TTL_MS: Final = 60_000


class LocationStore(StrongStore):
    """A Store that reads through the cache of one location.

    What was read, an absence too, is read again for the reader's `cache_ttl_s`, or for less if a
    later reader asks for less, and a page that was listed for a minute; an entry's own expiration
    comes first. The location's own writes
    are visible to it at once. The cache lies beside the namespace in Redis: all isolates of a
    location share it, and it outlives them.
    """

    def __init__(
        self,
        server: Server,
        namespace_id: str,
        *,
        location: str,
        write_rate: WriteRate = "off",
    ) -> None:
        super().__init__(server, namespace_id, write_rate=write_rate)
        place = location.encode().hex().encode()
        self._cache = self._prefix + b"c:" + place + b":"
        self._pages = self._prefix + b"l:" + place

    async def get(self, key: bytes, *, cache_ttl_s: int) -> Reading:
        kept_ms = cache_ttl_s * 1000 + _DAY_MS
        try:
            reply = await self._server.run(
                READ_AT,
                [self._hashes + key, self._cache + key],
                [clock.now_ms(), cache_ttl_s, kept_ms],
            )
        except RefusedError as exc:
            raise refused(exc, key) from exc
        return _reading(key, reply)

    async def get_many(
        self, keys: Sequence[bytes], *, cache_ttl_s: int, limit_bytes: int
    ) -> list[Reading]:
        readings = await asyncio.gather(*(self.get(key, cache_ttl_s=cache_ttl_s) for key in keys))
        total = sum(len(reading.entry.value) for reading in readings if reading.entry)
        if total > limit_bytes:
            raise TooLargeError(f"{total} bytes")
        return readings

    def _forgotten_by_write(self, key: bytes) -> Sequence[bytes]:
        return (self._cache + key, self._pages)

    async def page(self, *, prefix: bytes, after: bytes, limit: int) -> Page:
        now_ms = clock.now_ms()
        name = b"%d:%d:%b%b" % (limit, len(prefix), prefix, after)
        try:
            reply = await self._server.run(
                LISTED_AT, [self._pages], [name, secrets.token_bytes(8), _LIST_TTL_MS + _DAY_MS]
            )
        except RefusedError as exc:
            raise refused(exc, name) from exc
        match reply:
            case [bytes(content), bytes()] if (kept := _kept_page(content, now_ms)) is not None:
                return kept
            case [_, bytes(generation)]:
                page = await super().page(prefix=prefix, after=after, limit=limit)
                content = _page_content(page, now_ms)
                # A write of this location in between has changed the generation: it must be seen.
                await self._server.run(KEEP_PAGE, [self._pages], [name, content, generation])
                return replace(page, cache_status="MISS")
        raise UnavailableError(f"unexpected answer of the page script: {reply!r}")


def _reading(key: bytes, reply: Reply) -> Reading:
    match reply:
        case [bytes(status), *fields]:
            return Reading(visible(key, fields), status.decode())
    raise UnavailableError(f"unexpected answer of the read script: {reply!r}")


def _page_content(page: Page, now_ms: int) -> bytes:
    keys = [
        (key.name.decode("latin-1"), (key.metadata or b"").decode("latin-1"), key.expiration)
        for key in page.keys
    ]
    return json.dumps([now_ms, page.complete, page.last.decode("latin-1"), keys]).encode()


def _kept_page(content: bytes, now_ms: int) -> Page | None:
    """The page, without what has expired since; None when it is too old to be shown."""
    listed_ms, complete, last, keys = json.loads(content)
    if not 0 <= now_ms - listed_ms < _LIST_TTL_MS:
        return None
    shown = tuple(
        Listed(name.encode("latin-1"), metadata.encode("latin-1") or None, expiration)
        for name, metadata, expiration in keys
        if expiration is None or expiration > now_ms // 1000
    )
    return Page(shown, complete, last.encode("latin-1"), "HIT")
