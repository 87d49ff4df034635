"""A team at work on `localedge dev` while its isolates are killed, and what is left of it."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from tests.demo.processes import process
from tests.demo.server import LOCALEDGE, free_port
from tests.edgestate.world import d1_binding
from tests.team import shifts
from tests.team.world import PATIENT, Team
from tests.waiting import wait_until

from edgestate.team import Change, D1Record, Subtask, examine, history, rebuild, states

ISOLATES: Final = 2
WORKERS: Final = 8
AGENTS: Final = ("planner", "critic", *(f"worker-{n}" for n in range(1, WORKERS + 1)))
CONFIG: Final = f"""\
name = "soak"
main = "entry.py"
compatibility_date = "2026-11-01"
compatibility_flags = ["python_workers"]

[[d1_databases]]
binding = "DB"
database_name = "soak"
database_id = "soak"

[localedge]
isolates = {ISOLATES}
"""

ENTRY: Final = """\
import shifts
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(await shifts.answer(request.url, self.env))
"""


@dataclass(slots=True)
class Driving:
    """What happens to the server while the team works."""

    url: str
    http: httpx.AsyncClient
    kills: int = 0
    cut_off: int = 0
    surprises: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Soaked:
    """What was left of the work.

    Shape: `wrong` names each subtask that has not exactly one result for each time that it was
    completed, with the last one standing; `unexplained` the dead letters without a reason that
    history bears out, or that nobody requeued.
    """

    subtasks: int
    kills: int
    cut_off: int
    surprises: list[str]
    took_s: float
    unfinished: list[str]
    wrong: list[str]
    is_gapless: bool
    dead_letters: int
    unexplained: list[str]
    torn: list[str]
    takeovers: int
    counters: dict[str, int]

    def __str__(self) -> str:
        updates = max(self.counters.get("updates", 0), 1)
        transactions = max(self.counters.get("transactions", 0), 1)
        return (
            f"{len(AGENTS)} agents of 3 roles did {self.subtasks} subtasks in {self.took_s:.1f} s "
            f"on {ISOLATES} isolates, of which {self.kills} were killed with {self.cut_off} shifts "
            f"in them: {self.takeovers} takeovers, {self.dead_letters} dead letters, all requeued, "
            f"conflict rate {self.counters.get('conflicts', 0) / updates:.2%}, "
            f"rollback rate {self.counters.get('rollbacks', 0) / transactions:.2%}"
        )


async def soak(
    folder: Path,
    database: Path,
    subtasks: int,
    *,
    limit_s: float,
    kill_every_s: float = 1.0,
    most_kills: int | None = None,
) -> Soaked:
    """`subtasks` are done by a team, of whose isolates one is killed every `kill_every_s`."""
    file = folder / ".localedge" / "d1" / "soak.sqlite"
    file.parent.mkdir(parents=True)
    shutil.copy(database, file)
    shutil.copy(shifts.__file__, folder / "shifts.py")
    (folder / "entry.py").write_text(ENTRY, "utf-8")
    (folder / "wrangler_like.toml").write_text(CONFIG, "utf-8")
    await _begin(file, subtasks)
    port = free_port()
    command = [LOCALEDGE, "dev", "-c", str(folder / "wrangler_like.toml"), "--port", str(port)]
    async with (
        process(command, log=folder / "dev.log"),
        httpx.AsyncClient(trust_env=False, timeout=60) as http,
    ):
        driving = Driving(f"http://127.0.0.1:{port}", http)
        await wait_until(lambda: _answers(driving), within_s=30)
        began = time.monotonic()
        async with asyncio.timeout(limit_s), asyncio.TaskGroup() as tasks:
            working = [tasks.create_task(_keep(driving, name)) for name in AGENTS]
            killing = tasks.create_task(_kill(driving, kill_every_s, most_kills))
            await asyncio.wait(working)
            killing.cancel()
        took_s = time.monotonic() - began
    return await _look(file, driving, took_s)


async def _begin(file: Path, subtasks: int) -> None:
    async with d1_binding(file, is_migrated=True) as db:
        team = Team(db, D1Record(db, deadlines=PATIENT))
        await team.critic()
        plan = [Subtask(f"s{n:04d}", "work", n) for n in range(subtasks)]
        await team.goal(*plan, task_id=shifts.GOAL)


async def _answers(driving: Driving) -> bool:
    try:
        return (await driving.http.get(f"{driving.url}/metrics")).status_code == 200
    except httpx.TransportError:
        return False


async def _keep(driving: Driving, name: str) -> None:
    """The agent has one shift after the other, in whichever isolate, until the goal is reached."""
    while True:
        answer = await driving.http.post(f"{driving.url}/{name}")
        outcome = answer.headers.get("x-localedge-outcome")
        if answer.status_code == 200:
            if answer.json()["reached"]:
                return
        elif outcome == "internalError":
            driving.cut_off += 1
        else:
            driving.surprises.append(f"{name}: {answer.status_code} {outcome} {answer.text[:200]}")
            await asyncio.sleep(0.2)


async def _kill(driving: Driving, every_s: float, most: int | None) -> None:
    chance = random.Random(most)
    while most is None or driving.kills < most:
        await asyncio.sleep(every_s)
        status = (await driving.http.get(f"{driving.url}/cdn-cgi/localedge/status")).json()
        isolates: list[dict[str, Any]] = status["workers"][0]["isolates"]
        busy = [isolate for isolate in isolates if isolate["in_flight"]]
        if busy:
            os.kill(chance.choice(busy)["pid"], signal.SIGKILL)
            driving.kills += 1


async def _look(file: Path, driving: Driving, took_s: float) -> Soaked:
    async with d1_binding(file, is_migrated=True) as db:
        team = Team(db, D1Record(db, deadlines=PATIENT))
        tasks = await team.rows("SELECT * FROM task_status WHERE task_id <> root_id")
        letters = await team.rows("SELECT * FROM dead_letters")
        changes = await history(team.record)
        return Soaked(
            subtasks=len(tasks),
            kills=driving.kills,
            cut_off=driving.cut_off,
            surprises=driving.surprises,
            took_s=took_s,
            unfinished=[
                t["task_id"]
                for t in tasks
                if (t["status"], t["review"]) != ("completed", "accepted")
            ],
            wrong=_wrong(tasks, await team.rows("SELECT * FROM task_results"), changes, letters),
            is_gapless=rebuild(changes) == await states(team.record),
            dead_letters=len(letters),
            unexplained=[
                f"{letter['ref']}: {letter['reason']}"
                for letter in letters
                if letter["requeued_at"] is None or not _is_explained(letter, changes)
            ],
            # Killed agents leave messages unread and tasks that change hands; notes are repeated.
            torn=[
                symptom.key
                for symptom in await examine(team.record)
                if symptom.is_found and symptom.key not in ("stale", "flapping", "repeated")
            ],
            takeovers=sum(change.reason == "taken over" for change in changes),
            counters=await team.counters(),
        )


def _wrong(tasks: Any, results: Any, changes: list[Change], letters: Any) -> list[str]:
    found: dict[str, list[int]] = {task["task_id"]: [] for task in tasks}
    for row in results:
        found.setdefault(row["task_id"], []).append(row["attempt"])
    completed: dict[str, list[int]] = {}
    for change in changes:
        if (change.old_status, change.status) == ("running", "completed"):
            completed.setdefault(change.task_id, []).append(change.attempt)
    wrong = []
    for task in tasks:
        name = task["task_id"]
        given_up = sum(letter["ref"] == name for letter in letters)
        attempts = 1 + given_up + shifts.is_rejected_once(name)
        is_right = (
            sorted(found[name]) == sorted(completed.get(name, []))
            and task["attempt"] in found[name]
            and task["attempt"] == attempts
        )
        if not is_right:
            wrong.append(f"{name}: attempt {task['attempt']}, results {found[name]}")
    return wrong


def _is_explained(letter: Any, changes: list[Change]) -> bool:
    """Whether history bears out why the task was given up."""
    own = [change for change in changes if change.task_id == letter["ref"]]
    if letter["reason"] == shifts.BROKEN:
        return shifts.is_failed_once(letter["ref"]) and any(c.reason == shifts.BROKEN for c in own)
    begun = [c for c in own if c.status == "running" and c.attempt == letter["attempts"]]
    return bool(begun) and letter["reason"] == f"claimed {len(begun)} times without a result"
