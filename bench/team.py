"""How fast the team's shared state is, and how often agents get in each other's way.

`python -m bench.team` writes docs/benchmarks.md; each isolate is a process on one database file.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from bench.report import PAGE, machine

from edgestate.errors import VersionConflict
from edgestate.team import (
    D1Record,
    Deadlines,
    Done,
    SagaDefinition,
    Sagas,
    SagaStep,
    StepCall,
    Subtask,
    TeamMember,
    enrol,
)
from localedge.binding import BindingWrapper
from localedge.d1.database import D1Database
from localedge.d1.migrations import run_batch, split
from localedge.d1.sqlite import open_engine
from localedge.probe import Probe

MIGRATIONS: Final = Path(__file__).parents[1] / "migrations"
PATIENT: Final = Deadlines(30, 30)
TASKS: Final = 400
CONTENDED: Final = 160
AGENTS: Final = (1, 2, 4, 8, 16)
LANES: Final = (1, 4)
TURNS: Final = 3
T = TypeVar("T")
BEGIN, END = "<!-- team: begin -->", "<!-- team: end -->"


class Bench:
    """A database file with the tables, and agents on it."""

    def __init__(self, file: Path, db: Any) -> None:
        self.file = file
        self.record = D1Record(db, deadlines=PATIENT)

    async def member(self, name: str, role: Any, *, lane: int = 0, lanes: int = 4) -> TeamMember:
        identity = await enrol(self.record, name, role)
        return TeamMember(self.record, identity, lane=lane, lane_count=lanes)

    async def goal(self, subtasks: int, *, lanes: int = 4) -> TeamMember:
        planner = await self.member("planner", "planner", lanes=lanes)
        cycle = await planner.contexts.begin("goal", "bench", None)
        plan = [Subtask(f"t{n}", "work", needs_review=False) for n in range(subtasks)]
        await planner.planning.plan(cycle, plan, reason="to be timed")
        return planner


async def on_file(work: Callable[[Bench], Awaitable[T]]) -> T:
    """What `work` measures on a new database."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "team.sqlite"
        async with open_engine(file) as engine:
            database = D1Database(engine)
            for migration in sorted(MIGRATIONS.glob("*.sql")):
                await run_batch(database, split(migration.read_text("utf-8")))
            return await work(Bench(file, BindingWrapper(database, "DB", Probe())))


async def claims(bench: Bench) -> float:
    """Claims a second of one agent."""
    await bench.goal(TASKS)
    worker = await bench.member("worker-1", "worker")
    began = time.perf_counter()
    while await worker.board.claim():
        pass
    return TASKS / (time.perf_counter() - began)


async def completions(bench: Bench) -> float:
    """Subtasks claimed and completed a second by one agent, snapshot and history included."""
    await bench.goal(TASKS)
    worker = await bench.member("worker-1", "worker")
    began = time.perf_counter()
    while held := await worker.board.claim():
        await worker.board.complete(held, 1, summary="done")
    return TASKS / (time.perf_counter() - began)


async def messages(bench: Bench) -> float:
    """Messages sent, delivered and consumed a second."""
    planner = await bench.member("planner", "planner")
    worker = await bench.member("worker-1", "worker")
    began = time.perf_counter()
    for n in range(TASKS):
        await planner.messages.send("worker-1", "note", n)
    while got := await worker.messages.poll():
        for message in got:
            await worker.messages.consume(message)
    return TASKS / (time.perf_counter() - began)


async def sagas(bench: Bench) -> float:
    """Sagas of three steps a second."""
    worker = await bench.member("worker-1", "worker")

    async def act(call: StepCall) -> Done:
        return Done(call.seq)

    steps = tuple(SagaStep(name, act, f"undo {name}", act) for name in ("a", "b", "c"))
    runner = Sagas(worker.desk, [SagaDefinition("three", steps)])
    began = time.perf_counter()
    for _ in range(TASKS // 4):
        await runner.run(await runner.start("three", None))
    return (TASKS // 4) / (time.perf_counter() - began)


# --- conflicts: agents that choose from what they see -----------------------------------------


async def chooser(file: Path, number: int, lanes: int) -> dict[str, int]:
    """One agent takes what it has chosen from the board until there is nothing left."""
    async with open_engine(file) as engine:
        bench = Bench(file, BindingWrapper(D1Database(engine), "DB", Probe()))
        lane = number % lanes
        me = await bench.member(f"worker-{number}", "worker", lane=lane, lanes=lanes)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        counts = {"taken": 0, "own": 0, "conflicts": 0}
        while seen := await me.board.look(limit=1, own_lane=True) or await me.board.look(limit=1):
            try:
                held = await me.board.take(*seen[0])
                counts["taken"] += 1
                counts["own"] += held.task.lane == lane
            except VersionConflict:
                counts["conflicts"] += 1
        return counts


async def conflict_rate(agents: int, lanes: int) -> tuple[float, float]:
    """conflicts / tries with that many processes on one board, and what part was of one's lane."""

    async def work(bench: Bench) -> tuple[float, float]:
        await bench.goal(CONTENDED, lanes=lanes)
        children = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bench.team", str(bench.file), str(n), str(lanes)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
            for n in range(agents)
        ]
        # All begin at once.
        for child in children:
            assert child.stdout is not None
            await child.stdout.readline()
        outputs = [
            out for out, _ in await asyncio.gather(*(c.communicate(b"go\n") for c in children))
        ]
        counts = [json.loads(output) for output in outputs]
        assert sum(count["taken"] for count in counts) == CONTENDED
        conflicts: int = sum(count["conflicts"] for count in counts)
        own = sum(count["own"] for count in counts)
        return conflicts / (CONTENDED + conflicts), own / CONTENDED

    turns = [await on_file(work) for _ in range(TURNS)]
    return sorted(turns)[TURNS // 2]


async def measure() -> str:
    """The tables of everything measured."""
    lines = [f"{datetime.now(UTC):%Y-%m-%d}, {machine()}.", "", "| what | a second |", "|---|---|"]
    for name, work in (
        ("claims", claims),
        ("subtasks claimed and completed", completions),
        ("messages sent and consumed", messages),
        ("sagas of three steps", sagas),
    ):
        lines.append(f"| {name} | {await on_file(work):,.0f} |")
    heads = ["conflicts, 1 lane", "conflicts, 4 lanes", "of their own lane"]
    lines += ["", f"| agents | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for agents in AGENTS:
        (one, _), (four, own) = [await conflict_rate(agents, lanes) for lanes in LANES]
        lines.append(f"| {agents} | {one:.1%} | {four:.1%} | {own:.0%} |")
    lines += [
        "",
        "Conflicts are those of agents that choose from what they see (`look`, `take`), each a "
        f"process, the middle one of {TURNS} turns; `claim` takes one statement and has none. All "
        "take the first that they see, so what counts is how many agents have one lane: 16 on 4 "
        "lanes are in each other's way about as 4 are on one.",
    ]
    return "\n".join(lines)


def put(table: str) -> None:
    """The table stands in docs/benchmarks.md in place of the last one."""
    page = PAGE.read_text("utf-8") if PAGE.exists() else "# Benchmarks\n"
    if BEGIN not in page:
        page += f"\n## Shared state of several agents\n\n{BEGIN}\n{END}\n"
    head, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}", "utf-8")


def main() -> None:
    """Measure everything; with arguments, be one of the agents that are measured."""
    if len(sys.argv) > 1:
        counts = asyncio.run(chooser(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
        print(json.dumps(counts))
        return
    table = asyncio.run(measure())
    print(table)
    put(table)


if __name__ == "__main__":
    main()
