"""What every contender of `bench.durable_steps` is asked to do, and what it says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

Durability = Literal["process", "power"]
Effect = Literal["idempotent", "non_idempotent"]
SYNCHRONOUS: dict[Durability, str] = {"process": "NORMAL", "power": "FULL"}


@dataclass(frozen=True, slots=True)
class Job:
    """`tasks` tasks of `steps` steps, one after the other, each step with an output of 1 KB.

    Shape: every file is in WAL mode; `durability` is "process" (synchronous=NORMAL) or "power"
    (synchronous=FULL).
    """

    durability: Durability
    effect: Effect
    tasks: int
    steps: int = 10
    output_bytes: int = 1000
    warm_up: int = 5


class Measured(TypedDict):
    """What one turn of one contender gave."""

    steps_per_s: float
    cpu_us_per_step: float
    commits_per_step: float


class Counted:
    """A trace callback of SQLite that counts commits of transactions."""

    def __init__(self) -> None:
        self.commits = 0

    def __call__(self, statement: str) -> None:
        self.commits += statement.lstrip().upper().startswith("COMMIT")


def measured(job: Job, took_s: float, cpu_s: float, counted: Counted) -> Measured:
    """The figures of a turn; `counted` saw one task."""
    steps = job.tasks * job.steps
    return {
        "steps_per_s": steps / took_s,
        "cpu_us_per_step": 1e6 * cpu_s / steps,
        "commits_per_step": counted.commits / job.steps,
    }
