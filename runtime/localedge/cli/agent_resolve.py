"""`localedge agent resolve` and `agent resume`: what a person decides, and that work goes on."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, Final, cast, get_args

import typer

from edgestate.models import VersionedTaskState
from edgestate.statuses import Decision
from localedge.cli.agent_list import task_whole
from localedge.cli.agent_state import AsJson, Config, Db, Env, PersistTo, Place, TaskId, agent_state
from localedge.cli.progress import progress
from localedge.cli.server import order, running_server
from localedge.errors import Exit, OperatorError
from localedge.inspector import agents_data
from localedge.inspector.agents_models import TaskWhole

_DECISIONS: Final = get_args(Decision)
_LONGEST_S: Final = 900.0


def resolve(
    task: TaskId,
    step: Annotated[int, typer.Argument(metavar="STEP", help="The number of the step.", min=0)],
    decision: Annotated[str, typer.Argument(metavar="DECISION", help=f"{', '.join(_DECISIONS)}.")],
    output: Annotated[
        str | None, typer.Option(metavar="JSON", help="With done: what the step gave.")
    ] = None,
    attempt: Annotated[
        int | None, typer.Option(help="The attempt that the decision is about.")
    ] = None,
    db: Db = None,
    config: Config = None,
    env: Env = None,
    persist_to: PersistTo = None,
    as_json: AsJson = False,
) -> None:
    """Answer what a task asks: run the step again, leave it out, or take it as done.

    Examples: localedge agent resolve TASK 2 retry
    · localedge agent resolve TASK 2 done --output '{"charged": true}'
    """
    if decision not in _DECISIONS:
        raise OperatorError(
            "agent/decision",
            f'there is no decision "{decision}".',
            f"There are {', '.join(_DECISIONS)}.",
            exit=Exit.USAGE,
        )
    value = _output(output, decision)
    place = Place(db, config, env, persist_to)
    done = asyncio.run(_resolve(place, task, step, cast(Decision, decision), value, attempt))
    if as_json:
        told = {"task_id": task, "step": step, "decision": decision, "status": done.status}
        typer.echo(json.dumps(told))
        return
    typer.echo(f"Resolved step {step} of {task} as {decision}: the task is {done.status}.")
    typer.echo(
        f"It goes on with its next request, or with: localedge agent resume {task}", err=True
    )


def resume(
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="The task; all abandoned ones if left.")
    ] = None,
    take: Annotated[
        bool, typer.Option("--take", help="End the lease of who has it: that worker is dead.")
    ] = False,
    db: Db = None,
    config: Config = None,
    env: Env = None,
    persist_to: PersistTo = None,
    as_json: AsJson = False,
) -> None:
    """Have the running worker take up abandoned tasks, by running its cron now.

    Examples: localedge agent resume · localedge agent resume TASK --take
    """
    place = Place(db, config, env, persist_to)
    found = place.target()
    run = running_server(config, persist_to)
    if task is not None:
        asyncio.run(_make_free(place, task, take))
    database = found.entry.storage_id
    with progress("Waiting for the worker"):
        fired = order(run, "api/agents/resume", within_s=_LONGEST_S, database=database)
    after = asyncio.run(task_whole(place, task)).task if task is not None else None
    is_done = fired["outcome"] == "ok"
    cron = f"the cron {fired['cron']} of {fired['worker']}"
    if as_json:
        shown = {**fired, "task_id": task, "status": after.status if after else None}
        typer.echo(json.dumps(shown))
    elif not is_done:
        raise OperatorError(
            "agent/cron-failed",
            f"{cron} ended with {fired['outcome']}"
            + (f"; {after.task_id} is {after.status}." if after else "."),
            "What it raised: localedge logs --level error",
        )
    elif after is None:
        typer.echo(f"Ran {cron}: ok.")
    else:
        typer.echo(f"Resumed {after.task_id}: it is {after.status}.")
    raise typer.Exit(int(Exit.DONE if is_done else Exit.FAILED))


async def _resolve(
    place: Place, task: str, step: int, decision: Decision, output: Any, attempt: int | None
) -> VersionedTaskState:
    async with agent_state(place.target()) as binding:
        return await agents_data.resolve(
            binding, task, step, decision, output=output, attempt=attempt
        )


async def _make_free(place: Place, task_id: str, is_taken: bool) -> None:
    """The task waits for nobody and for no decision. Errors: OperatorError for one that does."""
    found = await task_whole(place, task_id)
    _refuse(found)
    if not found.task.lease_left_ms:
        return
    if not is_taken:
        raise OperatorError(
            "agent/held",
            f"{found.task.lease_holder} has {task_id} for {found.task.lease_left_ms / 1000:.0f} s "
            "more.",
            "Wait for that, or end its lease with --take: what it still sends is refused then.",
        )
    async with agent_state(place.target()) as binding:
        await agents_data.free(binding, task_id)


def _refuse(found: TaskWhole) -> None:
    task = found.task
    if task.quarantine_reason is not None:
        raise OperatorError(
            "agent/quarantined",
            f"{task.task_id} was set aside: {task.quarantine_reason}.",
            "Nothing takes it up by itself any more.",
        )
    if found.questions:
        question = found.questions[0]
        raise OperatorError(
            "agent/waits-for-decision",
            f"{task.task_id} waits for a decision about step {question.step_index}.",
            f"Decide: localedge agent resolve {task.task_id} {question.step_index} retry|skip|done",
        )
    if task.status in ("completed", "failed"):
        raise OperatorError(
            "agent/over",
            f"{task.task_id} is {task.status}: nothing is left.",
            "localedge agent list --status running shows what goes on.",
        )


def _output(text: str | None, decision: str) -> Any:
    if text is None:
        return None
    if decision != "done":
        raise OperatorError(
            "agent/output",
            f"--output has no meaning with {decision}.",
            "Leave it away, or decide done.",
            exit=Exit.USAGE,
        )
    try:
        return json.loads(text)
    except ValueError as exc:
        raise OperatorError(
            "agent/output",
            f"the output is no JSON: {exc}.",
            "A text needs quotes of its own: --output '\"done\"'",
            exit=Exit.USAGE,
        ) from exc
