"""Durable steps a second, beside LangGraph's SQLite savers and DBOS; writes docs/benchmarks.md.

`python -m bench.durable_steps [--rounds N] [--tasks N]`. Each turn is a process of its own with a
fresh database, in WAL mode and with the same `synchronous`, asynchronous ones on uvloop as in our
isolates; turns alternate, and the figures are
medians over the rounds of one run.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path

import uvloop
from bench import report
from bench.steps import Durability, Effect, Job, Measured

OURS = "edgestate"
PEERS = {
    "SqliteSaver": "langgraph-checkpoint-sqlite",
    "AsyncSqliteSaver": "langgraph-checkpoint-sqlite",
    "DBOS": "dbos",
}
GOALS: dict[tuple[Durability, Effect], float] = {
    ("process", "idempotent"): 2.0,
    ("power", "idempotent"): 2.0,
    ("process", "non_idempotent"): 2.0,
    ("power", "non_idempotent"): 1.2,
}
WHAT: dict[Effect, str] = {
    "idempotent": "idempotent steps",
    "non_idempotent": "steps with an intent before their effect",
}


def turn(contender: str, job: Job, file: Path) -> Measured:
    """One turn, in this process."""
    if contender == OURS:
        from bench import steps_ours

        return uvloop.run(steps_ours.measure(job, file))
    if contender == "DBOS":
        from bench import steps_dbos

        return steps_dbos.measure(job, file)
    from bench import steps_langgraph

    if contender == "SqliteSaver":
        return steps_langgraph.measure_sync(job, file)
    return uvloop.run(steps_langgraph.measure_async(job, file))


def turn_apart(contender: str, durability: Durability, effect: Effect, tasks: int) -> Measured:
    """One turn in a process of its own, on a fresh database."""
    with tempfile.TemporaryDirectory(prefix="localedge-bench-") as folder:
        command = [sys.executable, "-m", "bench.durable_steps", "--turn", contender]
        command += ["--durability", durability, "--effect", effect, "--tasks", str(tasks)]
        shown = subprocess.run(
            [*command, "--file", f"{folder}/steps.sqlite"],
            check=True,
            capture_output=True,
            text=True,
            timeout=600,
        ).stdout
    found: Measured = json.loads(shown.splitlines()[-1])
    return found


def compare(rounds: int, tasks: int) -> list[list[str]]:
    """The rows of the table: one per durability and kind of step."""
    rows = []
    for (durability, effect), goal in GOALS.items():
        seen: dict[str, list[Measured]] = defaultdict(list)
        for _ in range(rounds):
            for contender in (OURS, *PEERS):
                seen[contender].append(turn_apart(contender, durability, effect, tasks))
        rows.append(_row(durability, effect, goal, seen))
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    return rows


def _row(
    durability: Durability, effect: Effect, goal: float, seen: dict[str, list[Measured]]
) -> list[str]:
    rate = {
        name: statistics.median(one["steps_per_s"] for one in turns) for name, turns in seen.items()
    }
    fastest = max(PEERS, key=lambda name: rate[name])
    ratio = rate[OURS] / rate[fastest]
    cells = [f"{rate[name]:,.0f} ({seen[name][0]['commits_per_step']:.1f})" for name in seen]
    verdict = "met" if ratio >= goal else "**not met**"
    said = f"{ratio:.2f}× {fastest}"
    return [f"{WHAT[effect]}, `{durability}`", *cells, said, f"≥ {goal:g}×", verdict]


def main() -> int:
    """Exit code 0 when all was measured, whether the goals are met or not."""
    parser = argparse.ArgumentParser(prog="python -m bench.durable_steps", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=30)
    parser.add_argument("--turn", choices=(OURS, *PEERS))
    parser.add_argument("--durability", choices=("process", "power"), default="process")
    parser.add_argument("--effect", choices=tuple(WHAT), default="idempotent")
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    if options.turn:
        job = Job(options.durability, options.effect, options.tasks)
        print(json.dumps(turn(options.turn, job, options.file)))
        return 0
    versions = ", ".join(f"{name} {version(package)}" for name, package in PEERS.items())
    report.put(
        "durable steps",
        f"{report.machine()}; {versions}. Durable steps a second in one process, tasks of 10 "
        "steps with 1 KB outputs, in brackets commits per step; WAL, `process` is "
        'synchronous=NORMAL and `power` FULL for all. LangGraph with `durability="sync"`. '
        f"Medians of {options.rounds} turns of {options.tasks} tasks.",
        ["what", OURS, *PEERS, "against the fastest", "goal", ""],
        compare(options.rounds, options.tasks),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
