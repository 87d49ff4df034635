"""The document's entry points: one question in one request, a durable task, a locked one."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
import uuid
from typing import Any, Final, NotRequired, TypedDict

from pydantic import JsonValue

from edgestate.agent import Agent
from edgestate.d1 import D1StateStore
from edgestate.errors import SessionNotFound, StateError, TaskBusy, TaskNotFound
from edgestate.failures import RateLimited, StepFailed
from edgestate.keeper import unhurried
from edgestate.keys import check_id
from edgestate.memory import MemoryStateStore
from edgestate.models import TaskState, VersionedTaskState
from edgestate.recovery import find_resumable_task
from edgestate.run import Run
from edgestate.sessions import open_session
from edgestate.store import StateStore
from edgestate.traits import Lease

logger = logging.getLogger(__name__)

CONFLICT_MESSAGE: Final = "任务正在执行中，请稍后再试"
WAITING_MESSAGE: Final = "a step waits for a decision"
WAIT_STEP_S: Final = 0.05


class Answer(str):
    """The agent's text; `outcome` says how it came about.

    Shape: `outcome` is "answered", "done", "iteration_limit" or "degraded".
    """

    outcome: str

    def __new__(cls, text: str, outcome: str) -> Answer:
        answer = super().__new__(cls, text)
        answer.outcome = outcome
        return answer


class LockedRun(TypedDict):
    """`status` is "completed", "conflict", "waiting_tool" or "failed" (a degraded answer)."""

    status: str
    message: NotRequired[str]
    result: NotRequired[JsonValue]


async def run_agent(user_input: str, env: Any, *, agent: Agent) -> Answer:
    """The agent's answer to one question, whose state ends with the request.

    Shape: `env` is what the agent's tools may need; it is the document's argument and not read.
    """
    store = MemoryStateStore()
    await open_session("request", "request", store)
    task = await run_agent_with_state(user_input, "request", store, agent=agent)
    text = task.result if isinstance(task.result, str) else ""
    return Answer(text, task.outcome or "done")


async def get_or_create_task(
    store: StateStore,
    session_id: str,
    user_input: str,
    *,
    agent: Agent,
    request_id: str | None = None,
) -> VersionedTaskState:
    """The task of this request, stored: the same one however often and fast it is asked for.

    Shape: without `request_id` the session's unfinished task goes on, whatever it is about; if
    there is none, equal questions that come at once make one task.
    Errors: SessionNotFound; TaskQuarantined if a record of the session cannot be read.
    """
    if request_id is None:
        unfinished = await find_resumable_task(store, session_id)
        if unfinished is not None:
            return unfinished
        request_id = await _request_id(store, session_id, user_input)
    return await store.create_task(await _new_task(session_id, user_input, agent, request_id))


async def _request_id(store: StateStore, session_id: str, user_input: str) -> str:
    """The same for equal questions that come at once, another one for the next."""
    number = len(await store.get_tasks_by_session(session_id))
    digest = hashlib.sha256(user_input.encode()).hexdigest()
    return f"auto-{number}-{digest[:16]}"


async def _new_task(session_id: str, user_input: str, agent: Agent, request_id: str) -> TaskState:
    steps = await agent.first_steps(user_input)
    return TaskState(
        task_id=str(uuid.uuid4()),
        session_id=session_id,
        goal=user_input,
        request_id=request_id,
        steps=steps,
        total_steps=len(steps),
        prompt=agent.prompt(user_input) if agent.model is not None else [],
    )


async def run_agent_with_state(
    user_input: str,
    session_id: str,
    store: StateStore,
    *,
    agent: Agent,
    request_id: str | None = None,
    wait_s: float = 0,
) -> VersionedTaskState:
    """The session's task at its end, or waiting for a person; it goes on where it was.

    Shape: with `wait_s`, a task that someone else works on is waited for.
    Errors: as of `run_task`; SessionNotFound; TaskQuarantined.
    """
    if request_id is None or not store.traits.leases:
        if await store.get_session(session_id) is None:
            raise SessionNotFound(session_id)
        task = await get_or_create_task(
            store, session_id, user_input, agent=agent, request_id=request_id
        )
        return await run_task(task, store, agent=agent, wait_s=wait_s)
    check_id("session", session_id)
    holder_id = str(uuid.uuid4())
    draft = await _new_task(session_id, user_input, agent, request_id)
    lease, task = await store.start_task(draft, holder_id, ttl_s=agent.lease_ttl_s)
    if lease is None:
        return await run_task(task, store, agent=agent, wait_s=wait_s)
    return await _drive(Run(agent, store, task, lease), store, lease)


async def run_task(
    task: VersionedTaskState,
    store: StateStore,
    *,
    agent: Agent,
    holder_id: str | None = None,
    wait_s: float = 0,
) -> VersionedTaskState:
    """`task` at its end, or waiting for a person; run from where it stands, under a lease.

    Errors: TaskBusy if someone else works on it; StepFailed, also for one that failed before;
    RateLimited (a later run goes on); TaskInterrupted; FenceLost, LeaseLost.
    """
    deadline = time.monotonic() + wait_s
    while True:
        if task.is_over or task.status == "waiting_tool":
            return _ended(task)
        try:
            return await _run_once(task, store, agent, holder_id or str(uuid.uuid4()))
        except TaskBusy:
            if time.monotonic() >= deadline:
                raise
        await asyncio.sleep(WAIT_STEP_S)
        newest = await store.get_task(task.task_id)
        if newest is None:
            raise TaskNotFound(task.task_id)
        task = newest


def _ended(task: VersionedTaskState) -> VersionedTaskState:
    if task.status == "failed" and task.outcome == "step_failed":
        failed = task.first_open_step()
        raise StepFailed(task.task_id, failed, task.error or "")
    return task


async def _run_once(
    task: VersionedTaskState, store: StateStore, agent: Agent, holder_id: str
) -> VersionedTaskState:
    if not store.traits.leases:
        return await Run(agent, store, task, None).drive()
    claimed = await store.claim_task(task.task_id, holder_id, ttl_s=agent.lease_ttl_s)
    if claimed is None:
        raise TaskBusy(task.task_id)
    lease, newest = claimed
    return await _drive(Run(agent, store, newest, lease), store, lease)


async def _drive(run: Run, store: StateStore, lease: Lease) -> VersionedTaskState:
    try:
        return await run.drive()
    finally:
        # Not on a kill: then the lease ends by itself.
        if not run.is_released:
            await unhurried(store.release_lease(lease.task_id, lease.holder))


async def run_agent_with_lock(
    user_input: str,
    session_id: str,
    env: Any,
    *,
    agent: Agent,
    store: StateStore | None = None,
    request_id: str | None = None,
    wait_s: float = 0,
) -> LockedRun:
    """How the task of this request stands, after a run that nobody else ran beside.

    Shape: `env.DB` holds the state unless `store` is given. `conflict` with the document's
    message while someone else runs it.
    Errors: as of `run_agent_with_state`, TaskBusy excepted.
    """
    try:
        task = await run_agent_with_state(
            user_input,
            session_id,
            store or D1StateStore(env.DB),
            agent=agent,
            request_id=request_id,
            wait_s=wait_s,
        )
    except TaskBusy:
        return {"status": "conflict", "message": CONFLICT_MESSAGE}
    if task.status == "waiting_tool":
        return {"status": "waiting_tool", "message": WAITING_MESSAGE}
    return {"status": task.status, "result": task.result}


class Resumed(TypedDict):
    """Ids of the tasks that a sweep ran, and the errors of those that it could not."""

    resumed: list[str]
    failed: dict[str, str]


async def resume_abandoned_tasks(store: StateStore, *, agent: Agent, limit: int = 10) -> Resumed:
    """At most `limit` unfinished tasks that nobody holds went on, each on its own.

    For a worker's `scheduled`: no client is needed. A task that fails does not keep the next
    from running; one that never gets anywhere is set aside.
    """
    resumed: list[str] = []
    failed: dict[str, str] = {}
    for task_id in await store.find_abandoned_tasks(max_claims=agent.max_claims, limit=limit):
        try:
            task = await store.get_task(task_id)
            if task is None:
                continue
            await run_task(task, store, agent=agent)
        except (TaskBusy, RateLimited):
            continue
        except StateError as error:
            failed[task_id] = str(error)
            logger.warning("task not resumed", extra={"task": task_id, "error": error.code})
            continue
        resumed.append(task_id)
    return {"resumed": resumed, "failed": failed}
