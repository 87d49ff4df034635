"""Sessions and tasks over HTTP: which route does what, and what it answers."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from workers import Request, Response

from edgestate import (
    DecisionConflict,
    FenceLost,
    InvalidId,
    LeaseLost,
    PlannedStep,
    SessionNotFound,
    StepFailed,
    StepNotFound,
    StepNotWaiting,
    StoreUnavailable,
    TaskBusy,
    TaskInterrupted,
    TaskNotFound,
    TaskQuarantined,
    TaskState,
    VersionedTaskState,
    resolve_step,
    run_task,
)
from trip_agent.fields import nested, optional_text, read_object, text
from trip_agent.plan import plan_trip
from trip_agent.refusal import Refusal, bad_request, not_found
from trip_agent.service import agent_of, lease_s_of, store_of
from trip_agent.sessions import Sessions
from trip_agent.view import OPTIONS, json_response, tag_of, tagged, task_view

WAIT_BEYOND_LEASE_S = 5.0
"""A request waits this much longer than a lease: the worker that had the task may be dead."""

STATE_ERRORS: dict[type[Exception], tuple[int, str]] = {
    InvalidId: (404, "id_unknown"),
    TaskNotFound: (404, "task_unknown"),
    SessionNotFound: (410, "SESSION_EXPIRED"),
    TaskQuarantined: (409, "task_quarantined"),
    StoreUnavailable: (503, "store_unavailable"),
}


class Api:
    """Answers each request in JSON; an error is {"error": {"code", "message"}}."""

    def __init__(self, env: Any) -> None:
        self._env = env
        self._store = store_of(env)
        self._sessions = Sessions(self._store, env.SESSIONS, env.DB)

    async def answer(self, request: Request) -> Response:
        """The answer to `request`."""
        try:
            return await self._route(request)
        except Refusal as refusal:
            refused = refusal
        except tuple(STATE_ERRORS) as error:
            status, code = STATE_ERRORS[type(error)]
            refused = Refusal(status, code, str(error))
        said = {"error": {"code": refused.code, "message": refused.message}}
        headers = {"allow": refused.allow} if refused.allow else None
        return json_response(said, status=refused.status, headers=headers)

    async def _route(self, request: Request) -> Response:
        path = urlsplit(request.url).path.rstrip("/") or "/"
        allowed = []
        for method, template, handler in ROUTES:
            parts = _match(template, path)
            if parts is None:
                continue
            if method == request.method:
                return await handler(self, request, **parts)
            allowed.append(method)
        if allowed:
            methods = ", ".join(allowed)
            raise Refusal(405, "method_unknown", f"{path} answers to {methods}.", allow=methods)
        raise not_found("route_unknown", f"There is nothing at {path}.")

    async def describe(self, request: Request) -> Response:
        """What this service answers to."""
        return json_response(
            {"service": "trip agent", "routes": [f"{m} {path}" for m, path, _ in ROUTES]}
        )

    async def create_session(self, request: Request) -> Response:
        """A new session, which lives for 24 hours from its last use."""
        user_id = text(await read_object(request), "userId")
        return json_response(await self._sessions.create(user_id), status=HTTPStatus.CREATED)

    async def get_session(self, request: Request, session_id: str) -> Response:
        """A session as it is now."""
        return json_response(await self._sessions.get(session_id))

    async def list_tasks(self, request: Request, session_id: str) -> Response:
        """The tasks of a session, oldest first."""
        await self._sessions.get(session_id)
        tasks = await self._store.get_tasks_by_session(session_id)
        return tagged(request, tag_of(tasks), {"tasks": [task_view(task) for task in tasks]})

    async def post_task(self, request: Request, session_id: str) -> Response:
        """Run a task as far as it goes; the same request sent again goes on with the same task.

        `requestId` tells two requests apart; without one, requests with equal bodies are the same.
        """
        body = await read_object(request)
        goal = text(body, "goal")
        steps = plan_trip(goal, nested(body, "trip"))
        request_id = optional_text(body, "requestId") or _digest(body)
        await self._sessions.enter(session_id)
        draft = await self._draft(session_id, goal, request_id, steps)
        task = await self._store.create_task(draft)
        created = task.task_id == draft.task_id
        if created:
            await self._sessions.count_message(session_id)
        elif _asked(task) != _asked(draft):
            raise Refusal(
                409, "request_id_reused", "This requestId belongs to a task with another content."
            )
        task = await self._run(task)
        return _answer(task, done=HTTPStatus.CREATED if created else HTTPStatus.OK)

    async def _draft(
        self, session_id: str, goal: str, request_id: str, steps: Sequence[PlannedStep]
    ) -> TaskState:
        planned = await agent_of(self._env, steps).first_steps(goal)
        return TaskState(
            task_id=uuid.uuid4().hex,
            session_id=session_id,
            goal=goal,
            # A text may be no id: of any text, this is one.
            request_id=hashlib.sha256(request_id.encode()).hexdigest(),
            steps=planned,
            total_steps=len(planned),
        )

    async def get_task(self, request: Request, task_id: str) -> Response:
        """A task as it is stored now; nothing is run."""
        task = await self._task(task_id)
        return tagged(request, tag_of([task]), task_view(task))

    async def decide(self, request: Request, task_id: str, index: str) -> Response:
        """Settle a step whose outcome is unknown, or that failed, and go on."""
        body = await read_object(request)
        said = text(body, "decision")
        decision = next((option for option in OPTIONS if option == said), None)
        if decision is None:
            raise bad_request(
                "field_invalid", 'The field "decision" must be "retry", "skip" or "done".'
            )
        output: Any = nested(body, "output") if body.get("output") is not None else {"done": True}
        task = await self._task(task_id)
        try:
            step_index = int(index) if index.isdecimal() else -1
            task = await resolve_step(self._store, task, step_index, decision, output)
        except (StepNotFound, StepNotWaiting, DecisionConflict) as error:
            raise Refusal(409, "no_decision_needed", str(error)) from error
        return _answer(await self._run(task), done=HTTPStatus.OK)

    async def _task(self, task_id: str) -> VersionedTaskState:
        try:
            task = await self._store.get_task(task_id)
        except InvalidId:
            task = None
        if task is None:
            raise not_found("task_unknown", "There is no task with this id.")
        return task

    async def _run(self, task: VersionedTaskState) -> VersionedTaskState:
        """The task after a run, by us or by whoever has it: at its end, or as far as it is."""
        wait_s = lease_s_of(self._env) + WAIT_BEYOND_LEASE_S
        try:
            return await run_task(task, self._store, agent=agent_of(self._env), wait_s=wait_s)
        except (StepFailed, TaskBusy, TaskInterrupted, FenceLost, LeaseLost):
            return await self._task(task.task_id)


Handler = Callable[..., Awaitable[Response]]

ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/", Api.describe),
    ("POST", "/sessions", Api.create_session),
    ("GET", "/sessions/{session_id}", Api.get_session),
    ("GET", "/sessions/{session_id}/tasks", Api.list_tasks),
    ("POST", "/sessions/{session_id}/tasks", Api.post_task),
    ("GET", "/tasks/{task_id}", Api.get_task),
    ("POST", "/tasks/{task_id}/steps/{index}/decision", Api.decide),
)


def _match(template: str, path: str) -> dict[str, str] | None:
    """The named parts of `path` if it has the form of `template`."""
    names, parts = template.split("/"), path.split("/")
    if len(names) != len(parts):
        return None
    found = {}
    for name, part in zip(names, parts, strict=True):
        if name.startswith("{"):
            found[name[1:-1]] = part
        elif name != part:
            return None
    return found


def _asked(task: TaskState) -> tuple[str, list[Any]]:
    return task.goal, [step.input for step in task.steps]


def _digest(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _answer(task: VersionedTaskState, *, done: HTTPStatus) -> Response:
    """The task: 202 while it runs elsewhere or waits for a decision, 422 if it failed."""
    status = {"completed": done, "failed": HTTPStatus.UNPROCESSABLE_ENTITY}
    headers = {"etag": tag_of([task])}
    return json_response(
        task_view(task), status=status.get(task.status, HTTPStatus.ACCEPTED), headers=headers
    )
