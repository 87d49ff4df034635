"""One namespace in Redis: a hash per key, and a sorted set that lists them bytewise."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias
from urllib.parse import quote

from localedge import clock
from localedge.kv.scripts import DELETE, GET_MANY, LIST, PUT, Script
from localedge.kv.store import (
    CorruptError,
    Entry,
    Listed,
    Page,
    Reading,
    TooLargeError,
    UnavailableError,
    WriteRate,
    WriteRateError,
)

logger = logging.getLogger(__name__)

Argument: TypeAlias = bytes | int
Reply: TypeAlias = "bytes | int | list[Reply] | None"

_DAY_MS: Final = 86_400_000
_FEWEST_PER_STEP: Final = 64
_MOST_PER_STEP: Final = 1001


class RefusedError(Exception):
    """The server answered with an error: `str(refusal)` is its text."""


class Server(Protocol):
    """Runs commands and scripts. Errors: UnavailableError, RefusedError."""

    async def execute(self, *command: Argument) -> Reply: ...

    async def run(
        self, script: Script, keys: Sequence[bytes], arguments: Sequence[Argument]
    ) -> Reply: ...


def redis_prefix(namespace_id: str) -> bytes:
    """What every key of the namespace begins with; no two namespaces share one.

    The braces put a namespace into one slot of a cluster; quoting keeps them out of the id.
    """
    return b"kv:{" + quote(namespace_id, safe="").encode() + b"}:"


class StrongStore:
    """A Store whose reads are always the newest."""

    def __init__(self, server: Server, namespace_id: str, *, write_rate: WriteRate = "off") -> None:
        self._server = server
        self._prefix = redis_prefix(namespace_id)
        self._hashes = self._prefix + b"h:"
        self._index = self._prefix + b"z"
        self._rate = write_rate.encode()

    async def get(self, key: bytes, *, cache_ttl_s: int) -> Reading:
        try:
            reply = await self._server.execute(b"HMGET", self._hashes + key, b"v", b"m", b"e")
        except RefusedError as exc:
            raise refused(exc, key) from exc
        return Reading(visible(key, reply))

    async def get_many(
        self, keys: Sequence[bytes], *, cache_ttl_s: int, limit_bytes: int
    ) -> list[Reading]:
        hashes = [self._hashes + key for key in keys]
        try:
            replies = await self._server.run(GET_MANY, hashes, [limit_bytes])
        except RefusedError as exc:
            raise refused(exc, keys[0]) from exc
        if not isinstance(replies, list):
            raise TooLargeError(f"{replies!r} bytes")
        return [Reading(visible(key, reply)) for key, reply in zip(keys, replies, strict=True)]

    async def put(self, key: bytes, entry: Entry) -> None:
        now_ms = clock.now_ms()
        life: Argument = b""
        expiration = b""
        if entry.expiration is not None:
            expiration = b"%d" % entry.expiration
            # Relative to our clock, and a day late: Redis only reclaims what we no longer show.
            life = max(entry.expiration * 1000 - now_ms, 0) + _DAY_MS
        await self._write(
            PUT,
            key,
            [key, entry.value, entry.metadata or b"", expiration, life, self._rate, now_ms],
        )

    async def delete(self, key: bytes) -> None:
        await self._write(DELETE, key, [key, self._rate, clock.now_ms()])

    async def _write(self, script: Script, key: bytes, arguments: Sequence[Argument]) -> None:
        keys = [
            self._hashes + key,
            self._index,
            self._prefix + b"w:" + key,
            *self._forgotten_by_write(key),
        ]
        try:
            too_soon = await self._server.run(script, keys, arguments)
        except RefusedError as exc:
            raise refused(exc, key) from exc
        if not too_soon:
            return
        if self._rate == b"enforce":
            raise WriteRateError("more than one write to a key within a second")
        logger.warning(
            "more than one write to a kv key within a second: the edge answers 429",
            extra={"key": key.decode("utf-8", "replace")},
        )

    def _forgotten_by_write(self, key: bytes) -> Sequence[bytes]:
        """Redis keys that a write of `key` makes stale for the writer."""
        return ()

    async def page(self, *, prefix: bytes, after: bytes, limit: int) -> Page:
        first = b"(" + after if after >= prefix and after else b"[" + prefix
        # No UTF-8 text has the byte FF: it is beyond everything that begins with the prefix.
        last = b"(" + prefix + b"\xff" if prefix else b"+"
        found: list[Listed] = []
        scan = max(limit + 1, _FEWEST_PER_STEP)
        more = True
        while more and len(found) <= limit:
            want = limit + 1 - len(found)
            listed, seen, more = await self._list_step(first, last, scan, want)
            found += listed
            first = b"(" + seen
            # Many have expired here: look at as many as one call may.
            scan = _MOST_PER_STEP
        keys = tuple(found[:limit])
        return Page(keys, complete=len(found) <= limit, last=keys[-1].name if keys else b"")

    async def _list_step(
        self, first: bytes, last: bytes, scan: int, want: int
    ) -> tuple[list[Listed], bytes, bool]:
        try:
            reply = await self._server.run(
                LIST, [self._index], [self._hashes, first, last, scan, want, clock.now_s()]
            )
        except RefusedError as exc:
            raise CorruptError(f"The index of the namespace is corrupt: {exc}") from exc
        match reply:
            case [list(fields), bytes(seen), int(more)]:
                entries = zip(fields[::3], fields[1::3], fields[2::3], strict=True)
                return [_listed(*entry) for entry in entries], seen, bool(more)
        raise UnavailableError(f"unexpected answer of the list script: {reply!r}")


def visible(key: bytes, fields: Reply) -> Entry | None:
    """The entry that value, metadata and expiration describe, None if absent or expired.

    Errors: CorruptError when a field is missing or is not what we write.
    """
    match fields:
        case [bytes(value), bytes(metadata), b""]:
            return Entry(value, metadata or None)
        case [bytes(value), bytes(metadata), bytes(expiration)] if expiration.isdigit():
            if int(expiration) <= clock.now_s():
                return None
            return Entry(value, metadata or None, int(expiration))
        case [None, None, None]:
            return None
    raise _corrupt(key, "its fields are not those of an entry")


def _listed(name: Reply, metadata: Reply, expiration: Reply) -> Listed:
    match name, metadata, expiration:
        case bytes(), bytes(), b"":
            return Listed(name, metadata or None)
        case bytes(), bytes(), bytes() if expiration.isdigit():
            return Listed(name, metadata or None, int(expiration))
        case bytes(), _, _:
            # One damaged entry must not hide all others: its name is known, the rest is not.
            logger.error("corrupt kv entry", extra={"key": name.decode("utf-8", "replace")})
            return Listed(name)
    raise UnavailableError(f"unexpected name in the list script's answer: {name!r}")


def _corrupt(key: bytes, reason: str) -> CorruptError:
    name = key.decode("utf-8", "replace")
    logger.error("corrupt kv entry", extra={"key": name, "reason": reason})
    return CorruptError(f'The stored entry of key "{name}" is corrupt: {reason}')


def refused(refusal: RefusedError, key: bytes) -> CorruptError | UnavailableError:
    """The error for a call about `key` that the server refused."""
    text = str(refusal)
    if "WRONGTYPE" in text:
        return _corrupt(key, "something else is stored under its name")
    logger.error("kv server refused", extra={"error": text})
    return UnavailableError(text)
