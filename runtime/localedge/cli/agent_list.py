"""`localedge agent list` and `agent show`: an agent's tasks, and one of them whole."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Annotated, Any, Final, get_args

import typer

from edgestate.statuses import TaskStatus
from localedge.cli.agent_state import AsJson, Config, Db, Env, PersistTo, Place, TaskId, agent_state
from localedge.cli.table import fitted, plain
from localedge.errors import Exit, OperatorError
from localedge.inspector import agents_data
from localedge.inspector.agents_models import Question, StepShown, TaskPage, TaskShown, TaskWhole

_STATUSES: Final = get_args(TaskStatus)
_MOST: Final = 1000


def list_(
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Only the tasks of this session.")
    ] = None,
    status: Annotated[
        list[str] | None, typer.Option(help=f"Only these: {', '.join(_STATUSES)}.")
    ] = None,
    waiting: Annotated[
        bool, typer.Option("--waiting", help="Only those that wait for a decision.")
    ] = False,
    search: Annotated[str | None, typer.Option(help="Only with this in id or goal.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=_MOST, help="At most so many.")] = 50,
    db: Db = None,
    config: Config = None,
    env: Env = None,
    persist_to: PersistTo = None,
    as_json: AsJson = False,
) -> None:
    """List the tasks of agents, the newest first.

    Examples: localedge agent list · localedge agent list --waiting --json
    """
    wanted = [*(status or ()), *(["waiting_tool"] if waiting else ())]
    for one in wanted:
        if one not in _STATUSES:
            raise OperatorError(
                "agent/status",
                f'there is no status "{one}".',
                f"There are {', '.join(_STATUSES)}.",
                exit=Exit.USAGE,
            )
    place = Place(db, config, env, persist_to)
    page, has_team = asyncio.run(_tasks(place, session, wanted or None, search, limit))
    if as_json:
        typer.echo(page.model_dump_json(indent=2))
        return
    if not page.tasks:
        typer.echo("There are no such tasks.")
        if has_team:
            typer.echo("The tasks of a team: localedge trace GOAL, or the page's view.", err=True)
        return
    rows = [_row(task) for task in page.tasks]
    typer.echo(fitted(["task", "status", "step", "goal", "lease", "updated"], rows))
    more = ", and there are more: --limit" if page.more else ""
    typer.echo(f"Listed {len(rows)} task{'' if len(rows) == 1 else 's'}{more}.")


def show(
    task: TaskId,
    db: Db = None,
    config: Config = None,
    env: Env = None,
    persist_to: PersistTo = None,
    as_json: AsJson = False,
) -> None:
    """Show a task with its steps, and what it asks a person.

    Examples: localedge agent show TASK · localedge agent show TASK --json
    """
    found = asyncio.run(task_whole(Place(db, config, env, persist_to), task))
    typer.echo(found.model_dump_json(indent=2) if as_json else "\n".join(_told(found)))


async def task_whole(place: Place, task_id: str) -> TaskWhole:
    """The task. Errors: OperatorError."""
    async with agent_state(place.target()) as binding:
        return await agents_data.task(binding, task_id, now_ms=_now_ms())


async def _tasks(
    place: Place, session: str | None, statuses: list[str] | None, search: str | None, limit: int
) -> tuple[TaskPage, bool]:
    """The tasks, and whether a team has any in the same database."""
    async with agent_state(place.target()) as binding:
        page = await agents_data.tasks(
            binding,
            now_ms=_now_ms(),
            session_id=session,
            statuses=statuses,
            text=search,
            limit=limit,
        )
        is_asked = not page.tasks and (await agents_data.kinds(binding))["team"]
        teams = "SELECT count(*) AS n FROM task_status"
        has_team = is_asked and (await agents_data.rows_of(binding, teams))[0]["n"] > 0
        return page, has_team


def _now_ms() -> int:
    return int(time.time() * 1000)


def _row(task: TaskShown) -> list[str]:
    return [
        task.task_id,
        _status(task),
        f"{task.current_step} of {task.total_steps}",
        plain(task.goal),
        _lease(task),
        task.updated_at,
    ]


def _status(task: TaskShown) -> str:
    if task.quarantine_reason is not None:
        return "quarantined"
    return f"{task.status}, abandoned" if task.is_abandoned else task.status


def _lease(task: TaskShown) -> str:
    return f"{task.lease_left_ms / 1000:.0f} s" if task.lease_left_ms else ""


def _told(found: TaskWhole) -> list[str]:
    task = found.task
    lines = [
        f"{task.task_id} is {_status(task)}: {plain(task.goal)}",
        f"Session {plain(task.session_id)}, version {task.version}, fence {task.fence}, "
        f"made {task.created_at}, changed {task.updated_at}.",
    ]
    if task.lease_left_ms:
        lines.append(f"{plain(task.lease_holder)} has it for {task.lease_left_ms / 1000:.0f} s.")
    if (why := task.quarantine_reason or task.error) is not None:
        lines.append(f"Why: {plain(why)}")
    if found.steps:
        rows = [_step(step) for step in found.steps]
        lines.append(fitted(["step", "action", "effect", "status", "try", "result"], rows))
    for question in found.questions:
        lines += _asked(question)
    return lines


def _step(step: StepShown) -> list[str]:
    result = step.error if step.error is not None else _short(step.output)
    status = step.status if step.resolution is None else f"{step.status} ({step.resolution})"
    cells = [str(step.step_index), step.action, step.effect, status, str(step.attempt), result]
    return [plain(cell) for cell in cells]


def _short(value: Any) -> str:
    text = "" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:199]}…"


def _asked(question: Question) -> list[str]:
    happened = (
        "may have happened: nobody knows"
        if question.why == "uncertain"
        else f"failed: {plain(question.error or 'nobody said why')}"
    )
    return [
        f"Step {question.step_index} ({question.action}) {happened}. Decide with one of:",
        *(
            f"  localedge agent resolve {question.task_id} {question.step_index} {decision}"
            for decision in ("retry", "skip", "done --output JSON")
        ),
    ]
