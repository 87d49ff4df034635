"""KV entries in memory, with copies of the whole: for exploring many orders of calls."""

from __future__ import annotations

from collections.abc import Sequence

from localedge import clock
from localedge.kv.store import Entry, Listed, Page, Reading, Store, TooLargeError


class MemoryStore(Store):
    """One namespace; strongly consistent, and without a limit on write rates."""

    def __init__(self) -> None:
        self._entries: dict[bytes, Entry] = {}

    def snapshot(self) -> dict[bytes, Entry]:
        """All entries as they are now."""
        return dict(self._entries)

    def restore(self, snapshot: dict[bytes, Entry]) -> None:
        """Make the entries what they were at `snapshot`."""
        self._entries = dict(snapshot)

    def _living(self, key: bytes) -> Entry | None:
        entry = self._entries.get(key)
        if entry is None or (entry.expiration is not None and entry.expiration <= clock.now_s()):
            return None
        return entry

    async def get(self, key: bytes, *, cache_ttl_s: int) -> Reading:
        return Reading(self._living(key))

    async def get_many(
        self, keys: Sequence[bytes], *, cache_ttl_s: int, limit_bytes: int
    ) -> list[Reading]:
        found = [Reading(self._living(key)) for key in keys]
        if sum(len(reading.entry.value) for reading in found if reading.entry) > limit_bytes:
            raise TooLargeError("the values are too large together")
        return found

    async def put(self, key: bytes, entry: Entry) -> None:
        self._entries[key] = entry

    async def delete(self, key: bytes) -> None:
        self._entries.pop(key, None)

    async def page(self, *, prefix: bytes, after: bytes, limit: int) -> Page:
        living = [
            (key, entry)
            for key in sorted(self._entries)
            if key.startswith(prefix) and key > after and (entry := self._living(key))
        ]
        keys = tuple(Listed(key, e.metadata, e.expiration) for key, e in living[:limit])
        return Page(keys, complete=len(living) <= limit)
