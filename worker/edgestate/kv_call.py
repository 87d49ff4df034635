"""Calls to a KV binding: each with a deadline, errors made ours."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from typing import Any, Final

from edgestate.bindings import KVBinding
from edgestate.errors import StoreRejected, StoreUnavailable

TIMEOUT_S: Final = 30.0
_FAILED: Final = re.compile(r"KV \w+ failed: (\d+)")


class KVCalls:
    """A namespace whose failures are this library's errors.

    Errors: StoreRejected for what the platform refuses (nothing was written); StoreUnavailable
    for its own trouble, too many writes, and no answer within `TIMEOUT_S` (unknown).
    Source: reference/kv-d1-contract.md 1.2, read 2026-12-01.
    """

    def __init__(self, kv: KVBinding) -> None:
        self._kv = kv

    async def get(self, key: str | list[str]) -> Any:
        """The text at `key` or None; for a list of keys a mapping."""
        return await _answered(self._kv.get(key))

    async def put(self, key: str, value: str, **options: Any) -> None:
        """Replace value, metadata and expiry of `key`."""
        await _answered(self._kv.put(key, value, **options))

    async def delete(self, key: str) -> None:
        """`key` is gone."""
        await _answered(self._kv.delete(key))

    async def list(self, **options: Any) -> Any:
        """One page of keys."""
        return await _answered(self._kv.list(**options))


async def _answered(call: Awaitable[Any]) -> Any:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await call
    except Exception as error:
        # The platform's exception class can only be imported on the edge.
        raise _translated(error) from error


def _translated(error: Exception) -> Exception:
    if isinstance(error, TimeoutError):
        return StoreUnavailable("KV did not answer in time")
    failed = _FAILED.search(str(error))
    if failed is None:
        return error
    status = int(failed[1])
    is_refusal = 400 <= status < 500 and status != 429
    return StoreRejected(str(error)) if is_refusal else StoreUnavailable(str(error))
