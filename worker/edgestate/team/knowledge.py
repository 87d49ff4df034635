"""What the team knows of the project for good, and of a task while it lasts; each its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import JsonValue

from edgestate import clock
from edgestate.errors import StateError, StoreRejected, VersionConflict
from edgestate.keys import check_id
from edgestate.team.breaker import Tally
from edgestate.team.cache import Cache, Versioned
from edgestate.team.desk import Desk
from edgestate.team.record import says
from edgestate.team.sql import knowledge as sql
from edgestate.team.tracing import trace_id
from edgestate.team.writes import Cycle, Write, text_of

Visibility = Literal["public", "private", "restricted"]
PROJECT: Final = "project"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is known.

    Shape: `stale` if it comes from the cache because the database did not answer.
    """

    scope: str
    key: str
    kind: str
    value: JsonValue
    visibility: Visibility
    version: int
    owner_id: str
    agent_id: str
    stale: bool = False


class Knowledge:
    """One table of facts, of the project (`long_term`) or of tasks (`short_term`).

    Public: all read, the planner and those named write. Private: those named read and write.
    Restricted: all read, the planner writes. Everything else is denied and written down.
    """

    def __init__(self, desk: Desk, shelf: sql.Shelf, cache: Cache | None = None) -> None:
        self._desk = desk
        self._shelf = shelf
        self._table = "knowledge" if shelf is sql.LONG_TERM else "memory"
        self._cache = cache or Cache(None, Tally())

    async def get(
        self, key: str, *, scope: str = PROJECT, min_version: int | None = None
    ) -> Fact | None:
        """The fact `key`, None if there is none.

        Shape: with `min_version` a cached fact of at least that version will do.
        Errors: AccessDenied, written down; StoreUnavailable if nothing is cached either.
        """
        facts: dict[int, Fact] = {}

        async def load() -> Versioned | None:
            found, exists = await self._desk.read(
                says(self._shelf.get, self._desk.me, scope, key),
                says(self._shelf.exists, scope, key),
            )
            if not found:
                if exists:
                    raise await self._desk.denied("read", f"{self._table} {scope}/{key}")
                return None
            fact = _fact(found[0])
            facts[fact.version] = fact
            # What only some may see is kept out of what all can read.
            is_shared = fact.visibility != "private"
            return Versioned(_cached(fact), fact.version, cacheable=is_shared)

        await self._desk.must_be_enrolled()
        id_ = f"{scope}/{key}"
        read = await self._cache.read(self._table, id_, load, min_version=min_version)
        if read is None:
            return None
        if read.version in facts:
            return facts[read.version]
        return _uncached(read)

    async def all(self, *, scope: str = PROJECT, kind: str | None = None) -> list[Fact]:
        """Everything that this agent may see, by key."""
        (rows,) = await self._desk.read(says(self._shelf.all, self._desk.me, scope, kind))
        return [_fact(row) for row in rows]

    async def create(
        self,
        key: str,
        value: JsonValue,
        *,
        kind: str,
        visibility: Visibility,
        acl: Sequence[str] = (),
        scope: str = PROJECT,
        cycle: Cycle | None = None,
        request_id: str | None = None,
    ) -> None:
        """The fact is there, at version 1.

        Shape: `acl` names the agents of a private fact, beside this one, or those who may write a
        public one beside the planner. Neither it nor the visibility can be changed later.
        Errors: AccessDenied; VersionConflict if it exists; ContextConflictError.
        """
        check_id("fact", key)
        named = sorted({*acl, self._desk.me} if visibility == "private" else set(acl))
        values = (scope, key, kind, text_of(value), visibility, json.dumps(named))
        write = Write(
            f"create {self._table}",
            f"{self._table} {scope}/{key}",
            [scope, key, value, kind, visibility, [*named]],
            (
                says(self._shelf.create, self._desk.me, *values, clock.now_ms(), trace_id()),
                says(self._shelf.guard_create),
            ),
            cycle=cycle,
        )
        try:
            await self._desk.write(write, request_id=request_id)
        except StoreRejected as error:
            if "UNIQUE" in str(error):
                raise VersionConflict(write.what, 0, None) from error
            raise

    def updating(self, fact: Fact, value: JsonValue, *, cycle: Cycle | None = None) -> Write:
        """The write that gives a fact, as it was read, another value."""
        head = (self._desk.me, fact.scope, fact.key)
        rest = (text_of(value), fact.version, clock.now_ms(), trace_id())
        return Write(
            f"update {self._table}",
            f"{self._table} {fact.scope}/{fact.key}",
            [fact.scope, fact.key, fact.version, value],
            (says(self._shelf.update, *head, *rest), says(self._shelf.guard_update, *head)),
            cycle=cycle,
        )

    async def update(
        self,
        fact: Fact,
        value: JsonValue,
        *,
        cycle: Cycle | None = None,
        request_id: str | None = None,
    ) -> int:
        """The fact's new version, with `value`.

        Errors: AccessDenied; VersionConflict if it was changed since it was read.
        """
        write = self.updating(fact, value, cycle=cycle)

        async def why(_reason: str) -> StateError:
            stored = await self.get(fact.key, scope=fact.scope)
            return VersionConflict(write.what, fact.version, stored.version if stored else None)

        await self._desk.write(write, request_id=request_id, refused=why)
        return fact.version + 1


def long_term(desk: Desk, cache: Cache | None = None) -> Knowledge:
    """What is known of the project: norms, terms, known errors, decisions, lessons."""
    return Knowledge(desk, sql.LONG_TERM, cache)


def short_term(desk: Desk, cache: Cache | None = None) -> Knowledge:
    """The working memory of tasks; `scope` is the task's id."""
    return Knowledge(desk, sql.SHORT_TERM, cache)


def _fact(row: Any) -> Fact:
    names = [name for name in Fact.__dataclass_fields__ if name != "stale"]
    return Fact(**{name: row[name] for name in names} | {"value": json.loads(row["value"])})


def _cached(fact: Fact) -> JsonValue:
    return {name: getattr(fact, name) for name in Fact.__dataclass_fields__ if name != "stale"}


def _uncached(read: Versioned) -> Fact:
    assert isinstance(read.value, dict)
    fields: dict[str, Any] = dict(read.value)
    return Fact(**fields, stale=read.stale)
