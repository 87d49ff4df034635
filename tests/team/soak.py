"""A team at work for a while: processes that are killed every second, and what is left of it.

`python -m tests.team.soak FILE N` is one of the processes: a planner, a critic and four workers.
"""

from __future__ import annotations

import asyncio
import random
import signal
import sys
import time
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import JsonValue
from tests.edgestate.world import d1_binding
from tests.team.world import PATIENT, Team

from edgestate.errors import StateError
from edgestate.team import D1Record, Subtask, TeamMember, history, rebuild, states

ROOT: Final = Path(__file__).parents[2]
ISOLATES: Final = 2
WORKERS_EACH: Final = 4
LEASE_S: Final = 2.0
GOAL: Final = "soak"


@dataclass(frozen=True, slots=True)
class Soaked:
    """What was left of the work."""

    subtasks: int
    kills: int
    took_s: float
    unfinished: list[str]
    wrong_results: list[str]
    is_gapless: bool
    dead_letters: list[str]
    takeovers: int
    counters: dict[str, int]

    def __str__(self) -> str:
        updates = max(self.counters.get("updates", 0), 1)
        transactions = max(self.counters.get("transactions", 0), 1)
        return (
            f"{self.subtasks} subtasks in {self.took_s:.1f} s with {self.kills} kills: "
            f"{self.takeovers} takeovers, "
            f"conflict rate {self.counters.get('conflicts', 0) / updates:.2%}, "
            f"rollback rate {self.counters.get('rollbacks', 0) / transactions:.2%}"
        )


def is_rejected_once(task_id: str) -> bool:
    """Whether the critic sends this subtask back the first time."""
    return zlib.crc32(task_id.encode()) % 20 == 0


# --- one process ------------------------------------------------------------------------------


async def isolate(file: Path, place: int) -> None:
    """The agents of one process work until the goal is reached."""
    async with d1_binding(file, is_migrated=True) as db, asyncio.TaskGroup() as agents:
        team = Team(db, D1Record(db, deadlines=PATIENT))
        planner, critic = await team.planner(), await team.critic()
        agents.create_task(until_done(planner, plan))
        agents.create_task(until_done(critic, judge))
        for number in range(1, ISOLATES * WORKERS_EACH + 1):
            if number % ISOLATES == place:
                agents.create_task(until_done(await team.worker(number), work))


async def until_done(member: TeamMember, once: Callable[[TeamMember], Awaitable[bool]]) -> None:
    """`once` is called until the goal is reached; what is refused is tried again."""
    while True:
        try:
            if await once(member):
                continue
            if (await member.board.task(GOAL)).status == "completed":
                await member.desk.write_down()
                return
        except StateError:
            pass
        await asyncio.sleep(0.05)


async def work(member: TeamMember) -> bool:
    """One subtask is done."""
    held = await member.board.claim(ttl_s=LEASE_S)
    if held is None:
        return False
    task = held.task
    note = member.messages.sending("critic", "done", task.task_id, correlation_id=task.task_id)
    value: list[JsonValue] = [task.task_id, task.attempt]
    await member.board.complete(held, value, summary="done", effects=[note])
    return True


async def judge(member: TeamMember) -> bool:
    """Some results are judged."""
    for message in await member.messages.poll(limit=20):
        await member.messages.consume(message)
    waiting = await member.reviews.open(limit=20)
    for task in waiting:
        if task.attempt == 1 and is_rejected_once(task.task_id):
            await member.reviews.reject(task, reason="once more")
        else:
            await member.reviews.accept(task, reason="right")
    return bool(waiting)


async def plan(member: TeamMember) -> bool:
    """The goal is finished once all subtasks are."""
    held = await member.board.claim(ttl_s=LEASE_S)
    if held is None:
        return False
    await member.board.complete(held, None, summary="all is done")
    return True


# --- the whole --------------------------------------------------------------------------------


async def soak(file: Path, subtasks: int, *, kill_every_s: float, limit_s: float) -> Soaked:
    """`subtasks` are done by processes of which one is killed every `kill_every_s`."""
    began = time.monotonic()
    await _begin(file, subtasks)
    chance = random.Random(subtasks)
    running: list[asyncio.subprocess.Process] = []
    kills = 0
    try:
        async with asyncio.timeout(limit_s):
            running = [await _start(file, place) for place in range(ISOLATES)]
            while not any(process.returncode == 0 for process in running):
                await _wait(running, kill_every_s)
                failed = [p.returncode for p in running if p.returncode not in (None, 0)]
                assert not failed, f"a process ended with {failed}"
                if any(process.returncode == 0 for process in running):
                    break
                victim = chance.randrange(ISOLATES)
                running[victim].send_signal(signal.SIGKILL)
                await running[victim].wait()
                kills += 1
                running[victim] = await _start(file, victim)
    finally:
        for process in running:
            if process.returncode is None:
                process.kill()
                await process.wait()
    return await _look(file, subtasks, kills, time.monotonic() - began)


async def _begin(file: Path, subtasks: int) -> None:
    async with d1_binding(file, is_migrated=True) as db:
        team = Team(db, D1Record(db, deadlines=PATIENT))
        for number in range(1, ISOLATES * WORKERS_EACH + 1):
            await team.worker(number)
        await team.critic()
        plan = [Subtask(f"s{n:04d}", "work", n) for n in range(subtasks)]
        await team.goal(*plan, task_id=GOAL)


async def _start(file: Path, place: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.team.soak", str(file), str(place)),
        stdin=asyncio.subprocess.DEVNULL,
        cwd=ROOT,
    )


async def _wait(running: list[asyncio.subprocess.Process], seconds: float) -> None:
    waits = [asyncio.ensure_future(process.wait()) for process in running]
    await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()


async def _look(file: Path, subtasks: int, kills: int, took_s: float) -> Soaked:
    async with d1_binding(file, is_migrated=True) as db:
        team = Team(db, D1Record(db, deadlines=PATIENT))
        tasks = await team.rows("SELECT * FROM task_status WHERE task_id <> root_id")
        results = await team.rows("SELECT task_id, COUNT(*) AS n FROM task_results GROUP BY 1")
        letters = await team.rows("SELECT ref, reason FROM dead_letters")
        changes = await history(team.record)
        found = {row["task_id"]: row["n"] for row in results}
        wanted = {t["task_id"]: 2 if is_rejected_once(t["task_id"]) else 1 for t in tasks}
        return Soaked(
            subtasks=len(tasks),
            kills=kills,
            took_s=took_s,
            unfinished=[
                t["task_id"]
                for t in tasks
                if (t["status"], t["review"]) != ("completed", "accepted")
            ],
            wrong_results=[t for t, n in wanted.items() if found.get(t) != n],
            is_gapless=rebuild(changes) == await states(team.record),
            dead_letters=[f"{row['ref']}: {row['reason']}" for row in letters],
            takeovers=sum(change.reason == "taken over" for change in changes),
            counters=await team.counters(),
        )


if __name__ == "__main__":
    asyncio.run(isolate(Path(sys.argv[1]), int(sys.argv[2])))
