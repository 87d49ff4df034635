"""What a person looks at beside the entries of a namespace: how many, how large, and cached where.

The layout is that of `scripts`. Nothing here writes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

from localedge import clock
from localedge.kv.redis_store import RefusedError, Server, redis_prefix, visible
from localedge.kv.store import CorruptError, Entry, UnavailableError

_PER_STEP: Final = 1000
MOST_STEPS: Final = 500
"""How often a search of the server goes on: the keys of others lie on the same one."""
_GLOB: Final = frozenset(b"*?[]\\")


@dataclass(frozen=True, slots=True)
class Copy:
    """What one location has read of a key and answers with.

    Shape: `entry` is None for an absence. Units: `age_ms` since it was read, `left_ms` until it
    is read again.
    """

    location: str
    entry: Entry | None
    age_ms: int
    left_ms: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found; `complete` is false when the server has too many keys to see all."""

    copies: tuple[Copy, ...]
    complete: bool


async def count_of(server: Server, namespace_id: str) -> int:
    """How many keys the namespace has; some may have expired since they were last listed."""
    reply = await server.execute(b"ZCARD", redis_prefix(namespace_id) + b"z")
    return reply if isinstance(reply, int) else 0


async def sizes_of(server: Server, namespace_id: str, keys: Sequence[bytes]) -> list[int]:
    """The size of each key's value in bytes; 0 for a key that has none."""
    hashes = redis_prefix(namespace_id) + b"h:"
    return list(await asyncio.gather(*(_size(server, hashes + key) for key in keys)))


async def _size(server: Server, name: bytes) -> int:
    try:
        reply = await server.execute(b"HSTRLEN", name, b"v")
    except RefusedError:
        # Something else lies there; reading the key says so.
        return 0
    return reply if isinstance(reply, int) else 0


async def copies_of(server: Server, namespace_id: str, key: bytes) -> Found:
    """What each location answers for `key` without reading it again, by name of the location."""
    start = redis_prefix(namespace_id) + b"c:"
    copies, complete = [], True
    async for name in _names(server, _glob(start) + b"*:" + _glob(key)):
        if name is None:
            complete = False
            break
        place, _, cached = name[len(start) :].partition(b":")
        if cached != key:
            # The place is hexadecimal, so that the first colon ends it.
            continue
        copy = await _copy(server, name, bytes.fromhex(place.decode()).decode(), key)
        if copy is not None:
            copies.append(copy)
    return Found(tuple(sorted(copies, key=lambda copy: copy.location)), complete)


async def locations_of(server: Server, namespace_id: str) -> dict[str, int]:
    """How many keys each location has cached, out of date or not."""
    start = redis_prefix(namespace_id) + b"c:"
    counted: Counter[str] = Counter()
    async for name in _names(server, _glob(start) + b"*"):
        if name is not None:
            place = name[len(start) :].partition(b":")[0]
            counted[bytes.fromhex(place.decode()).decode()] += 1
    return dict(sorted(counted.items()))


async def _copy(server: Server, name: bytes, location: str, key: bytes) -> Copy | None:
    """What the location has; None when it would read again."""
    fields = await server.execute(b"HMGET", name, b"t", b"c", b"v", b"m", b"e")
    match fields:
        case [bytes(read_at), bytes(kept_s), *entry]:
            age_ms = clock.now_ms() - int(read_at)
            left_ms = int(kept_s) * 1000 - age_ms
            if age_ms < 0 or left_ms <= 0:
                return None
            try:
                return Copy(location, visible(key, entry), age_ms, left_ms)
            except CorruptError:
                return Copy(location, None, age_ms, left_ms)
    return None


async def _names(server: Server, pattern: bytes) -> AsyncIterator[bytes | None]:
    """Names of keys of the server; None when it has too many to go on."""
    cursor, seen = b"0", set()
    for _ in range(MOST_STEPS):
        reply = await server.execute(b"SCAN", cursor, b"MATCH", pattern, b"COUNT", _PER_STEP)
        match reply:
            case [bytes(following), list(names)]:
                cursor = following
            case _:
                raise UnavailableError(f"unexpected answer to SCAN: {reply!r}")
        for name in names:
            # The server may tell a name twice.
            if isinstance(name, bytes) and name not in seen:
                seen.add(name)
                yield name
        if cursor == b"0":
            return
    yield None


def _glob(text: bytes) -> bytes:
    """A pattern that only `text` matches."""
    return b"".join(b"\\%c" % byte if byte in _GLOB else b"%c" % byte for byte in text)
