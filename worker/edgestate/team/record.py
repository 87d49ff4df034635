"""The one way to the system of record: statements in, rows out, each call one transaction.

A second system of record is another `Record` with another text for each constant of `team.sql`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from edgestate.bindings import D1Binding
from edgestate.d1_call import D1Calls, Rows
from edgestate.errors import StateError, StoreUnavailable
from edgestate.team.breaker import Breaker, Tally
from edgestate.team.tracing import logger_of

logger = logger_of(__name__)

Purpose = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A text of `team.sql` with its values."""

    sql: str
    values: tuple[Any, ...] = ()


def says(sql: str, *values: Any) -> Statement:
    """The statement `sql` with `values`."""
    return Statement(sql, values)


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long the system of record may take.

    Units: seconds. The defaults are the document's.
    """

    read_s: float = 0.5
    write_s: float = 2.0

    def of(self, purpose: Purpose) -> float:
        """The deadline of a call."""
        return self.read_s if purpose == "read" else self.write_s


class Record(Protocol):
    """A system of record."""

    @property
    def tally(self) -> Tally:
        """What was counted here and is not written down yet."""

    @property
    def breaker(self) -> Breaker:
        """Whether the database is asked at all."""

    async def batch(self, statements: Sequence[Statement], purpose: Purpose) -> list[Rows]:
        """The rows of each statement, all run in one transaction.

        Errors: GuardRefused and StoreRejected: nothing was written. StoreUnavailable: it did not
        answer in time or not properly, and a write may have happened.
        """


class D1Record:
    """A `Record` on `env.DB`."""

    def __init__(
        self,
        db: D1Binding,
        *,
        deadlines: Deadlines | None = None,
        breaker: Breaker | None = None,
        tally: Tally | None = None,
    ) -> None:
        self._d1 = D1Calls(db)
        self.deadlines = deadlines or Deadlines()
        self._breaker = breaker or Breaker("database")
        self._tally = Tally() if tally is None else tally

    @property
    def tally(self) -> Tally:
        return self._tally

    @property
    def breaker(self) -> Breaker:
        return self._breaker

    async def batch(self, statements: Sequence[Statement], purpose: Purpose) -> list[Rows]:
        if purpose == "read" and not self._breaker.allows():
            raise StoreUnavailable("the database failed repeatedly and is not asked for a while")
        bound = [self._d1.bound(statement.sql, *statement.values) for statement in statements]
        limit_s = self.deadlines.of(purpose)
        try:
            async with asyncio.timeout(limit_s):
                rows = await self._d1.batch(bound)
        except TimeoutError as error:
            self._tally[f"timeouts_{purpose}"] += 1
            logger.warning("database too slow", extra={"purpose": purpose, "limit_s": limit_s})
            self._failed()
            raise StoreUnavailable(f"no answer to a {purpose} within {limit_s} s") from error
        except StoreUnavailable:
            self._failed()
            raise
        except StateError:
            # A refusal is an answer too.
            self._breaker.succeeded()
            raise
        self._breaker.succeeded()
        return rows

    def _failed(self) -> None:
        before = self._breaker.opened
        self._breaker.failed()
        self._tally["breaker_opened_database"] += self._breaker.opened - before
