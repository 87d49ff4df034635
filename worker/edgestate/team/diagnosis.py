"""The document's five symptoms, each looked for in the data: the rows that show it, what to do.

Source: the second seed document, 5.2, read 2026-12-01.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from edgestate import clock
from edgestate.bindings import KVBinding
from edgestate.team.breaker import Tally
from edgestate.team.cache import Cache
from edgestate.team.protections import PROTECTIONS
from edgestate.team.record import Record, says
from edgestate.team.snapshots import what_is_wrong
from edgestate.team.sql import inspecting as sql

Rows = list[dict[str, Any]]
SHOWN: Final = 20
WAITS_MS: Final = 300_000
FLAPS: Final = 4


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows that show one thing, and what it is."""

    says: str
    rows: Rows


@dataclass(frozen=True, slots=True)
class Symptom:
    """One of the five symptoms.

    Shape: `evidence` is empty when there is none of it; `advice` is what to do if there is.
    """

    key: str
    title: str
    evidence: tuple[Evidence, ...]
    advice: str

    @property
    def is_found(self) -> bool:
        """Whether the data shows it."""
        return bool(self.evidence)


async def examine(record: Record, *, kv: KVBinding | None = None) -> list[Symptom]:
    """The five symptoms, in the document's order, each with what was found of it."""
    return [
        await _stale(record, kv),
        await _flapping(record),
        await _without_result(record),
        await _repeated(record),
        await _unrestorable(record),
    ]


async def _stale(record: Record, kv: KVBinding | None) -> Symptom:
    unread, behind, versions = await record.batch(
        [
            says(sql.UNREAD_LONG, clock.now_ms(), WAITS_MS, SHOWN),
            says(sql.BEHIND, SHOWN),
            says(sql.TASK_VERSIONS, SHOWN),
        ],
        "read",
    )
    cached = await _cached_versions(kv, versions) if kv is not None else []
    return Symptom(
        "stale",
        "an agent does not get another's new state",
        _kept(
            Evidence("messages wait for longer than five minutes", _plain(unread)),
            Evidence("tasks stand under a context that is not the newest", _plain(behind)),
            Evidence("the cache has another version than the database", cached),
        ),
        "Compare the task in the database with the cache; delete the task's keys in KV and read "
        "again. For tasks under an old context let the planner rebase the goal.",
    )


async def _cached_versions(kv: KVBinding, versions: Any) -> Rows:
    cache = Cache(kv, Tally())
    found: Rows = []
    for row in versions:
        held = await cache.newest("task", row["task_id"])
        if held is not None and held.version != row["version"]:
            found.append(
                {"task_id": row["task_id"], "stored": row["version"], "cached": held.version}
            )
    return found


async def _flapping(record: Record) -> Symptom:
    flapping, gaps = await record.batch(
        [says(sql.FLAPPING, FLAPS, SHOWN), says(sql.GAPS, SHOWN)], "read"
    )
    return Symptom(
        "flapping",
        "a status goes back and forth",
        _kept(
            Evidence("tasks went back or changed hands often", _plain(flapping)),
            Evidence("history does not lead to the stored state", _plain(gaps)),
        ),
        "Look at the task's versions and messages (localedge trace TASK): was it scheduled twice? "
        "A gap means that somebody wrote past the library: every write needs version and fence.",
    )


async def _without_result(record: Record) -> Symptom:
    missing, orphans = await record.batch(
        [says(sql.WITHOUT_RESULT, SHOWN), says(sql.WITHOUT_STATUS, SHOWN)], "read"
    )
    return Symptom(
        "no-result",
        "a task is completed and has no result",
        _kept(
            Evidence("completed, and no result of that attempt", _plain(missing)),
            Evidence("a result, and the task is not completed", _plain(orphans)),
        ),
        "Status and result belong in one batch (Board.complete). Compare the times of both tables "
        "to find where it broke off, and let the critic send the task back.",
    )


async def _repeated(record: Record) -> Symptom:
    planned, sent, results, missing = await record.batch(
        [
            says(sql.TWICE_PLANNED, SHOWN),
            says(sql.TWICE_SENT, SHOWN),
            says(sql.TWICE_RESULTS, SHOWN),
            says(sql.PROTECTIONS, json.dumps(PROTECTIONS)),
        ],
        "read",
    )
    return Symptom(
        "repeated",
        "an agent does a task again",
        _kept(
            Evidence("the same work was planned twice", _plain(planned)),
            Evidence("the same message was sent twice", _plain(sent)),
            Evidence("an attempt has several results", _plain(results)),
            Evidence("the database lacks a protection", _plain(missing)),
        ),
        "Give each write a request id that is the same for each repetition, and see that the "
        "library's migrations are applied.",
    )


async def _unrestorable(record: Record) -> Symptom:
    (rows,) = await record.batch([says(sql.SNAPSHOTS)], "read")
    whole: dict[str, int] = {}
    broken: Rows = []
    for row in rows:
        why = what_is_wrong(row)
        if why is None:
            whole.setdefault(row["task_id"], row["version"])
        else:
            broken.append({"task_id": row["task_id"], "version": row["version"], "why": why})
    for entry in broken:
        entry["newest_whole"] = whole.get(entry["task_id"])
    return Symptom(
        "unrestorable",
        "a state cannot be restored",
        _kept(Evidence("snapshots are not whole", broken[:SHOWN])),
        "restore() goes back to the newest whole snapshot by itself and says which it took.",
    )


def _kept(*evidence: Evidence) -> tuple[Evidence, ...]:
    return tuple(one for one in evidence if one.rows)


def _plain(rows: Any) -> Rows:
    return [dict(row) for row in rows]
