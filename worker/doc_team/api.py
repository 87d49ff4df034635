"""The planner over HTTP, and what every agent answers."""

from __future__ import annotations

from dataclasses import asdict
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlsplit

from workers import Request, Response

from doc_team import goals
from edgestate.errors import StateError, TaskNotFound
from edgestate.keys import check_id
from edgestate.team import D1Record, TeamMember, life_of, metrics_text, request_trace_id
from edgestate.team.metrics import CONTENT_TYPE

MAX_DOCUMENTS = 200
STATUSES = {
    "request_mismatch": HTTPStatus.UNPROCESSABLE_ENTITY,
    "context_exists": HTTPStatus.UNPROCESSABLE_ENTITY,
    "invalid_id": HTTPStatus.BAD_REQUEST,
    "cyclic_plan": HTTPStatus.UNPROCESSABLE_ENTITY,
    "request_in_progress": HTTPStatus.CONFLICT,
    "version_conflict": HTTPStatus.CONFLICT,
    "context_conflict": HTTPStatus.CONFLICT,
    "access_denied": HTTPStatus.FORBIDDEN,
    "task_not_found": HTTPStatus.NOT_FOUND,
}


class BadRequest(Exception):  # noqa: N818  (an answer)
    """What was sent cannot be used; the text says why."""


async def answer(request: Request, env: Any) -> Response | None:
    """What every agent answers: `/metrics` and `/traces/ID`; None for other paths."""
    path = urlsplit(request.url).path
    if path == "/metrics":
        text = await metrics_text(D1Record(env.DB))
        return Response(text, headers={"content-type": CONTENT_TYPE})
    if path.startswith("/traces/"):
        events = await life_of(D1Record(env.DB), unquote(path.removeprefix("/traces/")))
        return _json({"events": [asdict(event) for event in events]})
    return None


async def answer_planner(request: Request, env: Any, member: TeamMember) -> Response:
    """The planner's own: `POST /goals`, `GET /goals/ID`; errors as JSON."""
    try:
        common = await answer(request, env)
        return common if common is not None else await _goals(request, member)
    except BadRequest as error:
        return _error("bad_request", str(error), HTTPStatus.BAD_REQUEST)
    except StateError as error:
        status = STATUSES.get(error.code, HTTPStatus.SERVICE_UNAVAILABLE)
        return _error(error.code, str(error), status)


async def _goals(request: Request, member: TeamMember) -> Response:
    path = urlsplit(request.url).path
    if path == "/goals" and request.method == "POST":
        goal_id, documents = await _read(request)
        trace = request_trace_id(request.headers)
        await goals.begin(member, goal_id, documents, trace=trace)
        return _json(await goals.progress(member, goal_id), HTTPStatus.CREATED)
    if path.startswith("/goals/") and request.method == "GET":
        return _json(await goals.progress(member, unquote(path.removeprefix("/goals/"))))
    if path == "/":
        return _json({"service": "doc team", "routes": ["POST /goals", "GET /goals/ID"]})
    raise TaskNotFound(path)


async def _read(request: Request) -> tuple[str, dict[str, str]]:
    try:
        body = await request.json()
    except Exception as error:
        raise BadRequest("the body is no JSON") from error
    documents = body.get("documents") if isinstance(body, dict) else None
    if not isinstance(documents, dict) or not 0 < len(documents) <= MAX_DOCUMENTS:
        raise BadRequest(f'"documents" must map 1 to {MAX_DOCUMENTS} names to texts')
    if not all(isinstance(text, str) and text.strip() for text in documents.values()):
        raise BadRequest("a document must be a text that is not empty")
    for name in documents:
        check_id("document", name)
    return check_id("goal", body.get("goalId", "")), dict(documents)


def _json(data: Any, status: HTTPStatus = HTTPStatus.OK) -> Response:
    response: Response = Response.json(data, status=status)
    return response


def _error(code: str, message: str, status: HTTPStatus) -> Response:
    return _json({"error": {"code": code, "message": message}}, status)
