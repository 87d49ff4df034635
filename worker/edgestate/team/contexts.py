"""Message zero, frozen contexts, and work cycles that say which one they are based on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from edgestate import clock
from edgestate.errors import StateError, TaskNotFound, VersionConflict
from edgestate.keys import check_id
from edgestate.team.board_rows import LANES, lane_of
from edgestate.team.context_keys import context_key
from edgestate.team.desk import Desk
from edgestate.team.errors import ContextConflictError, ContextExists, UnknownContext
from edgestate.team.messages import EVERYONE, RESYNC_REQUESTED, Messages
from edgestate.team.record import says
from edgestate.team.sql import contexts as sql
from edgestate.team.sql import messages as messages_sql
from edgestate.team.sql.writing import SELECT_POINTER
from edgestate.team.tracing import trace_id
from edgestate.team.writes import Cycle, Write, request_of, text_of


@dataclass(frozen=True, slots=True)
class Context:
    """A frozen context: it never changes."""

    task_id: str
    version: int
    context_id: str
    parent_id: str | None
    payload: JsonValue

    @property
    def cycle(self) -> Cycle:
        """A cycle that is based on it."""
        return Cycle(self.task_id, self.version, self.context_id)


class Contexts:
    """What the team knows about a goal, in versions."""

    def __init__(self, desk: Desk, *, lane_count: int = LANES) -> None:
        self._desk = desk
        self._lane_count = lane_count
        self._messages = Messages(desk)

    async def begin(
        self,
        task_id: str,
        kind: str,
        context: JsonValue,
        *,
        input: JsonValue = None,
        request_id: str | None = None,
    ) -> Cycle:
        """The goal `task_id` exists, with its first context frozen and message zero sent.

        Only the planner begins one; doing it again with the same content changes nothing.
        Errors: AccessDenied; ContextExists for the same goal with another content.
        """
        key, payload = context_key(task_id, 1), text_of(context)
        lane = lane_of(task_id, self._lane_count)
        now = clock.now_ms()
        root = (task_id, kind, text_of(input), lane, self._lane_count, self._desk.me, now)
        zero = (f"message-zero-{task_id}", self._desk.me, EVERYONE, "context")
        content = text_of({"context_id": key, "task_id": task_id})
        write = Write(
            "begin",
            task_id,
            [task_id, kind, context, input],
            (
                says(sql.CREATE_ROOT, *root, trace_id()),
                says(sql.INSERT_CONTEXT, task_id, 1, key, payload, _checksum(payload), 1, now),
                says(
                    messages_sql.SEND,
                    *(*zero, content, now, trace_id(), key, None, zero[0], trace_id()),
                ),
            ),
            roles=("planner",),
        )

        async def why(reason: str) -> StateError:
            if reason == "append_only":
                return ContextExists(task_id, 1)
            return VersionConflict(task_id, 0, None)

        await self._desk.write(
            write, request_id=request_id or request_of("begin", task_id), refused=why
        )
        return Cycle(task_id, 1, key)

    async def draft(self, cycle: Cycle, context: JsonValue) -> int:
        """The planner's next context of the goal is `context`, until it is frozen; its version.

        Errors: AccessDenied; ContextConflictError if another context was frozen meanwhile.
        """
        version = cycle.version + 1
        payload = text_of(context)
        key = context_key(cycle.task_id, version)
        values = (key, payload, _checksum(payload), 0, clock.now_ms())
        write = Write(
            "draft",
            cycle.task_id,
            [cycle.task_id, version, context],
            (says(sql.UPSERT_DRAFT, cycle.task_id, version, *values), says(sql.GUARD_FREEZE)),
            roles=("planner",),
            cycle=cycle,
        )
        await self._desk.write(write)
        return version

    async def freeze_context(
        self, task_id: str, version: int, *, context: JsonValue | None = None
    ) -> int:
        """The draft of that version is frozen and the goal points at it; the version.

        Shape: `context`, if given, is what must have been frozen. The pointer moves by one and
        never back. Freezing what is frozen already, with the same content, changes nothing.
        Errors: ContextExists for another content; ContextConflictError if `version` is not the
        next one; UnknownContext if nothing was drafted, or the goal is completed; TaskNotFound;
        AccessDenied for all but the planner.
        """
        (rows,) = await self._desk.read(says(sql.SELECT_CONTEXT, task_id, version))
        if rows and rows[0]["frozen"]:
            if context is not None and text_of(context) != rows[0]["payload"]:
                raise ContextExists(task_id, version)
            return version
        now, key = clock.now_ms(), context_key(task_id, version)
        first = [says(sql.FREEZE, task_id, version, now), says(sql.GUARD_FREEZE)]
        if context is not None:
            payload = text_of(context)
            values = (task_id, version, key, payload, _checksum(payload), 0, now)
            first = [says(sql.UPSERT_DRAFT, *values), says(sql.GUARD_FREEZE), *first]
        write = Write(
            "freeze",
            task_id,
            [task_id, version, context],
            (
                *first,
                says(sql.MOVE_POINTER, task_id, version, self._desk.me, now),
                says(sql.GUARD_POINTER),
            ),
            roles=("planner",),
        )

        async def why(_reason: str) -> StateError:
            current = await self.current_version(task_id)
            if current != version - 1:
                return ContextConflictError(version - 1, current)
            # The next one it is: there is no draft of it, or the goal is reached.
            return UnknownContext(key)

        await self._desk.write(write, refused=why)
        return version

    async def read_context(
        self, task_id: str, expected_version: int, *, pinned: bool = False
    ) -> JsonValue:
        """The context of that version, if it is the newest; with `pinned` also an older one.

        Who reads a pinned one may finish thinking, and not commit: writes check the pointer.
        Errors: ContextConflictError with the document's text; TaskNotFound if there is no such
        goal: contexts are those of goals, also for who works on a subtask.
        """
        current = await self.current_version(task_id)
        if current != expected_version and not (pinned and 1 <= expected_version < current):
            raise ContextConflictError(expected_version, current)
        (rows,) = await self._desk.read(says(sql.SELECT_CONTEXT, task_id, expected_version))
        return _context(rows[0]).payload

    async def current_version(self, task_id: str) -> int:
        """The version that a goal points at. Errors: TaskNotFound."""
        (rows,) = await self._desk.read(says(SELECT_POINTER, check_id("task", task_id)))
        if not rows:
            raise TaskNotFound(task_id)
        version: int = rows[0]["context_version"]
        return version

    async def begin_cycle(self, agent: str, context_id: str) -> Context:
        """`agent` works under that context from now on; it is the newest of its goal.

        Errors: AccessDenied if `agent` is not who the server says; UnknownContext;
        ContextConflictError if there is a newer one: sync first.
        """
        await self._desk.must_be_me(agent, "begin a cycle")
        (rows,) = await self._desk.read(says(sql.SELECT_CONTEXT_BY_ID, context_id))
        if not rows or not rows[0]["frozen"]:
            raise UnknownContext(context_id)
        if rows[0]["version"] != rows[0]["context_version"]:
            raise ContextConflictError(rows[0]["version"], rows[0]["context_version"])
        return _context(rows[0])

    async def request_resync(
        self, planner: str, conflict: ContextConflictError, task_id: str
    ) -> int:
        """The planner is asked to bring the task under the newest context."""
        content: JsonValue = {"task_id": task_id, "seen": str(conflict.expected)}
        return await self._messages.send(planner, RESYNC_REQUESTED, content)


def _context(row: Any) -> Context:
    payload = json.loads(row["payload"])
    return Context(row["task_id"], row["version"], row["context_id"], row["parent_id"], payload)


def _checksum(payload: str) -> str:
    return hashlib.sha256(payload.encode()).hexdigest()
