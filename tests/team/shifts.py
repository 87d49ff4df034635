"""What the agents of the soak do in a shift; copied beside the entry of a worker.

`POST /worker-3` is a shift of `worker-3`: who an agent is is said by the address here, since the
whole worker is a test's.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit

from edgestate.errors import StateError, VersionConflict
from edgestate.team import D1Record, Deadlines, Held, Role, TeamMember, enrol, metrics_text

GOAL: Final = "soak"
LEASE_S: Final = 1.0
SHIFT_S: Final = 0.3
PATIENT: Final = Deadlines(read_s=5, write_s=10)
BROKEN: Final = "the tool is broken"

Once = Callable[[TeamMember], Awaitable[bool]]


def is_rejected_once(task_id: str) -> bool:
    """Whether the critic sends this subtask back the first time that it sees it."""
    return zlib.crc32(task_id.encode()) % 20 == 0


def is_failed_once(task_id: str) -> bool:
    """Whether the first worker that has this subtask gives it up: it is a dead letter then."""
    return zlib.crc32(task_id.encode()) % 50 == 7


async def work(member: TeamMember) -> bool:
    """One subtask is done; every other worker chooses it from what it sees."""
    held = await (choose(member) if int(member.id[-1]) % 2 else member.board.claim(ttl_s=LEASE_S))
    if held is None:
        return False
    task = held.task
    if task.attempt == 1 and is_failed_once(task.task_id):
        await member.board.fail(held, BROKEN)
        return True
    note = member.messages.sending("critic", "done", task.task_id, correlation_id=task.task_id)
    await member.board.complete(held, [task.task_id, task.attempt], summary="done", effects=[note])
    return True


async def choose(member: TeamMember) -> Held | None:
    """One of the first subtasks that can be seen; else whatever can be had."""
    seen = await member.board.look(limit=4, own_lane=True)
    if not seen:
        return await member.board.claim(ttl_s=LEASE_S)
    try:
        return await member.board.take(*random.choice(seen), ttl_s=LEASE_S)
    except VersionConflict:
        return None


async def judge(member: TeamMember) -> bool:
    """Some results are judged, and what kills its workers is set aside."""
    for message in await member.messages.poll(limit=20):
        await member.messages.consume(message)
    await member.board.set_aside()
    waiting = await member.reviews.open(limit=20)
    for task in waiting:
        first = 2 if is_failed_once(task.task_id) else 1
        if task.attempt == first and is_rejected_once(task.task_id):
            await member.reviews.reject(task, reason="once more")
        else:
            await member.reviews.accept(task, reason="right")
    return bool(waiting)


async def plan(member: TeamMember) -> bool:
    """What was given up is tried again, and the goal is finished once all subtasks are."""
    for letter in await member.dead_letters.list():
        await member.dead_letters.requeue(letter.id)
    held = await member.board.claim(ttl_s=LEASE_S)
    if held is None:
        return False
    await member.board.complete(held, None, summary="all is done")
    return True


PARTS: Final[dict[Role, Once]] = {"planner": plan, "worker": work, "critic": judge}


async def shift(member: TeamMember, once: Once) -> bool:
    """The agent works for a while; whether the goal is reached. What is refused is tried again."""
    ends_at = time.monotonic() + SHIFT_S
    while time.monotonic() < ends_at:
        try:
            if await once(member):
                continue
            if (await member.board.task(GOAL)).status == "completed":
                await member.desk.write_down()
                return True
        except StateError:
            pass
        await asyncio.sleep(0.05)
    return False


async def answer(url: str, env: Any) -> str:
    """What comes of a shift of the agent that the path names, or the metrics."""
    name = urlsplit(url).path.strip("/")
    record = D1Record(env.DB, deadlines=PATIENT)
    if name == "metrics":
        return await metrics_text(record)
    role: Any = name.split("-")[0]
    lane = int(name[-1]) - 1 if role == "worker" else 0
    try:
        member = TeamMember(record, await enrol(record, name, role), lane=lane)
        is_reached = await shift(member, PARTS[role])
    except StateError:
        is_reached = False
    return json.dumps({"reached": is_reached})
