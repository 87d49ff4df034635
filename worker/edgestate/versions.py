"""Saving a task only if nobody else changed it first."""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import Awaitable, Callable
from typing import Final, NotRequired, TypedDict

from edgestate.errors import FenceLost, TaskNotFound, Unsupported, VersionConflict
from edgestate.models import VersionedTaskState
from edgestate.store import StateStore

JITTER_S: Final = 0.01

Change = Callable[[VersionedTaskState], Awaitable[None] | None]


class SaveResult(TypedDict):
    """`currentVersion` is the stored version; absent when there is no such task."""

    success: bool
    currentVersion: NotRequired[int]


async def save_task_with_version(kv: StateStore, task: VersionedTaskState) -> SaveResult:
    """`task` is stored if its version is the stored one, and its version is then the new one.

    Shape: `kv` is the document's name; it is a store with versions. A task that is not stored
    (it expired) is a conflict unless `task.version` is 0.
    Errors: Unsupported on a store without versions.
    """
    if not kv.traits.versions:
        why = "it has no compare-and-set, so the check could be too late.  Use a D1StateStore."
        raise Unsupported(kv.traits.name, "versions", why)
    try:
        await kv.save_task(task)
    except (VersionConflict, FenceLost):
        stored = await kv.get_task(task.task_id)
        if stored is None:
            return {"success": False}
        return {"success": False, "currentVersion": stored.version}
    return {"success": True, "currentVersion": task.version}


async def update_task(
    store: StateStore, task_id: str, change: Change, *, retries: int = 8
) -> VersionedTaskState:
    """The task with `change` made to its newest version, and stored.

    Shape: `change` alters the task that it is given, and may run several times: after each
    conflict on what was stored meanwhile, with a random pause.
    Errors: TaskNotFound; VersionConflict after `retries` conflicts.
    """
    for attempt in range(retries + 1):
        task = await store.get_task(task_id)
        if task is None:
            raise TaskNotFound(task_id)
        done = change(task)
        if inspect.isawaitable(done):
            await done
        try:
            task.version = await store.commit(task, range(len(task.steps)))
        except VersionConflict:
            if attempt == retries:
                raise
            await asyncio.sleep(random.uniform(0, JITTER_S * 2**attempt))
            continue
        return task
    raise AssertionError("unreachable")
