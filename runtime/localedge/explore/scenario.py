"""What is explored: requests, what their client does after an error, and what must hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localedge.explore.holds import Invariant
from localedge.explore.outside import Outside, Service
from localedge.explore.watchdog import PATIENCE_S

if TYPE_CHECKING:
    from localedge.explore.client import Client


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The worker's project, when no config file is to be read.

    Shape: names of KV and D1 bindings; `migrations` are SQL files or folders of them, applied to
    every database.
    """

    kv: tuple[str, ...] = ()
    d1: tuple[str, ...] = ()
    migrations: tuple[Path, ...] = ()
    main: Path | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """What one client does to a worker, and what must hold whatever happens meanwhile.

    Shape: `client` is asynchronous and is given a Client; its `assert`s must hold too. After an
    answer with status 5xx, or none, it waits `wait_s` seconds and asks again, `tries` times in all.
    `service` answers the worker's `fetch`. `config` is the project's config file, by default the
    one that is found from the scenario's folder upwards; `setting` stands for one. `vars` override
    the project's. `setup` is given `env` and the outside once, before anything is explored.
    `lease_s` is for how long a stalled worker sleeps: until all its leases are over. A run is
    stuck after `max_requests` or `max_points` calls, `max_days` of the workers' time, or
    `patience_s` seconds of the machine's.
    """

    client: Callable[[Client], Awaitable[object]]
    must: Sequence[Invariant] = ()
    service: Service = field(default_factory=Service)
    name: str = ""
    config: Path | None = None
    setting: Setting | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)
    setup: Callable[[Any, Outside], Awaitable[object]] | None = None
    tries: int = 12
    wait_s: float = 61.0
    lease_s: float = 61.0
    max_requests: int = 200
    max_points: int = 20_000
    max_days: float = 30.0
    patience_s: float = PATIENCE_S

    @property
    def title(self) -> str:
        """What the table calls it."""
        return self.name or self.client.__name__
