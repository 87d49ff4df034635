"""The first seed document's own code, in Python and with its faults: what not to do.

A transcription, line by line, of its sections 4 and 6 to 8. The three functions that it uses and
never defines (`findResumableTask`, `createNewTask`, `executeStep`) are the plainest ones that fit.
Nothing in the product imports this.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

Task = dict[str, Any]
ExecuteStep = Callable[[Task], Awaitable[Any]]


def iso_now() -> str:
    return datetime.now(UTC).isoformat()


# --- section 4 ---


def session_key(session_id: str) -> str:
    return f"agent:session:{session_id}"


def task_key(task_id: str) -> str:
    return f"agent:task:{task_id}"


def session_tasks_key(session_id: str) -> str:
    return f"agent:session:{session_id}:tasks"


class KVStateStore:
    def __init__(self, kv: Any) -> None:
        self.kv = kv

    async def get_task(self, task_id: str) -> Task | None:
        data = await self.kv.get(task_key(task_id))
        return json.loads(data) if data else None

    async def save_task(self, task: Task) -> None:
        await self.kv.put(task_key(task["taskId"]), json.dumps(task))
        index_key = session_tasks_key(task["sessionId"])
        index_data = await self.kv.get(index_key)
        task_ids: list[str] = json.loads(index_data) if index_data else []
        if task["taskId"] not in task_ids:
            task_ids.append(task["taskId"])
            await self.kv.put(index_key, json.dumps(task_ids))

    async def get_tasks_by_session(self, session_id: str) -> list[Task]:
        index_data = await self.kv.get(session_tasks_key(session_id))
        if not index_data:
            return []
        tasks: list[Task] = []
        for task_id in json.loads(index_data):
            task = await self.get_task(task_id)
            if task:
                tasks.append(task)
        return tasks


# --- section 6 ---


class StateCheckpoint:
    def __init__(self, store: KVStateStore, task: Task) -> None:
        self.dirty = False
        self.store = store
        self.task = task

    def mark_dirty(self) -> None:
        self.dirty = True

    def get_task(self) -> Task:
        return self.task

    def update_step(self, step_index: int, update: dict[str, Any]) -> None:
        self.task["steps"][step_index] = {**self.task["steps"][step_index], **update}
        self.dirty = True

    async def flush(self) -> None:
        if not self.dirty:
            return
        self.task["updatedAt"] = iso_now()
        await self.store.save_task(self.task)
        self.dirty = False


async def find_resumable_task(store: KVStateStore, session_id: str) -> Task | None:
    tasks = await store.get_tasks_by_session(session_id)
    return next((t for t in tasks if t["status"] not in ("completed", "failed")), None)


def create_new_task(session_id: str, user_input: str, steps: int) -> Task:
    return {
        "taskId": f"task-of-{session_id}",
        "sessionId": session_id,
        "goal": user_input,
        "status": "planned",
        "currentStep": 0,
        "totalSteps": steps,
        "steps": [
            {
                "stepIndex": n,
                "action": "act",
                "input": {"n": n},
                "output": None,
                "status": "pending",
            }
            for n in range(steps)
        ],
        "createdAt": iso_now(),
        "updatedAt": iso_now(),
    }


async def run_agent_with_state(
    user_input: str, session_id: str, store: KVStateStore, execute_step: ExecuteStep, steps: int
) -> None:
    existing_task = await find_resumable_task(store, session_id)
    task = existing_task or create_new_task(session_id, user_input, steps)
    checkpoint = StateCheckpoint(store, task)
    if not existing_task:
        await checkpoint.flush()
    for i in range(task["currentStep"], task["totalSteps"]):
        checkpoint.update_step(i, {"status": "running", "startedAt": iso_now()})
        try:
            result = await execute_step(task["steps"][i])
            checkpoint.update_step(
                i, {"status": "success", "output": result, "completedAt": iso_now()}
            )
        except Exception as err:
            checkpoint.update_step(i, {"status": "failed", "error": str(err)})
            await checkpoint.flush()
            raise
        checkpoint.mark_dirty()
        if i % 3 == 0:
            await checkpoint.flush()
    checkpoint.get_task()["status"] = "completed"
    await checkpoint.flush()


# --- section 7 ---


async def save_task_with_version(kv: Any, task: Task) -> dict[str, Any]:
    key = f"agent:task:{task['taskId']}"
    existing = await kv.get(key)
    if existing:
        parsed = json.loads(existing)
        if parsed["version"] != task["version"]:
            return {"success": False, "currentVersion": parsed["version"]}
    next_version = task["version"] + 1
    await kv.put(key, json.dumps({**task, "version": next_version}))
    return {"success": True}


# --- section 8 ---


async def acquire_task_lock(kv: Any, task_id: str, holder_id: str, ttl_seconds: int = 30) -> bool:
    lock_key = f"agent:lock:{task_id}"
    await kv.put(lock_key, holder_id, expirationTtl=ttl_seconds, metadata={"holder": holder_id})
    current = await kv.getWithMetadata(lock_key)
    return bool(current["metadata"] and current["metadata"]["holder"] == holder_id)


async def release_task_lock(kv: Any, task_id: str, holder_id: str) -> None:
    lock_key = f"agent:lock:{task_id}"
    current = await kv.getWithMetadata(lock_key)
    if current["metadata"] and current["metadata"]["holder"] == holder_id:
        await kv.delete(lock_key)
