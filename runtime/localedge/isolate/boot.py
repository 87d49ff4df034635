"""What an isolate is told before it loads its worker, and what it answers."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from localedge.isolate.failures import Failure
from localedge.project.models import Project


class Boot(BaseModel):
    """The orders of one isolate.

    Shape: `state` is the folder of all local state; `kv_url` None when no KV server is needed;
    `clock_offset_s` how far the workers' clock is moved; `location` whose KV cache it reads, None
    when every read is the newest; `since_ms` when this version began to run, in ms since the epoch;
    `is_watched` while somebody looks at what workers do.
    """

    model_config = ConfigDict(frozen=True)

    project: Project
    state: Path
    kv_url: str | None
    generation: int
    clock_offset_s: float = 0.0
    location: str | None = None
    since_ms: int = 0
    is_watched: bool = False


class Ready(BaseModel):
    """The worker is loaded and waits for events."""

    model_config = ConfigDict(frozen=True)

    handlers: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    boot_ms: float


class NotReady(BaseModel):
    """The worker could not be loaded; the isolate ends."""

    model_config = ConfigDict(frozen=True)

    failure: Failure
