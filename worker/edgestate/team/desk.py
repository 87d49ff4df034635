"""The place from which one agent reads and writes shared state: its identity goes along.

Every repository works through a `Desk`. Nothing here takes an agent's word for who it is: the
identity was given by the server, and its role is looked up in the database within each write.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from edgestate import clock
from edgestate.d1_call import GuardRefused, Rows
from edgestate.errors import StateError, StoreRejected, StoreUnavailable, VersionConflict
from edgestate.keys import check_id
from edgestate.team.errors import (
    AccessDenied,
    ContextConflictError,
    RequestInProgress,
    RequestMismatch,
)
from edgestate.team.record import Record, Statement, says
from edgestate.team.sql import writing
from edgestate.team.tracing import logger_of, trace_id
from edgestate.team.writes import ROLES, Cycle, Identity, Write, fingerprint, new_id, text_of

logger = logger_of(__name__)

CONFLICTS: Final = frozenset({"version_conflict", "fence_lost", "context_conflict"})
PAUSE_S: Final = 0.02

Refused = Callable[[str], Awaitable[StateError]]


class Desk:
    """One agent's way to the system of record.

    Shape: `tries` is how often a write whose outcome is unknown is sent, with one request id.
    """

    def __init__(self, record: Record, identity: Identity, *, tries: int = 3) -> None:
        self.record = record
        self.identity = identity
        self._tries = tries
        self._is_confirmed = identity.is_confirmed

    @property
    def me(self) -> str:
        """The agent's id."""
        return self.identity.agent_id

    async def read(self, *statements: Statement) -> list[Rows]:
        """The rows of each statement, read in one transaction, asked again if need be.

        Errors: StoreUnavailable; AccessDenied for who is not in the team.
        """
        await self.must_be_enrolled()
        return await self._read(statements)

    async def _read(self, statements: Sequence[Statement]) -> list[Rows]:
        for attempt in range(self._tries):
            try:
                return await self.record.batch(statements, "read")
            except StoreUnavailable:
                if attempt + 1 == self._tries or self.record.breaker.state == "open":
                    raise
                await pause(attempt)
        raise AssertionError("unreachable")

    async def send(self, *statements: Statement) -> list[Rows]:
        """The rows of a write that may be sent again as it is.

        Errors: what a guard says; StoreUnavailable if the outcome is still unknown; AccessDenied
        for who is not in the team.
        """
        await self.must_be_enrolled()
        return await sent(self.record, statements, tries=self._tries)

    async def write(
        self, write: Write, *, request_id: str | None = None, refused: Refused | None = None
    ) -> Any:
        """The answer to `write`, which has happened once however often it is asked for.

        Errors: RequestMismatch, RequestInProgress, AccessDenied, ContextConflictError; what
        `refused` makes of a guard's reason; StoreUnavailable if the outcome is still unknown.
        """
        request_id = check_id("request", new_id("request") if request_id is None else request_id)
        taken = self.record.tally.taken()
        statements = self._statements(write, request_id, taken)
        try:
            rows = await sent(self.record, statements, tries=self._tries)
        except GuardRefused as error:
            self.record.tally.update(taken)
            raise await self.refusal(write, error.reason, refused) from error
        except StoreRejected as error:
            self.record.tally.update(taken)
            if "write_requests.request_id" in str(error):
                return await self.earlier(request_id, write)
            raise
        return json.loads(rows[-1][0]["answer"])

    def _statements(self, write: Write, request_id: str, counts: dict[str, int]) -> list[Statement]:
        """The whole batch: may I, not twice, still in context, the write itself, the counts."""
        answer = "null" if isinstance(write.answer, Statement) else text_of(write.answer)
        role_guard, *context_guards = self.guards(*write.all)
        batch = [
            role_guard,
            says(
                writing.DONE_REQUEST,
                request_id,
                self.me,
                write.operation,
                fingerprint(write),
                answer,
                clock.now_ms(),
                trace_id(),
            ),
            *context_guards,
            *(statement for one in write.all for statement in one.statements),
        ]
        if isinstance(write.answer, Statement):
            batch.append(says(write.answer.sql, request_id, *write.answer.values))
        counts = {"transactions": 1, "updates": 1, **counts}
        batch.append(says(writing.COUNT, json.dumps(counts)))
        batch.append(says(writing.SELECT_ANSWER, request_id))
        return batch

    def guards(self, *writes: Write) -> list[Statement]:
        """The checks for the head of a batch: may I do all of this, is each context the newest."""
        roles = [role for role in ROLES if all(role in write.roles for write in writes)]
        cycles = {(w.cycle.task_id, w.cycle.version): None for w in writes if w.cycle is not None}
        return [
            says(writing.GUARD_ROLE, self.me, json.dumps(roles)),
            *(says(writing.GUARD_CONTEXT, *cycle) for cycle in cycles),
        ]

    async def earlier(self, request_id: str, write: Write, *, anyone: bool = False) -> Any:
        """What a request that was made before, by this agent or `anyone`, was answered with.

        Errors: RequestMismatch, RequestInProgress.
        """
        ((row,),) = await self.read(says(writing.SELECT_REQUEST, request_id))
        is_same = (row["operation"], row["fingerprint"]) == (write.operation, fingerprint(write))
        if not is_same or not (anyone or row["agent_id"] == self.me):
            raise RequestMismatch(request_id)
        if row["status"] == "in_progress":
            raise RequestInProgress(request_id)
        return json.loads(row["answer"])

    async def refusal(
        self, write: Write, reason: str, refused: Refused | None = None
    ) -> StateError:
        """What a guard's reason means for `write`; the refusal is counted, and a denial written."""
        await self.count_refusal(reason)
        if reason == "access_denied":
            return await self.denied(write.operation, write.what)
        if reason == "context_conflict":
            for cycle in (one.cycle for one in write.all if one.cycle is not None):
                conflict = await self.behind(cycle)
                if conflict.actual != conflict.expected:
                    return conflict
        if refused is not None:
            return await refused(reason)
        return VersionConflict(write.what, 0, None)

    async def behind(self, cycle: Cycle) -> ContextConflictError:
        """The error that says where the context is by now."""
        (rows,) = await self.read(says(writing.SELECT_POINTER, cycle.task_id))
        actual = rows[0]["context_version"] if rows else None
        return ContextConflictError(cycle.version, actual)

    async def count_refusal(self, reason: str) -> None:
        """The refused transaction is counted, by a write of its own: it cannot count itself."""
        counts = {"transactions": 1, "updates": 1, "rollbacks": 1}
        if reason in CONFLICTS or reason == "snapshot_conflict":
            counts["conflicts"] = 1
        self.record.tally.update(counts)
        await self.write_down()

    async def write_down(self) -> None:
        """What was counted here is in the database; if it cannot be asked, it stays counted."""
        taken = self.record.tally.taken()
        if not taken:
            return
        try:
            await self.record.batch([says(writing.COUNT, json.dumps(taken))], "write")
        except StoreUnavailable:
            # It may be counted twice now: better than a write of everybody's that fails for it.
            self.record.tally.update(taken)

    async def denied(self, operation: str, what: str) -> AccessDenied:
        """The refusal is written down; the error to raise."""
        logger.warning("access denied", extra={"agent": self.me, "operation": operation})
        values = (self.me, operation, what, clock.now_ms(), trace_id())
        await sent(self.record, [says(writing.DENY, *values)], tries=self._tries)
        return AccessDenied(self.me, operation, what)

    async def must_be_enrolled(self) -> None:
        """Return if the database knows this agent in its role; it is asked once in a life.

        Errors: AccessDenied, written down; StoreUnavailable.
        """
        if self._is_confirmed:
            return
        (rows,) = await self._read([says(writing.SELECT_ROLE, self.me)])
        if not rows or rows[0]["role"] != self.identity.role:
            raise await self.denied("act", f"as {self.identity.role}")
        self._is_confirmed = True

    async def must_be_me(self, agent_id: str, operation: str) -> None:
        """Return if `agent_id`, which the caller claims to be, is who the server says it is.

        Errors: AccessDenied, written down.
        """
        if agent_id != self.me:
            raise await self.denied(operation, f"as agent {agent_id}")


async def sent(record: Record, statements: Sequence[Statement], *, tries: int = 3) -> list[Rows]:
    """The rows of a write whose outcome is known: it is sent again, the same, as long as it is not.

    Errors: what a guard says; StoreUnavailable if the outcome is still unknown.
    """
    for attempt in range(tries):
        try:
            return await record.batch(statements, "write")
        except StoreUnavailable:
            if attempt + 1 == tries:
                raise
            logger.warning("write sent again", extra={"attempt": attempt + 1})
            await pause(attempt)
    raise AssertionError("unreachable")


async def pause(attempt: int) -> None:
    """A short while, longer with each attempt, never the same for two agents."""
    await asyncio.sleep(random.uniform(0, PAUSE_S * 2**attempt))
