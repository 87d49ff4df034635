"""What is explored: a worker's request, what its client and a person do, what must hold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from localedge.explore.world import World
from localedge.probe import Call, Probe


class Answer(StrEnum):
    """What the client is told.

    Shape: `DONE`: it is finished; `ASKED`: a person has to decide; `BUSY`: someone else is at it.
    """

    DONE = "done"
    ASKED = "asked"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Stored:
    """What the stores say: the finished steps with their outputs, and whether the task is over."""

    successes: frozenset[tuple[int, str]]
    is_completed: bool


class Scenario(Protocol):
    """One task, to be driven to its end whatever happens to its workers."""

    @property
    def name(self) -> str:
        """What the table calls it."""

    @property
    def lease_s(self) -> float:
        """How long the client waits after a death until a lease is surely over."""

    @property
    def steps(self) -> int:
        """How many steps the task has."""

    async def prepare(self, world: World) -> None:
        """What is there before the first request."""

    async def request(self, env: Any, probe: Probe, world: World) -> Answer:
        """One request of the client to one worker."""

    async def decide(self, env: Any, world: World) -> None:
        """A person, who can see what happened outside, answers the open question."""

    async def stored(self, world: World) -> Stored:
        """What the stores say, read past any worker."""

    async def committed(self, world: World) -> tuple[int, object]:
        """The task's fence, and all that only a holder of the newest fence may change."""

    def step_of(self, call: Call) -> int:
        """The step that a tool call belongs to."""
