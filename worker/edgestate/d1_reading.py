"""Tasks and tool states read from D1; what is not whole is set aside."""

from __future__ import annotations

import logging
from typing import Any

from edgestate import d1_rows, sql
from edgestate.bindings import D1Binding, KVBinding
from edgestate.blobs import Blobs
from edgestate.d1_call import Rows
from edgestate.d1_leases import D1Leases
from edgestate.errors import CorruptRecord, TaskQuarantined
from edgestate.keys import check_id
from edgestate.models import ToolState, VersionedTaskState
from edgestate.traits import Lifetimes

logger = logging.getLogger(__name__)


class D1Reading(D1Leases):
    """The part of `D1StateStore` that reads tasks."""

    def __init__(self, db: D1Binding, lifetimes: Lifetimes, blobs: KVBinding | None) -> None:
        super().__init__(db, lifetimes)
        self._blobs = Blobs(blobs, lifetimes.ttl_s)

    async def get_task(self, task_id: str) -> VersionedTaskState | None:
        check_id("task", task_id)
        rows, steps = await self._d1.batch(
            [self._d1.bound(sql.SELECT_TASK, task_id), self._d1.bound(sql.SELECT_STEPS, task_id)]
        )
        return await self._whole_task(rows[0], steps) if rows else None

    async def _whole_task(self, row: Any, steps: Rows) -> VersionedTaskState:
        task_id: str = row["id"]
        if row["quarantine_reason"] is not None:
            raise TaskQuarantined(task_id, row["quarantine_reason"])
        try:
            return d1_rows.task_from_rows(row, await self._blobs.filled(task_id, steps))
        except CorruptRecord as error:
            await self.quarantine_task(task_id, error.reason)
            raise TaskQuarantined(task_id, error.reason) from error

    async def _readable(self, rows: Rows, steps: Rows) -> list[VersionedTaskState]:
        by_task: dict[str, Rows] = {}
        for step in steps:
            by_task.setdefault(step["task_id"], []).append(step)
        tasks: list[VersionedTaskState] = []
        for row in rows:
            try:
                tasks.append(await self._whole_task(row, by_task.get(row["id"], [])))
            except TaskQuarantined as error:
                logger.warning("task left out", extra={"task": row["id"], "why": error.reason})
        return tasks

    async def get_tasks_by_session(self, session_id: str) -> list[VersionedTaskState]:
        check_id("session", session_id)
        rows, steps = await self._d1.batch(
            [
                self._d1.bound(sql.SELECT_TASKS_OF_SESSION, session_id),
                self._d1.bound(sql.SELECT_STEPS_OF_SESSION, session_id),
            ]
        )
        return await self._readable(rows, steps)

    async def get_failed_tasks(self, session_id: str | None = None) -> list[VersionedTaskState]:
        if session_id is not None:
            check_id("session", session_id)
        rows, steps = await self._d1.batch(
            [
                self._d1.bound(sql.SELECT_FAILED_TASKS, session_id),
                self._d1.bound(sql.SELECT_STEPS_OF_FAILED_TASKS, session_id),
            ]
        )
        return await self._readable(rows, steps)

    async def get_tool_state(self, task_id: str, tool_name: str) -> ToolState | None:
        check_id("task", task_id)
        check_id("tool", tool_name)
        rows = await self._d1.rows(sql.SELECT_TOOL, task_id, tool_name)
        return d1_rows.tool_from_row(rows[0]) if rows else None

    async def quarantine_task(self, task_id: str, reason: str) -> None:
        check_id("task", task_id)
        logger.error("task quarantined", extra={"task": task_id, "why": reason})
        await self._d1.rows(sql.QUARANTINE, task_id, reason)

    async def list_quarantined(self, session_id: str | None = None) -> dict[str, str]:
        rows = await self._d1.rows(sql.SELECT_QUARANTINED, session_id)
        return {row["id"]: row["quarantine_reason"] for row in rows}
