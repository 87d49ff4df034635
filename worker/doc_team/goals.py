"""The planner's part: a set of documents becomes a goal, its results become a report."""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue

from edgestate.errors import VersionConflict
from edgestate.team import Cycle, Held, Subtask, TeamMember, traced
from edgestate.team.messages import RESYNC_REQUESTED

INDEX, SUMMARY = "index", "summarise"
NORM = "A summary has two or three sentences and mentions the terms that count."


async def begin(
    member: TeamMember, goal_id: str, documents: dict[str, str], *, trace: str | None = None
) -> Cycle:
    """The goal and its subtasks are stored, once however often this is asked for.

    Each step has a request id of its own: what a killed planner has done is not done again. They
    belong to the `trace` that the client is in, else to one of the goal's own.
    """
    with traced(trace or f"trace-{goal_id}"):
        context: JsonValue = {"documents": [*sorted(documents)], "norm": NORM}
        cycle = await member.contexts.begin(goal_id, "read documents", context)
        await _norm(member)
        for number, (name, text) in enumerate(sorted(documents.items())):
            await member.memory.create(
                name,
                text,
                kind="document",
                visibility="restricted",
                scope=goal_id,
                cycle=cycle,
                request_id=f"document-{goal_id}-{number}",
            )
        plan = [
            task for n, name in enumerate(sorted(documents)) for task in _pair(goal_id, n, name)
        ]
        why = "each document can be read alone; its summary is judged by the terms of its index"
        await member.planning.plan(cycle, plan, reason=why, request_id=f"plan-{goal_id}")
        return cycle


async def _norm(member: TeamMember) -> None:
    if await member.knowledge.get("summaries") is None:
        try:
            await member.knowledge.create("summaries", NORM, kind="norm", visibility="public")
        except VersionConflict:
            return


def _pair(goal_id: str, number: int, name: str) -> tuple[Subtask, Subtask]:
    of: JsonValue = {"document": name}
    index = f"{goal_id}/index/{number}"
    return (
        Subtask(index, INDEX, of, needs_review=False),
        Subtask(f"{goal_id}/summary/{number}", SUMMARY, of, after=(index,)),
    )


async def tend(member: TeamMember) -> bool:
    """One thing that waits for the planner is done; False when there is none."""
    for message in await member.messages.poll(limit=10):
        if message.message_type == RESYNC_REQUESTED and isinstance(message.content, dict):
            task = await member.board.task(str(message.content["task_id"]))
            await member.planning.rebase(
                (await member.board.task(task.root_id)).cycle, reason="a worker asked for it"
            )
        await member.messages.consume(message)
    held = await member.board.claim()
    if held is None:
        return False
    with traced(held.task.trace_id):
        report = await _report(member, held)
        await member.board.complete(held, report, summary=f"{len(report)} documents read")
    return True


async def _report(member: TeamMember, held: Held) -> list[JsonValue]:
    tasks = {task.task_id: task for task in await member.board.tasks(held.task.task_id)}
    found: dict[str, dict[str, JsonValue]] = {}
    for result in await member.board.results(held.task.task_id):
        task = tasks[result.task_id]
        assert isinstance(task.input, dict)
        entry = found.setdefault(str(task.input["document"]), {})
        entry[task.kind] = result.value
        if task.kind == SUMMARY:
            entry["attempts"] = task.attempt
    return [{"document": name, **entry} for name, entry in sorted(found.items())]


async def progress(member: TeamMember, goal_id: str) -> dict[str, Any]:
    """How far a goal is, with its report once it is completed. Errors: TaskNotFound."""
    goal = await member.board.task(goal_id)
    tasks = [task for task in await member.board.tasks(goal_id) if task.task_id != goal_id]
    result = await member.board.result(goal_id) if goal.status == "completed" else None
    return {
        "goalId": goal_id,
        "status": goal.status,
        "traceId": goal.trace_id,
        "subtasks": {task.task_id: f"{task.status} {task.review} {task.attempt}" for task in tasks},
        "report": result.value if result else None,
    }
