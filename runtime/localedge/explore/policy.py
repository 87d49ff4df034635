"""What a run is told to do where its choices say nothing, and what is under way in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from localedge.explore.choices import Choice
from localedge.explore.incarnation import Incarnation
from localedge.explore.outcome import Outcome
from localedge.explore.trace import Decision
from localedge.probe import Call


@dataclass(slots=True)
class Stopped:
    """Why a run was ended from outside; `outcome` None when the rest of it is known."""

    outcome: Outcome | None
    text: str


@dataclass(slots=True)
class LateCall:
    """A call of a dead worker that is carried out at point `at`; 0: when all is over."""

    at: int
    worker: Incarnation
    call: Call
    released: asyncio.Future[None]
    landed: asyncio.Future[None]

    @property
    def has_landed(self) -> bool:
        """Whether it was carried out, or never will be."""
        return self.landed.done()


@dataclass(slots=True)
class Policy:
    """What is chosen where the choices of a run say nothing; by default nothing is.

    Shape: `act` may choose something for a point, `pick` whose turn it is, `lag` an older value
    out of `count`; `is_seen` whether a decision's rest is known.
    """

    act: Callable[[int, Call], Choice | None] = lambda _point, _call: None
    pick: Callable[[int, tuple[int, ...], int], int] = lambda _point, _enabled, default: default
    lag: Callable[[int, int, int], int] = lambda _point, _nth, _count: 0
    is_seen: Callable[[Decision], bool] = lambda _decision: False
