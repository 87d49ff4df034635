"""The place from which one agent reads and writes shared state: its identity goes along.

Every repository works through a `Desk`. Nothing here takes an agent's word for who it is: the
identity was given by the server, and its role is looked up in the database within each write.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import JsonValue

from edgestate import clock
from edgestate.d1_call import GuardRefused, Rows
from edgestate.errors import StateError, StoreRejected, StoreUnavailable, VersionConflict
from edgestate.keys import MAX_ID_BYTES, check_id
from edgestate.team.errors import (
    AccessDenied,
    ContextConflictError,
    RequestInProgress,
    RequestMismatch,
)
from edgestate.team.record import Record, Statement, says
from edgestate.team.sql import writing
from edgestate.team.tracing import logger_of, trace_id

logger = logger_of(__name__)

Role = Literal["planner", "worker", "critic"]
ROLES: Final[tuple[Role, ...]] = ("planner", "worker", "critic")
CONFLICTS: Final = frozenset({"version_conflict", "fence_lost", "context_conflict"})
PAUSE_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Identity:
    """Who writes: the agent, what it is, and which of its lives this is."""

    agent_id: str
    role: Role
    incarnation: str


@dataclass(frozen=True, slots=True)
class Cycle:
    """A work cycle of an agent: the goal and the frozen context that it declared."""

    task_id: str
    version: int
    context_id: str


@dataclass(frozen=True, slots=True)
class Write:
    """What one request changes.

    Shape: `body` is what makes two requests the same; `answer` is stored with the request and
    returned for each repetition: a value, or a statement that sets it (?1 the request's id).
    """

    operation: str
    what: str
    body: JsonValue
    statements: tuple[Statement, ...]
    answer: JsonValue | Statement = None
    roles: tuple[Role, ...] = ROLES
    cycle: Cycle | None = None


Refused = Callable[[str], Awaitable[StateError]]


class Desk:
    """One agent's way to the system of record.

    Shape: `tries` is how often a write whose outcome is unknown is sent, with one request id.
    """

    def __init__(self, record: Record, identity: Identity, *, tries: int = 3) -> None:
        self.record = record
        self.identity = identity
        self._tries = tries

    @property
    def me(self) -> str:
        """The agent's id."""
        return self.identity.agent_id

    async def read(self, *statements: Statement) -> list[Rows]:
        """The rows of each statement, read in one transaction, asked again if need be.

        Errors: StoreUnavailable.
        """
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

        Errors: what a guard says; StoreUnavailable if the outcome is still unknown.
        """
        return await self._sent(statements)

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
            rows = await self._sent(statements)
        except GuardRefused as error:
            self.record.tally.update(taken)
            raise await self._refusal(write, error.reason, refused) from error
        except StoreRejected as error:
            self.record.tally.update(taken)
            if "write_requests.request_id" in str(error):
                return await self.earlier(request_id, write)
            raise
        return json.loads(rows[-1][0]["answer"])

    async def _sent(self, statements: Sequence[Statement]) -> list[Rows]:
        for attempt in range(self._tries):
            try:
                return await self.record.batch(statements, "write")
            except StoreUnavailable:
                if attempt + 1 == self._tries:
                    raise
                logger.warning("write sent again", extra={"attempt": attempt + 1})
                await pause(attempt)
        raise AssertionError("unreachable")

    def _statements(self, write: Write, request_id: str, counts: dict[str, int]) -> list[Statement]:
        """The whole batch: may I, not twice, still in context, the write itself, the counts."""
        answer = "null" if isinstance(write.answer, Statement) else text_of(write.answer)
        batch = [
            says(writing.GUARD_ROLE, self.me, json.dumps(write.roles)),
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
            *context_guard(write.cycle),
            *write.statements,
        ]
        if isinstance(write.answer, Statement):
            batch.append(says(write.answer.sql, request_id, *write.answer.values))
        counts = {"transactions": 1, "updates": 1, **counts}
        batch.append(says(writing.COUNT, json.dumps(counts)))
        batch.append(says(writing.SELECT_ANSWER, request_id))
        return batch

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

    async def _refusal(self, write: Write, reason: str, refused: Refused | None) -> StateError:
        await self.count_refusal(reason)
        if reason == "access_denied":
            return await self.denied(write.operation, write.what)
        if reason == "context_conflict" and write.cycle is not None:
            return await self.behind(write.cycle)
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
        await self._sent([says(writing.DENY, *values)])
        return AccessDenied(self.me, operation, what)

    async def must_be_me(self, agent_id: str, operation: str) -> None:
        """Return if `agent_id`, which the caller claims to be, is who the server says it is.

        Errors: AccessDenied, written down.
        """
        if agent_id != self.me:
            raise await self.denied(operation, f"as agent {agent_id}")


def context_guard(cycle: Cycle | None) -> list[Statement]:
    """The check that `cycle` is still under the newest context, for the head of a batch."""
    if cycle is None:
        return []
    return [says(writing.GUARD_CONTEXT, cycle.task_id, cycle.version)]


def fingerprint(write: Write) -> str:
    """What two requests with the same id must have in common."""
    text = json.dumps([write.operation, write.body], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def text_of(value: JsonValue) -> str:
    """`value` as JSON. Errors: StoreRejected for what is none."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreRejected(f"the value is not JSON: {error}") from error


def new_id(kind: str) -> str:
    """An id that nothing else has."""
    return f"{kind}-{uuid.uuid4().hex}"


def request_of(*parts: object) -> str:
    """The id of the request that these parts name, however long they are."""
    text = "-".join(map(str, parts))
    if len(text.encode()) <= MAX_ID_BYTES:
        return text
    return f"{parts[0]}-{hashlib.sha256(text.encode()).hexdigest()}"


async def pause(attempt: int) -> None:
    """A short while, longer with each attempt, never the same for two agents."""
    await asyncio.sleep(random.uniform(0, PAUSE_S * 2**attempt))
