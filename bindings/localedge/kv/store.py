"""What a KV namespace needs of whatever keeps its entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Consistency = Literal["strong", "eventual"]
WriteRate = Literal["off", "warn", "enforce"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored value.

    Shape: `metadata` is JSON text or None.
    Units: `expiration` in whole seconds since the epoch, None for never.
    """

    value: bytes
    metadata: bytes | None = None
    expiration: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What one read found: the entry or None, and where it came from ("HIT", "MISS", None)."""

    entry: Entry | None
    cache_status: str | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """One key of a page; `metadata` and `expiration` as in Entry."""

    name: bytes
    metadata: bytes | None = None
    expiration: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Keys in bytewise order.

    Shape: `complete` is false when more keys follow `last`, which a page can end with and not have:
    one that has expired since.
    """

    keys: tuple[Listed, ...]
    complete: bool
    last: bytes = b""
    cache_status: str | None = None


class StoreError(Exception):
    """The store could not answer; `str(error)` says why."""


class UnavailableError(StoreError):
    """Nobody answered in time. A write may have happened all the same."""


class CorruptError(StoreError):
    """What is stored is not what was written; other keys are not affected."""


class WriteRateError(StoreError):
    """The key was written less than a second ago; nothing was written."""


class TooLargeError(StoreError):
    """The values together are larger than one answer may be."""


class Store(Protocol):
    """Keeps the entries of one namespace.

    An entry is visible while its `expiration` is later than the current second of
    `localedge.clock`: in `get`, `get_many` and `page` alike. Every method raises UnavailableError
    within two seconds when the store does not answer.
    """

    async def get(self, key: bytes, *, cache_ttl_s: int) -> Reading:
        """The entry of `key`.

        Units: `cache_ttl_s`: how old, in seconds, an answer may be where answers are cached.
        Errors: CorruptError.
        """

    async def get_many(
        self, keys: Sequence[bytes], *, cache_ttl_s: int, limit_bytes: int
    ) -> list[Reading]:
        """The entries of `keys`, in their order.

        Errors: CorruptError; TooLargeError when the values are more than `limit_bytes` together.
        """

    async def put(self, key: bytes, entry: Entry) -> None:
        """`key` has `entry`, whole; nothing of a previous entry is left.

        Errors: WriteRateError.
        """

    async def delete(self, key: bytes) -> None:
        """`key` has no entry.

        Errors: WriteRateError.
        """

    async def page(self, *, prefix: bytes, after: bytes, limit: int) -> Page:
        """The first `limit` visible keys that begin with `prefix` and sort after `after`."""
