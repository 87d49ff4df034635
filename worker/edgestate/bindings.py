"""The parts of `env.KV` and `env.DB` that the stores use, as the platform's SDK hands them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class KVBinding(Protocol):
    """A KV namespace (keyword arguments are the platform's options).

    Source: reference/kv-d1-contract.md section 1, read 2026-12-01.
    """

    async def get(self, key: str | list[str]) -> Any:
        """The text at `key` or None; for a list of keys a mapping."""

    async def getWithMetadata(self, key: str) -> Any:  # noqa: N802
        """`{value, metadata}`."""

    async def put(self, key: str, value: str, **options: Any) -> None:
        """Replace value, metadata and expiry of `key`."""

    async def delete(self, key: str) -> None:
        """`key` is gone."""

    async def list(self, **options: Any) -> Any:
        """One page of keys."""


class D1Statement(Protocol):
    """A prepared statement.

    Source: reference/kv-d1-contract.md section 2, read 2026-12-01.
    """

    def bind(self, *values: Any) -> D1Statement:
        """A new statement with these parameters."""


class D1Binding(Protocol):
    """A D1 database."""

    def prepare(self, sql: str) -> D1Statement:
        """A statement, unchecked until it runs."""

    async def batch(self, statements: Sequence[D1Statement]) -> Any:
        """Run all in one transaction; one result per statement."""
