"""What a store can promise, declared; a caller reads it instead of asking for the store's type."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traits:
    """Promises of a store.

    Shape: `versions`: compare-and-set and creation once per request; `leases`: leases with a
    growing fence; `queries`: searches over all sessions; `counters`: rate windows shared by all
    workers; `survives`: what it holds outlives the process; `value_limit_bytes`: the largest
    single value.
    """

    name: str
    versions: bool
    leases: bool
    queries: bool
    counters: bool
    survives: bool
    value_limit_bytes: int


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long a session lives.

    Units: `ttl_s` after its last activity it is gone with all that belongs to it; `idle_s`
    without activity and it takes no more requests.
    """

    ttl_s: float = 24 * 60 * 60
    idle_s: float = 60 * 60


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one task until `expires_at` (seconds since the epoch).

    Shape: `fence` is larger than that of every earlier lease of the task; every write under the
    lease carries it. `holder` is unique per incarnation of a worker.
    """

    task_id: str
    holder: str
    fence: int
    expires_at: float
    ttl_s: float


@dataclass(frozen=True, slots=True)
class RateTaken:
    """Whether a call may be made now; if not, when the window resets (seconds since the epoch)."""

    is_allowed: bool
    reset_at: float


@dataclass(frozen=True, slots=True)
class Swept:
    """Ids of the sessions that a sweep marked `expired`, and of those it deleted."""

    expired: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
