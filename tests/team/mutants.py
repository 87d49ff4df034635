"""Protections of the library, each taken away: the model has to notice."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable
from typing import Any, Final

import pytest

from edgestate.team import cache, desk, requests, sagas, snapshots
from edgestate.team.sql import board, knowledge, messages, writing
from edgestate.team.sql import sagas as saga_sql

Mutant = Callable[[pytest.MonkeyPatch], None]


def text(module: Any, name: str, old: str, new: str) -> Mutant:
    """A statement in which `old` is `new`."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        sql = getattr(module, name)
        assert old in sql
        patch.setattr(module, name, sql.replace(old, new))

    return plant


def both(*mutants: Mutant) -> Mutant:
    """All of these at once: one alone is caught by another protection."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        for mutant in mutants:
            mutant(patch)

    return plant


def shelf(name: str, old: str, new: str) -> Mutant:
    """The statement of the shared knowledge in which `old` is `new`."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        sql = getattr(knowledge.LONG_TERM, name)
        assert old in sql
        changed: Any = {name: sql.replace(old, new)}
        patch.setattr(knowledge, "LONG_TERM", dataclasses.replace(knowledge.LONG_TERM, **changed))

    return plant


def python(module: Any, name: str, value: Any) -> Mutant:
    """A function, or one that Python has, that does something else."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(module, name, value, raising=name not in vars(builtins))

    return plant


async def _any_version(
    self: cache.Cache, kind: str, id_: str, load: Any, *, min_version: int | None = None
) -> Any:
    """`Cache.read` that takes whatever is cached."""
    held = await self.newest(kind, id_) if min_version is not None else None
    return held or await _read(self, kind, id_, load)


_read = cache.Cache.read
_FENCED: Final = "AND agent_id = ?2 AND fence = ?3 AND status = 'running'"
_LOOSE: Final = "AND ?2 = ?2 AND ?3 = ?3 AND status <> 'completed'"
_POINTER: Final = "AND ?4 = (SELECT r.context_version"
_NO_POINTER: Final = "AND ?4 <> (SELECT -1 - r.context_version"
_KNOW: Final = ("create", "get", "list_all", "update")
_TALK: Final = ("send", "poll", "consume", "correct")
_WORK: Final = ("claim", "complete", "time_passes")
_CACHE: Final = ("get", "update", "a_slow_reader_refills_the_cache", "get_without_a_database")
_SNAP: Final = ("claim", "complete", "review", "damage_the_newest_snapshot", "restore")

MUTANTS: Final[dict[str, tuple[Mutant, tuple[str, ...]]]] = {
    "facts are read without their ACL": (
        shelf("get", f"AND {knowledge.READABLE}", "AND ?1 = ?1"),
        _KNOW,
    ),
    "lists are made without ACL": (shelf("all", f"AND {knowledge.READABLE}", "AND ?1 = ?1"), _KNOW),
    "facts are changed without their ACL": (
        shelf("update", f"AND {knowledge.WRITABLE}", "AND ?1 = ?1"),
        _KNOW,
    ),
    "facts are changed at any version": (
        shelf("update", "AND k.version = ?5", "AND ?5 = ?5"),
        _KNOW,
    ),
    "roles are not asked for": (
        text(writing, "GUARD_ROLE", "WHERE NOT EXISTS", "WHERE 0 = 1 AND EXISTS"),
        ("rebase", "plan", "review", "set_setting", "draft_context"),
    ),
    "the holder and its fence are ignored": (
        both(text(board, "PUT_RESULT", _FENCED, _LOOSE), text(board, "COMPLETE", _FENCED, _LOOSE)),
        _WORK,
    ),
    "leases are ignored": (
        text(board, "CLAIM", "AND t.lease_expires_at <= ?5", "AND ?5 = ?5"),
        ("claim",),
    ),
    "tasks wait for no other": (
        text(board, "CLAIM", "AND NOT (s.status", "AND 0 AND (s.status"),
        ("claim",),
    ),
    "claims are not counted": (
        text(board, "CLAIM", "t.claims < ?7", "?7 = ?7"),
        ("claim", "release"),
    ),
    "what was given back is never set aside": (
        text(board, "SET_ASIDE", "status = 'pending' OR", "0 OR"),
        ("claim", "release", "set_aside"),
    ),
    "the context is not checked": (
        both(
            text(writing, "GUARD_CONTEXT", "'context' WHERE", "'context' WHERE 0 AND"),
            text(board, "PUT_RESULT", _POINTER, _NO_POINTER),
            text(board, "COMPLETE", _POINTER, _NO_POINTER),
        ),
        ("claim", "complete", "freeze"),
    ),
    "the context of effects is not checked": (
        text(writing, "GUARD_CONTEXT", "'context' WHERE", "'context' WHERE 0 AND"),
        ("freeze", "poll", "consume"),
    ),
    "old holders are not fenced off by a new context": (
        text(board, "REBASE", "fence = fence + 1", "fence = fence"),
        ("claim", "freeze", "rebase"),
    ),
    "fingerprints of requests are ignored": (
        both(
            python(desk, "fingerprint", lambda write: write.operation),
            python(requests, "fingerprint", lambda write: write.operation),
        ),
        ("send", "claim_request"),
    ),
    "requests are not known again": (
        both(
            text(writing, "DONE_REQUEST", "VALUES (?1", "VALUES (?1 || random()"),
            text(writing, "SELECT_ANSWER", "answer FROM", "'null' AS answer FROM"),
            text(writing, "SELECT_ANSWER", "WHERE request_id = ?1", "WHERE ?1 = ?1"),
        ),
        ("decide",),
    ),
    "a request is taken over before its time": (
        text(writing, "CLAIM_REQUEST", "expires_at <= ?6 OR", "?6 = ?6 OR"),
        ("claim_request",),
    ),
    "a request is taken over with the same fence": (
        text(writing, "CLAIM_REQUEST", "ELSE fence + 1", "ELSE fence"),
        ("claim_request", "finish_request", "time_passes"),
    ),
    "messages are consumed again": (
        text(messages, "GUARD_CONSUME", "changes() <> 1", "0"),
        ("poll", "consume"),
    ),
    "messages are lost once delivered": (
        text(messages, "POLL", "d.consumed_at IS NOT NULL)", "d.delivered_at < ?2 + 1e15)"),
        _TALK,
    ),
    "anybody corrects a message": (
        text(messages, "SEND_CORRECTION", "AND source_agent_id = ?2", "AND ?2 = ?2"),
        _TALK,
    ),
    "an older value replaces a newer one in the cache": (
        python(cache, "cache_key", lambda kind, id_, _: cache.cache_prefix(kind, id_)),
        _CACHE,
    ),
    "a cached value older than wanted will do": (
        python(cache.Cache, "read", _any_version),
        _CACHE,
    ),
    "damaged snapshots are restored": (
        python(snapshots, "what_is_wrong", lambda row: None),
        _SNAP,
    ),
    "sagas are undone in the order in which they were done": (
        python(sagas, "reversed", list),
        ("run_a_saga",),
    ),
    "what a saga has done is not recorded": (
        text(saga_sql, "MOVE_STEP", "forward = ?4", "forward = substr(?4, 1, 0) || forward"),
        ("run_a_saga",),
    ),
}
"""Each with the rules of the machine that are enough to see it."""
