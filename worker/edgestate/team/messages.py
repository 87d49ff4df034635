"""What agents tell each other: never changed, never removed, had in order, acted on once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from edgestate import clock
from edgestate.errors import StateError, StoreRejected, TaskNotFound, VersionConflict
from edgestate.keys import check_id
from edgestate.team.desk import Desk
from edgestate.team.errors import AlreadyConsumed, RecipientUnknown
from edgestate.team.record import says
from edgestate.team.sql import messages as sql
from edgestate.team.tracing import trace_id
from edgestate.team.writes import Cycle, Write, new_id, text_of

EVERYONE: Final = "*"
RESYNC_REQUESTED: Final = "resync_requested"


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it was sent.

    Shape: `seq` orders all messages; `timestamp` in ms since the epoch, for people.
    """

    seq: int
    id: str
    source_agent_id: str
    target_agent_id: str
    message_type: str
    content: JsonValue
    timestamp: int
    correlation_id: str
    context_id: str | None
    corrects_id: str | None
    trace_id: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about a task, by whom, why, and under which context."""

    seq: int
    task_id: str
    agent_id: str
    decision: str
    reason: str
    context_version: int
    created_at: int


class Messages:
    """The messages that an agent sends and gets."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def sending(
        self,
        target_agent_id: str,
        message_type: str,
        content: JsonValue,
        *,
        correlation_id: str | None = None,
        message_id: str | None = None,
        cycle: Cycle | None = None,
    ) -> Write:
        """The write that sends a message, to be made alone or as the effect of another."""
        check_id("message type", message_type)
        message_id = message_id or new_id("message")
        values = (
            message_id,
            self._desk.me,
            target_agent_id,
            message_type,
            text_of(content),
            clock.now_ms(),
            correlation_id or trace_id(),
            None if cycle is None else cycle.context_id,
            None,
            message_id,
            trace_id(),
        )
        return Write(
            "send",
            target_agent_id,
            [target_agent_id, message_type, content, correlation_id],
            (says(sql.SEND, *values),),
            answer=says(sql.ANSWER_SENT, message_id),
            cycle=cycle,
        )

    async def send(
        self,
        target_agent_id: str,
        message_type: str,
        content: JsonValue,
        *,
        correlation_id: str | None = None,
        cycle: Cycle | None = None,
        request_id: str | None = None,
    ) -> int:
        """The sequence number of a message that was sent, once however often this is called.

        Shape: `target_agent_id` is an agent or "*"; the sender is the agent itself;
        `correlation_id` is the trace's id unless given.
        Errors: RecipientUnknown if nobody would get it; ContextConflictError.
        """
        write = self.sending(
            target_agent_id,
            message_type,
            content,
            correlation_id=correlation_id,
            message_id=None if request_id is None else f"message-{request_id}",
            cycle=cycle,
        )
        answer = await self._desk.write(write, request_id=request_id, refused=self._why(write.what))
        seq: int = answer["seq"]
        return seq

    async def correct(
        self, message: Message, content: JsonValue, *, request_id: str | None = None
    ) -> int:
        """The sequence number of a new message that corrects `message`, which stays as it is.

        Errors: AccessDenied if another agent sent it.
        """
        message_id = new_id("message") if request_id is None else f"message-{request_id}"
        values = (
            message_id,
            self._desk.me,
            text_of(content),
            clock.now_ms(),
            None,
            message_id,
            trace_id(),
            message.id,
        )
        write = Write(
            "correct",
            message.id,
            [message.id, content],
            (says(sql.SEND_CORRECTION, *values), says(sql.GUARD_CORRECTION)),
            answer=says(sql.ANSWER_SENT, message_id),
        )
        answer = await self._desk.write(write, request_id=request_id)
        seq: int = answer["seq"]
        return seq

    async def poll(self, *, after: int = 0, limit: int = 50) -> list[Message]:
        """The messages to this agent past the cursor `after` that it has not consumed, in order.

        That they were delivered is written down. Nobody is told of a change: agents ask for what
        is newer than the last `seq` they have seen.
        """
        values = (self._desk.me, after, limit)
        _, rows = await self._desk.send(
            says(sql.DELIVER, *values, clock.now_ms()), says(sql.POLL, *values)
        )
        return [_message(row) for row in rows]

    async def consume(self, message: Message, *effects: Write) -> None:
        """`message` has had its `effects`, all in one transaction, and never has them again.

        Errors: AlreadyConsumed if it had them; AccessDenied if it was not delivered to this agent
        (`poll`); whatever refuses one of them.
        """
        me = self._desk.me
        statements = (
            says(sql.CONSUME, message.seq, me, clock.now_ms()),
            says(sql.GUARD_CONSUME),
        )
        what = f"message {message.seq}"
        write = Write("consume", what, message.seq, statements, effects=effects)

        async def why(reason: str) -> StateError:
            if reason == "already_consumed":
                (rows,) = await self._desk.read(says(sql.SELECT_DELIVERY, message.seq, me))
                if not rows:
                    return await self._desk.denied("consume", what)
                return AlreadyConsumed(message.seq, me)
            if reason == "recipient_unknown":
                return RecipientUnknown(what)
            return VersionConflict(write.what, 0, None)

        await self._desk.write(write, refused=why)

    async def correlated(self, correlation_id: str, *, limit: int = 1000) -> list[Message]:
        """The messages of one chain that this agent sent or got, in order; all, for the planner."""
        (rows,) = await self._desk.read(
            says(sql.SELECT_CORRELATED, self._desk.me, correlation_id, limit)
        )
        return [_message(row) for row in rows]

    def _why(self, target: str) -> Any:
        async def why(reason: str) -> StateError:
            if reason == "recipient_unknown":
                return RecipientUnknown(target)
            return VersionConflict(target, 0, None)

        return why


class Decisions:
    """What was decided, and why."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def deciding(
        self, task_id: str, decision: str, reason: str, *, cycle: Cycle | None = None
    ) -> Write:
        """The write that records a decision, to go with what was decided."""
        if not reason.strip():
            raise StoreRejected(f"a decision about {task_id} needs a reason.")
        values = (task_id, self._desk.me, decision, reason, clock.now_ms())
        return Write(
            "decide",
            task_id,
            [task_id, decision, reason],
            (says(sql.DECIDE, *values), says(sql.GUARD_DECIDED)),
            cycle=cycle,
        )

    async def record(
        self,
        task_id: str,
        decision: str,
        reason: str,
        *,
        cycle: Cycle | None = None,
        request_id: str | None = None,
    ) -> None:
        """The decision is written down, with the context that it was taken under.

        Errors: TaskNotFound; ContextConflictError.
        """
        write = self.deciding(task_id, decision, reason, cycle=cycle)

        async def why(_reason: str) -> StateError:
            return TaskNotFound(task_id)

        await self._desk.write(write, request_id=request_id, refused=why)

    async def of(self, task_id: str) -> Sequence[Decision]:
        """The decisions about a task and its subtasks, in order."""
        (rows,) = await self._desk.read(says(sql.SELECT_DECISIONS, task_id))
        return [
            Decision(**{name: row[name] for name in Decision.__dataclass_fields__}) for row in rows
        ]


def _message(row: Any) -> Message:
    fields = {name: row[name] for name in Message.__dataclass_fields__}
    return Message(**fields | {"content": json.loads(row["content"])})
