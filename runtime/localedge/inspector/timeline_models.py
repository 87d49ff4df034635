"""A task's life as it is drawn: lanes of isolates, bars of steps, and what happened in between."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Shown(BaseModel):
    """What is shown. Units: all times in ms since the epoch, by the workers' clock."""

    model_config = ConfigDict(frozen=True)


class BandShown(Shown):
    """A lease: from when to when a lane had the task, and how that ended.

    Shape: `how` is "held" while it lasts, else "released", "expired" or "taken over"; `is_exact`
    when its times were seen, and not only what was done under it.
    """

    fence: int
    holder: str | None
    from_ms: int
    to_ms: int
    how: str
    is_exact: bool


class BarShown(Shown):
    """A step, or one attempt at it, that ran in a lane.

    Shape: `status` is that of the step, or "lost" for an attempt whose isolate died in it.
    """

    step_index: int
    action: str
    from_ms: int
    to_ms: int
    status: str
    effect: str


class LaneShown(Shown):
    """An isolate that worked on the task; one lease, when it is not known which isolate had it."""

    pid: int | None
    title: str
    bands: tuple[BandShown, ...]
    bars: tuple[BarShown, ...]


class MarkShown(Shown):
    """Something that happened at one moment.

    Shape: `lane` is the place of its lane, None when it belongs to none; `ray` the request.
    """

    at_ms: int
    kind: Literal["begin", "claim", "lease", "crash", "resume", "ask", "decide", "end"]
    lane: int | None
    text: str
    ray: str | None = None


class Timeline(Shown):
    """The whole of it. Shape: marks are in order."""

    from_ms: int
    to_ms: int
    lanes: tuple[LaneShown, ...]
    marks: tuple[MarkShown, ...]
