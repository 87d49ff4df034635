"""What was read lately, in KV, by version: to read faster, and to read at all in bad times.

Each version has a key of its own, so that an older value never replaces a newer one, however
late it is written. The newer a version, the earlier its key comes in the order of keys: the first
of a listing is the newest that this place knows. Nothing is decided on what is read here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

from pydantic import JsonValue

from edgestate.bindings import KVBinding
from edgestate.errors import StoreUnavailable
from edgestate.team.breaker import Breaker, Tally
from edgestate.team.tracing import logger_of

logger = logger_of(__name__)

_HIGHEST: Final = 10**15
TTL_S: Final = 3600
READ_S: Final = 0.5
WRITE_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Versioned:
    """A value and its version.

    Shape: `stale` if the system of record could not be asked whether there is a newer one;
    `cacheable` if everybody may read it.
    """

    value: JsonValue
    version: int
    stale: bool = False
    cacheable: bool = True


Load = Callable[[], Awaitable[Versioned | None]]


class Cache:
    """A read-through cache on a KV namespace; without one it keeps nothing."""

    def __init__(
        self,
        kv: KVBinding | None,
        tally: Tally,
        *,
        breaker: Breaker | None = None,
        read_s: float = READ_S,
        write_s: float = WRITE_S,
    ) -> None:
        self._kv = kv
        self._tally = tally
        self.breaker = breaker or Breaker("cache")
        self._read_s = read_s
        self._write_s = write_s
        self._kept: set[str] = set()

    async def read(
        self, kind: str, id_: str, load: Load, *, min_version: int | None = None
    ) -> Versioned | None:
        """The value that `load` reads from the system of record, or a cached one.

        Shape: with `min_version` a cached value of at least that version will do. If the system
        of record does not answer, what is cached is returned and marked `stale`.
        Errors: StoreUnavailable if nothing is cached either.
        """
        if min_version is not None:
            held = await self.newest(kind, id_)
            if held is not None and held.version >= min_version:
                return held
        try:
            loaded = await load()
        except StoreUnavailable:
            held = await self.newest(kind, id_)
            if held is None or held.version < (min_version or 0):
                raise
            self._tally["stale_reads"] += 1
            logger.warning("read from the cache", extra={"kind": kind, "version": held.version})
            return replace(held, stale=True)
        if loaded is not None and loaded.cacheable:
            await self.put(kind, id_, loaded)
        return loaded

    async def put(self, kind: str, id_: str, value: Versioned) -> None:
        """`value` is cached, if the cache can be reached; another version is not touched."""
        key = cache_key(kind, id_, value.version)
        if self._kv is None or key in self._kept or not self.breaker.allows():
            return
        text = json.dumps({"version": value.version, "value": value.value}, ensure_ascii=False)
        kv = self._kv
        done = await self._asked(lambda: kv.put(key, text, expirationTtl=TTL_S), self._write_s)
        if done is not None:
            self._kept.add(key)

    async def newest(self, kind: str, id_: str) -> Versioned | None:
        """The newest version that is cached; None if there is none or no cache."""
        if self._kv is None or not self.breaker.allows():
            return None
        kv = self._kv

        async def look() -> str | None:
            page = await kv.list(prefix=cache_prefix(kind, id_), limit=1)
            for key in page["keys"]:
                text: str | None = await kv.get(key["name"])
                return text
            return None

        found = await self._asked(look, self._read_s)
        if not found or not isinstance(found[0], str):
            return None
        try:
            held = json.loads(found[0])
            return Versioned(held["value"], int(held["version"]))
        except (ValueError, KeyError, TypeError):
            logger.warning("what is cached cannot be read", extra={"kind": kind})
            return None

    async def _asked(
        self, ask: Callable[[], Awaitable[object]], limit_s: float
    ) -> tuple[object] | None:
        """What `ask` returned, in a tuple; None if the cache failed: it is only a cache."""
        try:
            async with asyncio.timeout(limit_s):
                answer = await ask()
        except TimeoutError:
            self._tally["timeouts_cache"] += 1
            self._failed("too slow")
            return None
        except Exception as error:  # noqa: BLE001  (the platform's class exists on the edge only)
            self._failed(str(error))
            return None
        self.breaker.succeeded()
        return (answer,)

    def _failed(self, why: str) -> None:
        before = self.breaker.opened
        self.breaker.failed()
        self._tally["breaker_opened_cache"] += self.breaker.opened - before
        logger.warning("cache failed", extra={"why": why})


def cache_prefix(kind: str, id_: str) -> str:
    """What the keys of all versions of a thing begin with."""
    return f"team:{kind}:{quote(id_, safe='')}:"


def cache_key(kind: str, id_: str, version: int) -> str:
    """The key of one version; newer ones come first."""
    return f"{cache_prefix(kind, id_)}{_HIGHEST - version:016d}"
