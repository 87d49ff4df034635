"""One namespace in memory, with its past: for exploring many orders of calls and old answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from localedge import clock
from localedge.kv.store import (
    Entry,
    Listed,
    Page,
    Reading,
    Store,
    TooLargeError,
    WriteRate,
    WriteRateError,
)

logger = logging.getLogger(__name__)

WINDOW_S: Final = 60.0
"""For so long a read may answer with what a key had before. Source: developers.cloudflare.com
/kv/concepts/how-kv-works ("60 seconds or more"), read 2026-12-01."""
_FEWEST_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Past:
    """What a key had until `until_s` (seconds since the epoch); None: it had no entry."""

    entry: Entry | None
    until_s: float


@dataclass(frozen=True, slots=True)
class MemoryState:
    """All of a namespace at one moment. Equal states answer every read alike."""

    entries: dict[bytes, Entry]
    past: dict[bytes, tuple[Past, ...]]
    written_s: dict[bytes, float]


Lag = Callable[[bytes, int], int]
"""Which of a key's values a read gets: called with the key and how many there are (0: newest)."""


class MemoryStore(Store):
    """A Store whose reads are the newest, unless `lag` chooses an older value.

    Shape: `lag` is asked for each key that had another value, or none, within `WINDOW_S`.
    """

    def __init__(self, *, write_rate: WriteRate = "off") -> None:
        self._rate = write_rate
        self._entries: dict[bytes, Entry] = {}
        self._past: dict[bytes, tuple[Past, ...]] = {}
        self._written_s: dict[bytes, float] = {}
        self._copy: MemoryState | None = None
        self.lag: Lag | None = None

    def snapshot(self) -> MemoryState:
        """Everything as it is now."""
        if self._copy is None:
            self._copy = MemoryState(dict(self._entries), dict(self._past), dict(self._written_s))
        return self._copy

    def restore(self, state: MemoryState) -> None:
        """Make everything what it was at `state`."""
        if self._copy is state:
            return
        self._entries = dict(state.entries)
        self._past = dict(state.past)
        self._written_s = dict(state.written_s)
        self._copy = state

    def values(self, key: bytes) -> list[Entry | None]:
        """What a read of `key` may answer with: the newest first, each once.

        An entry that has expired within the window is among them, as one that was replaced.
        """
        now_s = clock.now()
        since_s = now_s - WINDOW_S
        current = self._entries.get(key)
        found = [_living(current)]
        found += [one for one in _had(Past(current, now_s), since_s) if one not in found]
        for past in reversed(self._past.get(key, ())):
            if past.until_s <= since_s:
                break
            found += [one for one in _had(past, since_s) if one not in found]
        return found

    def _read(self, key: bytes) -> Entry | None:
        if self.lag is None or key not in self._past:
            return _living(self._entries.get(key))
        values = self.values(key)
        return values[self.lag(key, len(values))] if len(values) > 1 else values[0]

    async def get(self, key: bytes, *, cache_ttl_s: int) -> Reading:
        return Reading(self._read(key))

    async def get_many(
        self, keys: Sequence[bytes], *, cache_ttl_s: int, limit_bytes: int
    ) -> list[Reading]:
        found = [Reading(self._read(key)) for key in keys]
        total = sum(len(reading.entry.value) for reading in found if reading.entry)
        if total > limit_bytes:
            raise TooLargeError(f"{total} bytes")
        return found

    async def put(self, key: bytes, entry: Entry) -> None:
        self._write(key, entry)

    async def delete(self, key: bytes) -> None:
        self._write(key, None)

    def _write(self, key: bytes, entry: Entry | None) -> None:
        now_s = clock.now()
        is_too_soon = self._rate != "off" and (
            0 <= now_s - self._written_s.get(key, -_FEWEST_S) < _FEWEST_S
        )
        if is_too_soon and self._rate == "enforce":
            raise WriteRateError("more than one write to a key within a second")
        self._copy = None
        if self._rate != "off":
            self._written_s[key] = now_s
        kept = [past for past in self._past.get(key, ()) if past.until_s > now_s - WINDOW_S]
        self._past[key] = (*kept, Past(self._entries.get(key), now_s))
        if entry is None:
            self._entries.pop(key, None)
        else:
            self._entries[key] = entry
        if is_too_soon:
            logger.warning(
                "more than one write to a kv key within a second: the edge answers 429",
                extra={"key": key.decode("utf-8", "replace")},
            )

    async def page(self, *, prefix: bytes, after: bytes, limit: int) -> Page:
        known = self._entries.keys() if self.lag is None else {**self._entries, **self._past}
        found: list[Listed] = []
        for key in sorted(known):
            if key.startswith(prefix) and key > after and (entry := self._read(key)):
                found.append(Listed(key, entry.metadata, entry.expiration))
                if len(found) > limit:
                    break
        keys = tuple(found[:limit])
        return Page(keys, complete=len(found) <= limit, last=keys[-1].name if keys else b"")


def _had(past: Past, since_s: float) -> list[Entry | None]:
    """What the key had until `past.until_s` and after `since_s`, the later first."""
    entry = past.entry
    if entry is None or entry.expiration is None or entry.expiration > past.until_s:
        return [entry]
    return [None, entry] if entry.expiration > since_s else [None]


def _living(entry: Entry | None) -> Entry | None:
    if entry is None or (entry.expiration is not None and entry.expiration <= clock.now_s()):
        return None
    return entry
