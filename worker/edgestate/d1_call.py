"""Calls to a D1 binding: prepared statements, one transaction per call, errors made ours."""

# ruff: noqa: N818  (the names are the design's: what happened, not "…Error")

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from edgestate.bindings import D1Binding, D1Statement
from edgestate.errors import StateError, StoreRejected, StoreUnavailable

Rows = list[Any]

TIMEOUT_S: Final = 35.0
"""More than the 30 s that the platform gives a batch.

Source: reference/kv-d1-contract.md 2.9, read 2026-12-01.
"""


class GuardRefused(StateError):
    """A guard undid the batch; `reason` is its constraint without the prefix `agent_`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


GUARDS = (
    "version_conflict",
    "fence_lost",
    "context_conflict",
    "transition_refused",
    "access_denied",
    "request_lost",
    "already_consumed",
    "snapshot_conflict",
    "append_only",
    "recipient_unknown",
    "identity_fixed",
    "result_missing",
)
_DEFINITE = ("SQLITE_CONSTRAINT", "SQLITE_ERROR", "SQLITE_MISMATCH", "D1_TYPE_ERROR", "TOOBIG")


class D1Calls:
    """A database whose batches raise this library's errors."""

    def __init__(self, db: D1Binding) -> None:
        self._db = db
        self._prepared: dict[str, D1Statement] = {}

    def bound(self, sql: str, *values: Any) -> D1Statement:
        """`sql` with `values`; prepared once."""
        statement = self._prepared.get(sql)
        if statement is None:
            statement = self._prepared[sql] = self._db.prepare(sql)
        return statement.bind(*values) if values else statement

    async def batch(self, statements: Sequence[D1Statement]) -> list[Rows]:
        """The rows of each statement, all run in one transaction.

        Errors: GuardRefused when a guard or trigger refused it and StoreRejected when the
        database did (nothing was written); StoreUnavailable otherwise (unknown).
        """
        try:
            async with asyncio.timeout(TIMEOUT_S):
                results = await self._db.batch(list(statements))
        except Exception as error:
            # The platform's exception class can only be imported on the edge.
            raise _translated(error) from error
        return [result["results"] for result in results]

    async def rows(self, sql: str, *values: Any) -> Rows:
        """The rows of one statement."""
        return (await self.batch([self.bound(sql, *values)]))[0]


def _translated(error: Exception) -> Exception:
    text = str(error)
    if not isinstance(error, TimeoutError) and "D1_" not in text:
        return error
    for guard in GUARDS:
        if f"agent_{guard}" in text:
            return GuardRefused(guard)
    if any(mark in text for mark in _DEFINITE):
        return StoreRejected(text)
    return StoreUnavailable(text or type(error).__name__)
