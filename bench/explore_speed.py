"""How many crash runs a second: `python -m bench.explore_speed` (two processes).

Each line has the rate by the clock, and by the CPU time of two cores: what the machine would do
if nothing else ran on it.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path

from tests.explore.scenarios import document, tasks, trip

from localedge.explore.exploring import Options, explore
from localedge.explore.outcome import Row
from localedge.explore.sigkill import real_row

HERE = Path(__file__).parent
CORES = 2
SUBJECTS = (
    ("the document's loop", document.effects, 1),
    ("a task of 4 steps", tasks.idempotent, 2),
    ("a task of 10 steps", tasks.ten, 2),
    ("the reference worker over HTTP", trip.trip, 2),
)


def cpu_s() -> float:
    """The CPU time of this process and its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def line(name: str, play: Callable[[], Row]) -> None:
    """Runs, equal ones that need not be played, and how many a second."""
    begun, cpu = time.perf_counter(), cpu_s()
    row = play()
    seconds, cores_s = time.perf_counter() - begun, (cpu_s() - cpu) / CORES
    print(
        f"{name}: {row.runs} runs and {row.merged} equal ones in {seconds:.2f} s; "
        f"{row.runs / seconds:.0f} a second played by the clock, {row.runs / cores_s:.0f} by CPU "
        f"({(row.runs + row.merged) / cores_s:.0f} with the equal ones)"
    )


def main() -> None:
    """All lines."""
    for name, scenario, depth in SUBJECTS:
        options = Options(crash=True, depth=depth, jobs=CORES)
        line(f"{name}, depth {depth}", lambda s=scenario, o=options: explore(s, HERE, o).rows[0])
    killed = tasks.scenario(10, "non_idempotent")
    line("SIGKILL, real stores", lambda: real_row(killed, HERE, wanted=80, jobs=CORES))


if __name__ == "__main__":
    main()
