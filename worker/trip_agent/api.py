"""Sessions and tasks over HTTP: which route does what, and what it answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from workers import Request, Response

from trip_agent.fields import nested, optional_text, read_object, text
from trip_agent.models import Task
from trip_agent.plan import plan_trip
from trip_agent.refusal import Refusal, bad_request, not_found
from trip_agent.runner import DECISIONS, Runner
from trip_agent.sessions import Sessions
from trip_agent.tasks import Tasks, task_id_of
from trip_agent.travel import Travel


class Api:
    """Answers each request in JSON; an error is {"error": {"code", "message"}}."""

    def __init__(self, env: Any) -> None:
        self._sessions = Sessions(env.SESSIONS, env.DB)
        self._tasks = Tasks(env.DB)
        self._runner = Runner(self._tasks, Travel(env.TRAVEL_URL))

    async def answer(self, request: Request) -> Response:
        """The answer to `request`."""
        try:
            return await self._route(request)
        except Refusal as refusal:
            error = {"code": refusal.code, "message": refusal.message}
            headers = {"allow": refusal.allow} if refusal.allow else None
            return json_response({"error": error}, status=refusal.status, headers=headers)

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
        session = await self._sessions.create(user_id)
        return json_response(session.to_json(), status=HTTPStatus.CREATED)

    async def get_session(self, request: Request, session_id: str) -> Response:
        """A session as it is now."""
        session = await self._sessions.get(session_id)
        return json_response(session.to_json())

    async def list_tasks(self, request: Request, session_id: str) -> Response:
        """The tasks of a session, oldest first."""
        session = await self._sessions.get(session_id)
        tasks = await self._tasks.of_session(session.id)
        return json_response({"tasks": [task.to_json() for task in tasks]})

    async def post_task(self, request: Request, session_id: str) -> Response:
        """Run a task as far as it goes; the same request sent again goes on with the same task.

        `requestId` tells two requests apart; without one, requests with equal bodies are the same.
        """
        body = await read_object(request)
        goal, plan = text(body, "goal"), plan_trip(nested(body, "trip"))
        request_id = optional_text(body, "requestId") or _digest(body)
        session = await self._sessions.get(session_id)
        await self._sessions.touch(session)
        task, created = await self._tasks.create(
            task_id_of(session.id, request_id), session.id, goal=goal, plan=plan
        )
        if (task.goal, [dict(s.input) for s in task.steps]) != (
            goal,
            [dict(s.input) for s in plan],
        ):
            raise Refusal(
                409, "request_id_reused", "This requestId belongs to a task with another content."
            )
        task = await self._runner.run(task)
        return _answer(task, done=HTTPStatus.CREATED if created else HTTPStatus.OK)

    async def get_task(self, request: Request, task_id: str) -> Response:
        """A task as it is stored now; nothing is run."""
        task = await self._tasks.get(task_id)
        return json_response(task.to_json())

    async def decide(self, request: Request, task_id: str, index: str) -> Response:
        """Settle a step whose outcome is unknown, and go on."""
        body = await read_object(request)
        decision = text(body, "decision")
        if decision not in DECISIONS:
            raise bad_request(
                "field_invalid", 'The field "decision" must be "retry", "skip" or "done".'
            )
        output = nested(body, "output") if body.get("output") is not None else {"done": True}
        task = await self._tasks.get(task_id)
        task = await self._runner.decide(task, index, decision=decision, output=output)
        return _answer(task, done=HTTPStatus.OK)


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


def json_response(
    data: Any, *, status: int = HTTPStatus.OK, headers: dict[str, str] | None = None
) -> Response:
    """A response whose body is `data` in JSON."""
    response: Response = Response.json(data, status=status, headers=headers)
    return response


def _digest(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _answer(task: Task, *, done: HTTPStatus) -> Response:
    """The task, with 202 if it waits for a decision and 422 if it failed."""
    status = {"waiting_tool": HTTPStatus.ACCEPTED, "failed": HTTPStatus.UNPROCESSABLE_ENTITY}
    return json_response(task.to_json(), status=status.get(task.status, done))
