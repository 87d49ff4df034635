"""Ten ways to break our own library, and the scenario that has to notice each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.explore.scenarios import tasks
from tests.explore.scenarios.cached import cached

from edgestate import D1StateStore, run, sql
from edgestate.d1_call import D1Calls
from edgestate.keeper import LeaseKeeper
from edgestate.team import cache
from localedge.explore import Scenario

Patch = pytest.MonkeyPatch


def guard_removed(patch: Patch) -> None:
    patch.setattr(sql, "GUARD_COMMIT", "SELECT ?1, ?2")


def pointer_not_in_the_batch(patch: Patch) -> None:
    """The result is one write, the pointer another."""
    whole = D1Calls.batch

    async def batch(self: D1Calls, statements: Sequence[Any]) -> Any:
        parts = [await whole(self, [one]) for one in statements]
        return [rows for part in parts for rows in part]

    patch.setattr(D1Calls, "batch", batch)


def insert_or_ignore(patch: Patch) -> None:
    """The first status of a step is its last."""
    patch.setattr(sql, "SET_RESULT", f"{sql.SET_RESULT} AND status = 'pending'")
    head = sql.PUT_STEP.partition("ON CONFLICT")[0]
    patch.setattr(sql, "PUT_STEP", f"{head} ON CONFLICT (task_id, step_index) DO NOTHING")


def check_then_insert(patch: Patch) -> None:
    """Whether the request has a task is looked up first, and nothing else tells two apart."""
    start = D1StateStore.start_task

    async def start_task(self: D1StateStore, task: Any, holder: str, *, ttl_s: float) -> Any:
        known = await self.get_tasks_by_session(task.session_id)
        if known:
            task = known[0]
        else:
            task.request_id = f"{task.request_id}-{holder}"
        return await start(self, task, holder, ttl_s=ttl_s)

    patch.setattr(D1StateStore, "start_task", start_task)


def release_by_delete(patch: Patch) -> None:
    """The fence goes with the lease."""
    kept = "lease_expires_at = CASE WHEN ?16 = 1"
    gone = f"fence = CASE WHEN ?16 = 1 THEN 0 ELSE fence END, {kept}"
    patch.setattr(sql, "COMMIT_TASK", sql.COMMIT_TASK.replace(kept, gone))


def renewal_off(patch: Patch) -> None:
    async def renew(self: LeaseKeeper) -> None:
        return None

    patch.setattr(LeaseKeeper, "renew", renew)
    patch.setattr(LeaseKeeper, "left_s", lambda self: float("inf"))


def version_check_off(patch: Patch) -> None:
    patch.setattr(sql, "COMMIT_TASK", sql.COMMIT_TASK.replace("AND version = ?2", "AND ?2 = ?2"))
    unversioned = sql.PUT_TASK.replace("?18 = 1 AND", "?18 = ?18 AND")
    patch.setattr(sql, "PUT_TASK", unversioned)


def intent_after_the_effect(patch: Patch) -> None:
    whole = run.Run._flush

    async def flush(self: run.Run, **how: Any) -> None:
        task = self._checkpoint.get_task()
        if any(step.is_uncertain for step in task.steps) and task.status == "running":
            return
        await whole(self, **how)

    patch.setattr(run.Run, "_flush", flush)


def stale_cache_fill(patch: Patch) -> None:
    """One key for all versions: who fills it late puts an old value back."""
    patch.setattr(cache, "cache_key", lambda kind, id_, _version: cache.cache_prefix(kind, id_))


def fence_missing(patch: Patch) -> None:
    """Whoever asks has the task, and whoever writes is believed."""
    for name in ("ACQUIRE", "CLAIM", "CLAIM_OF_REQUEST"):
        text = getattr(sql, name).replace("lease_expires_at <= ?4", "?4 = ?4")
        patch.setattr(sql, name, text)
    patch.setattr(
        sql,
        "MOVE_POINTER",
        sql.MOVE_POINTER.replace("AND version = ?2 AND fence = ?5", "AND ?2 + ?5"),
    )
    unfenced = sql.COMMIT_TASK.replace(
        "AND version = ?2 AND (?15 IS NULL OR fence = ?15)", "AND ?2"
    )
    patch.setattr(sql, "COMMIT_TASK", unfenced)


@dataclass(frozen=True)
class Mutant:
    """One broken library; `options` are what explores `scenario`."""

    break_it: Callable[[Patch], None]
    scenario: Scenario
    options: dict[str, Any] = field(default_factory=lambda: {"crash": True})


RACE = {"race": True, "preemptions": 2}
two = tasks.scenario(2, "non_idempotent")
keyed = tasks.scenario(2, "idempotent")
MUTANTS = [
    Mutant(guard_removed, keyed),
    Mutant(pointer_not_in_the_batch, keyed, {"crash": True}),
    Mutant(insert_or_ignore, two),
    Mutant(check_then_insert, tasks.meeting(2, "idempotent"), RACE),
    Mutant(release_by_delete, keyed),
    Mutant(renewal_off, tasks.slow, {"race": True, "preemptions": 1}),
    Mutant(version_check_off, tasks.versions, RACE),
    Mutant(intent_after_the_effect, two),
    Mutant(stale_cache_fill, cached, RACE),
    Mutant(fence_missing, tasks.meeting(2, "non_idempotent"), RACE),
]
