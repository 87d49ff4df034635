"""Where a plan comes from: a recorded session, a scenario, or an OpenAPI document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from localedge.errors import Exit, OperatorError
from localedge.gateway.recording import LINE, Exchanged, Head
from localedge.port.verify.openapi import plan_of_document
from localedge.port.verify.plan import Cron, Plan, Recorded, Send, Step
from localedge.port.verify.scenario import plan_of_scenario

_CRON_PATH = "/cdn-cgi/handler/scheduled"
# Who sends it again makes its own.
_OF_THE_CLIENT = frozenset({"connection", "content-length", "transfer-encoding", "keep-alive"})


def read_plan(file: Path | None) -> Plan:
    """The plan in `file`, whose kind its content shows; without one, a single `GET /`.

    Errors: OperatorError (exit 2) when it cannot be read or is none of the three.
    """
    if file is None:
        return Plan((Send("GET", "/"),))
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise OperatorError(
            "verify/cannot-read",
            f"{file}: {reason}.",
            "Name a recorded session, a scenario (.toml) or an OpenAPI document.",
            exit=Exit.USAGE,
        ) from error
    if file.suffix == ".toml":
        return plan_of_scenario(text, file)
    first, *_ = text.splitlines() or [""]
    if _document(first).get("localedge") == "session":
        return _plan_of_session(text, file)
    document = _document(text)
    if "openapi" in document:
        return plan_of_document(document)
    raise OperatorError(
        "verify/unknown-source",
        f"{file} is neither a recorded session, nor a scenario (.toml), nor OpenAPI 3 in JSON.",
        "localedge dev --record FILE records a session.",
        exit=Exit.USAGE,
    )


def _document(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _plan_of_session(text: str, file: Path) -> Plan:
    steps: list[Step] = []
    notes: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            read = LINE.validate_json(line)
            if isinstance(read, Exchanged):
                steps.append(_step(read))
        except (ValidationError, ValueError) as error:
            if number == len(text.splitlines()) and not text.endswith("\n"):
                notes.append("The last line of the session is not whole and was left out.")
                break
            raise OperatorError(
                "verify/bad-session",
                f"{file}, line {number} is no request of a recorded session.",
                "Take the line out, or record again: localedge dev --record FILE.",
                exit=Exit.USAGE,
            ) from error
        if isinstance(read, Head) != (number == 1):
            raise OperatorError(
                "verify/bad-session",
                f"{file}, line {number}: sessions cannot be joined in one file.",
                "Compare one after the other.",
                exit=Exit.USAGE,
            )
    return Plan(tuple(steps), notes=tuple(notes))


def _step(read: Exchanged) -> Step:
    path, _, query = read.target.partition("?")
    if path == _CRON_PATH:
        return Cron(_cron(query))
    headers = tuple(line for line in read.headers if line[0].lower() not in _OF_THE_CLIENT)
    then = Recorded(read.status, tuple(read.answer_headers), read.answer.data)
    return Send(read.method, read.target, headers, read.body.data, recorded=then)


def _cron(query: str) -> str:
    from urllib.parse import parse_qs

    return parse_qs(query).get("cron", [""])[0]
