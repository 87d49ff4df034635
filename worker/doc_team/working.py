"""The workers' and the critic's part."""

from __future__ import annotations

import asyncio
from typing import Final

from pydantic import JsonValue

from doc_team.goals import INDEX, SUMMARY
from doc_team.judge import Judge
from doc_team.tools import ASKED_TERMS, index_text
from edgestate import ModelFailed
from edgestate.errors import FenceLost, LeaseLost, VersionConflict
from edgestate.team import BoardTask, ContextConflictError, Held, TeamMember, kept, traced

CRITIC: Final = "critic"
PLANNER: Final = "planner"


async def work(member: TeamMember, judge: Judge, *, pause_s: float = 0.0) -> bool:
    """One subtask is done; False when there is none. Whoever is late writes nothing."""
    held = await member.board.claim()
    if held is None:
        await member.roster.beat()
        return False
    with traced(held.task.trace_id):
        await member.roster.beat(task_id=held.task.task_id, context_id=held.cycle.context_id)
        try:
            await member.contexts.begin_cycle(member.id, held.cycle.context_id)
            value, summary = await kept(
                member.board, held, lambda: _done(member, judge, held, pause_s)
            )
            note = member.messages.sending(
                CRITIC,
                "result",
                {"task_id": held.task.task_id, "attempt": held.task.attempt},
                correlation_id=held.task.task_id,
            )
            await member.board.complete(held, value, summary=summary, effects=[note])
        except (FenceLost, LeaseLost):
            return True
        except ContextConflictError as conflict:
            await member.contexts.request_resync(PLANNER, conflict, held.task.task_id)
        except ModelFailed as failure:
            await member.board.release(held, reason=str(failure))
    return True


async def _done(
    member: TeamMember, judge: Judge, held: Held, pause_s: float
) -> tuple[JsonValue, str]:
    task = held.task
    assert isinstance(task.input, dict)
    name = str(task.input["document"])
    document = await member.memory.get(name, scope=task.root_id)
    text = str(document.value) if document else ""
    await asyncio.sleep(pause_s)
    if task.kind == INDEX:
        terms = index_text(text)
        return {**terms}, f"{len(terms)} terms of {name}"
    decisions = await member.decisions.of(task.task_id)
    advice = next((d.reason for d in reversed(decisions) if d.decision == "rejected"), "")
    summary = await judge.summary(text, advice=advice)
    return summary, f"{name} in {len(summary.split())} words"


async def review(member: TeamMember, judge: Judge) -> bool:
    """One result is judged; False when there is none. Looks after tasks that kill workers."""
    for message in await member.messages.poll(limit=20):
        await member.messages.consume(message)
    await member.board.set_aside()
    for task in await member.reviews.open(limit=1):
        with traced(task.trace_id):
            await _judge(member, judge, task)
        return True
    await member.roster.beat()
    return False


async def _judge(member: TeamMember, judge: Judge, task: BoardTask) -> None:
    result = await member.board.result(task.task_id)
    if result is None or task.kind != SUMMARY:
        return
    index = await member.board.result(task.task_id.replace("/summary/", "/index/"))
    terms = list(index.value)[:ASKED_TERMS] if index and isinstance(index.value, dict) else []
    verdict = await judge.verdict(str(result.value), terms)
    try:
        if verdict.is_accepted:
            await member.reviews.accept(task, reason=verdict.reason)
        else:
            await member.reviews.reject(task, reason=verdict.reason)
    except VersionConflict:
        # Another life of the critic was quicker.
        return
