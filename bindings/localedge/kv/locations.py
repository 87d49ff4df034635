"""Eventual consistency: what a location has read stays what it reads, for a while.

Source: developers.cloudflare.com/kv/concepts/how-kv-works and kv/api/read-key-value-pairs
(cacheTtl), read 2026-12-01.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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
from localedge.kv.scripts import READ_AT
from localedge.kv.store import (
    Reading,
    TooLargeError,
    UnavailableError,
    WriteRate,
)

_DAY_MS: Final = 86_400_000


class LocationStore(StrongStore):
    """A Store that reads through the cache of one location.

    What was read, an absence too, is read again for the reader's `cache_ttl_s`, or for less if a
    later reader asks for less; an entry's own expiration comes first. The location's own writes
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
        self._cache = self._prefix + b"c:" + location.encode().hex().encode() + b":"

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
        return (self._cache + key,)


def _reading(key: bytes, reply: Reply) -> Reading:
    match reply:
        case [bytes(status), *fields]:
            return Reading(visible(key, fields), status.decode())
    raise UnavailableError(f"unexpected answer of the read script: {reply!r}")
