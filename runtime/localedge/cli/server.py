"""How a command speaks to the server that runs on a project's state."""

from __future__ import annotations

import os
from http import HTTPStatus
from pathlib import Path

import httpx

from localedge.errors import Exit, OperatorError
from localedge.project import load
from localedge.supervisor.state import Run, read_run

_DEADLINE_S = 10.0


def running_server(config: Path | None, persist_to: Path | None) -> Run:
    """The server that runs on the project's local state.

    Errors: OperatorError (exit 4) when none runs.
    """
    if persist_to is not None:
        state = persist_to.resolve()
    else:
        project = load(start=Path.cwd(), config=config, process_env=os.environ, to_run=False)
        state = project.state
    run = read_run(state)
    if run is None:
        raise OperatorError(
            "server/none",
            f"no server runs on the state in {state}.",
            "Start one with: localedge dev.",
            exit=Exit.UNREACHABLE,
        )
    return run


def workers_of(run: Run) -> list[str]:
    """The names of the workers that the server runs; the first one has the port.

    Errors: OperatorError (exit 4) when it does not answer.
    """
    try:
        answer = httpx.get(
            f"{run.url}/cdn-cgi/localedge/status", timeout=_DEADLINE_S, trust_env=False
        )
        return [str(worker["name"]) for worker in answer.raise_for_status().json()["workers"]]
    except (httpx.HTTPError, ValueError, KeyError) as exc:
        raise _no_answer(run, exc) from exc


def order(
    run: Run, path: str, *, within_s: float = _DEADLINE_S, **parameters: str | int | float | None
) -> dict[str, object]:
    """The server's answer to a POST to `path` under its control endpoints, `within_s` seconds.

    Errors: OperatorError with what the server says against it; exit 4 when it does not answer.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    try:
        response = httpx.post(
            f"{run.url}/cdn-cgi/localedge/{path}",
            params=given,
            headers={"authorization": f"Bearer {run.token}"},
            timeout=within_s,
            trust_env=False,
        )
    except httpx.HTTPError as exc:
        raise _no_answer(run, exc) from exc
    if response.is_error:
        raise _refusal(response)
    answer: dict[str, object] = response.json()
    return answer


def _no_answer(run: Run, exc: Exception) -> OperatorError:
    return OperatorError(
        "server/no-answer",
        f"the server at {run.url} (pid {run.pid}) does not answer: {exc}.",
        "Its log says what it does; end it with Ctrl-C, and start it again.",
        exit=Exit.UNREACHABLE,
    )


def _refusal(response: httpx.Response) -> OperatorError:
    """What the server says: its API in JSON, its guard in plain text."""
    if "json" in response.headers.get("content-type", ""):
        said = response.json().get("error", {})
        if {"code", "message"} <= said.keys():
            return OperatorError(said["code"], said["message"], said.get("hint") or "")
    hint = "localedge COMMAND --help shows what it takes."
    if response.status_code == HTTPStatus.NOT_FOUND:
        hint = f"What runs is listed by: curl {response.url.join('/cdn-cgi/localedge/status')}"
    return OperatorError("server/refused", f"{response.text.strip().rstrip('.')}.", hint)
