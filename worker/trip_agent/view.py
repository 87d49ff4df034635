"""Sessions and tasks as clients see them, and the tag by which they know a change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from workers import Request, Response

from edgestate import SessionState, StepResult, VersionedTaskState
from edgestate.statuses import Decision

OPTIONS: tuple[Decision, ...] = ("retry", "skip", "done")


def session_view(session: SessionState) -> dict[str, Any]:
    """The session, in the document's names."""
    return {
        "sessionId": session.session_id,
        "userId": session.user_id,
        "status": session.status,
        "createdAt": session.created_at,
        "lastActiveAt": session.last_active_at,
        "messageCount": session.message_count,
    }


def task_view(task: VersionedTaskState) -> dict[str, Any]:
    """The task with its steps, and the question if only a person can say how it goes on."""
    view: dict[str, Any] = {
        "taskId": task.task_id,
        "sessionId": task.session_id,
        "goal": task.goal,
        "status": task.status,
        "currentStep": task.current_step,
        "totalSteps": task.total_steps,
        "steps": [_step_view(step) for step in task.steps],
        "createdAt": task.created_at,
        "updatedAt": task.updated_at,
        "version": task.version,
    }
    question = _question(task)
    if question is not None:
        view["decision"] = {
            "stepIndex": task.current_step,
            "question": question,
            "options": list(OPTIONS),
        }
    return view


def _question(task: VersionedTaskState) -> str | None:
    if task.status not in ("waiting_tool", "failed") or task.current_step >= len(task.steps):
        return None
    step = task.steps[task.current_step]
    if step.is_uncertain:
        return "The step was begun and its outcome is not known. Find out, then decide."
    if step.status == "failed":
        return "The step failed, and the task with it. It goes on if you decide so."
    return None


def _step_view(step: StepResult) -> dict[str, Any]:
    return {
        "stepIndex": step.step_index,
        "action": step.action,
        "effect": step.effect,
        "status": step.status,
        "input": step.input,
        "output": step.output,
        "error": step.error,
        "startedAt": step.started_at,
        "completedAt": step.completed_at,
    }


def tag_of(tasks: Iterable[VersionedTaskState]) -> str:
    """An ETag that is another one whenever one of `tasks` has changed."""
    versions = ",".join(f"{task.task_id} {task.version}" for task in tasks)
    return f'"{hashlib.sha256(versions.encode()).hexdigest()[:16]}"'


def json_response(
    data: Any, *, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None
) -> Response:
    """A response whose body is `data` in JSON."""
    response: Response = Response.json(data, status=status, headers=dict(headers or {}))
    return response


def tagged(request: Request, tag: str, data: Any) -> Response:
    """`data` with its tag, or 304 without a body if the client has just that already."""
    headers = {"etag": tag, "cache-control": "no-cache"}
    known = request.headers.get("if-none-match") or ""
    if any(one.strip().removeprefix("W/") in (tag, "*") for one in known.split(",")):
        return Response(None, status=HTTPStatus.NOT_MODIFIED, headers=headers)
    return json_response(data, headers=headers)
