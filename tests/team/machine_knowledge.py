"""Knowledge, memory, settings and the cache in the model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule
from tests.team.machine_talk import TalkRules
from tests.team.machine_world import Errors, Fate, agents, fates, mostly

from edgestate.errors import StoreUnavailable, VersionConflict
from edgestate.team import AccessDenied, Fact, SettingTooOld, TeamMember, Versioned
from edgestate.team.knowledge import Knowledge

values = st.sampled_from(("a", "b", "c"))
shelves = st.sampled_from(("knowledge", "memory"))
keys = st.sampled_from(("norm", "split", "habit", "later"))


@dataclass
class Known:
    """A fact as the model knows it; `cached` is the newest version that anybody has read."""

    owner: str
    visibility: str
    named: frozenset[str]
    values: list[str] = field(default_factory=list)
    cached: int = 0

    def is_readable_by(self, name: str) -> bool:
        return self.visibility != "private" or name in self.named

    def is_writable_by(self, name: str) -> bool:
        if self.visibility == "private":
            return name in self.named
        return name == "planner" or (self.visibility == "public" and name in self.named)


class KnowledgeRules(TalkRules):
    """Who sees and changes what."""

    def begin_knowledge(self) -> None:
        self.facts: dict[tuple[str, str], Known] = {}
        self.setting = 0
        self.revision = 0
        for shelf in ("knowledge", "memory"):
            self._create("planner", shelf, "norm", "public", ("worker-2",), Fate())
            self._create("planner", shelf, "split", "restricted", (), Fate())
            self._create("worker-1", shelf, "habit", "private", ("critic",), Fate())

    def _scope(self, shelf: str) -> str:
        return "project" if shelf == "knowledge" else "t0"

    def _of(self, member: TeamMember, shelf: str) -> Knowledge:
        return member.knowledge if shelf == "knowledge" else member.memory

    @rule(
        name=agents,
        shelf=shelves,
        visibility=st.sampled_from(("public", "restricted", "private")),
        acl=st.sampled_from(((), ("critic",), ("planner", "worker-1"))),
        key=st.sampled_from(("later", "later", "norm")),
        fate=fates,
    )
    def create(
        self,
        name: str,
        shelf: str,
        visibility: str,
        acl: tuple[str, ...],
        key: str,
        fate: Fate,
    ) -> None:
        self._create(name, shelf, key, visibility, acl, fate)

    def _create(
        self, name: str, shelf: str, key: str, visibility: Any, acl: tuple[str, ...], fate: Fate
    ) -> None:
        refused: Errors | None = None
        if visibility != "private" and name != "planner":
            refused = (AccessDenied,)
        elif (shelf, key) in self.facts:
            refused = (VersionConflict,)
        request = f"create {shelf} {key} {self.now} {len(self.facts)} {self.denied} {name}"
        request += f" {visibility} {acl}"
        scope = self._scope(shelf)

        outcome = self.act(
            name,
            lambda m: self._of(m, shelf).create(
                key,
                "a",
                kind="norm",
                visibility=visibility,
                acl=acl,
                scope=scope,
                request_id=request,
            ),
            fate,
        )

        if self.happened(outcome, refused):
            named = {*acl, name} if visibility == "private" else {*acl}
            self.facts[shelf, key] = Known(name, visibility, frozenset(named), ["a"])

    @rule(
        name=agents,
        shelf=shelves,
        key=keys,
        wanted=st.sampled_from((None, None, 1, 2, 2)),
        fate=fates,
    )
    def get(self, name: str, shelf: str, key: str, wanted: int | None, fate: Fate) -> None:
        known, scope = self.facts.get((shelf, key)), self._scope(shelf)
        is_cached = known is not None and wanted is not None and known.cached >= wanted
        refused: Errors | None = None
        if known is not None and not known.is_readable_by(name):
            refused = (AccessDenied,)

        outcome = self.act(
            name, lambda m: self._of(m, shelf).get(key, scope=scope, min_version=wanted), fate
        )

        if not self.happened(outcome, refused):
            return
        if known is None:
            assert outcome.value is None
            return
        self._check(known, outcome.value, known.cached if is_cached else len(known.values))
        if known.visibility != "private":
            known.cached = max(known.cached, outcome.value.version)

    def _check(self, known: Known, fact: Fact, version: int, *, stale: bool = False) -> None:
        found = (fact.version, fact.value, fact.visibility, fact.stale)
        assert found == (version, known.values[version - 1], known.visibility, stale)

    @rule(name=agents, shelf=shelves)
    def list_all(self, name: str, shelf: str) -> None:
        facts = self.act(name, lambda m: self._of(m, shelf).all(scope=self._scope(shelf))).value

        assert {fact.key: (fact.version, fact.value) for fact in facts} == {
            key: (len(known.values), known.values[-1])
            for (place, key), known in self.facts.items()
            if place == shelf and known.is_readable_by(name)
        }

    @rule(
        name=agents,
        shelf=shelves,
        key=keys,
        behind=st.sampled_from((0, 0, 1)),
        value=values,
        fate=fates,
    )
    def update(self, name: str, shelf: str, key: str, behind: int, value: str, fate: Fate) -> None:
        known = self.facts.get((shelf, key))
        if known is None:
            return
        scope, version = self._scope(shelf), len(known.values) - behind
        owner = self.members[known.owner]
        fact = self.run(self._of(owner, shelf).get(key, scope=scope))
        assert fact is not None
        if known.visibility != "private":
            known.cached = fact.version
        seen = replace(fact, version=version)
        refused: Errors | None = None
        if not known.is_writable_by(name):
            refused = (AccessDenied,)
        elif behind:
            refused = (VersionConflict,)
        request = f"update {shelf} {key} {name} {version} {value} {self.now} {self.denied}"
        request += f" {len(known.values)}"

        outcome = self.act(
            name,
            lambda m: self._of(m, shelf).update(seen, value, request_id=request),
            Fate(fate.dies_at, fate.is_after, fate.repeats),
        )

        if self.happened(outcome, refused):
            assert outcome.value == version + 1
            known.values.append(value)

    # --- bad times ---

    @rule(name=agents, data=st.data())
    def get_without_a_database(self, name: str, data: st.DataObject) -> None:
        shelf, key = self._mostly_cached(data, 1)
        known = self.facts.get((shelf, key))
        self.mortals[name].is_down = True
        is_cached = known is not None and known.cached > 0

        outcome = self.act(name, lambda m: self._of(m, shelf).get(key, scope=self._scope(shelf)))

        if self.happened(outcome, None if is_cached else (StoreUnavailable,)):
            assert known is not None
            self._check(known, outcome.value, known.cached, stale=True)
        # Its breaker is open now: this life has seen enough.
        self.run(self.born(name))

    def _mostly_cached(self, data: st.DataObject, version: int) -> tuple[str, str]:
        """A fact of which that version, or a newer one, is in the cache, if there is any."""
        cached = sorted(place for place, known in self.facts.items() if known.cached >= version)
        if cached and data.draw(st.sampled_from((True, True, True, False))):
            return data.draw(st.sampled_from(cached))
        return data.draw(shelves), data.draw(keys)

    @rule(data=st.data(), name=agents)
    def a_slow_reader_refills_the_cache(self, data: st.DataObject, name: str) -> None:
        shelf, key = self._mostly_cached(data, 2)
        known = self.facts.get((shelf, key))
        if known is None or known.cached < 2:
            return
        old = Fact(
            self._scope(shelf), key, "norm", known.values[0], "public", 1, known.owner, "planner"
        )
        value: Any = {n: getattr(old, n) for n in Fact.__dataclass_fields__ if n != "stale"}
        late = Versioned(value | {"visibility": known.visibility}, 1)
        # Of another isolate: it does not know what it has put there before.
        cache = type(self.members[name].cache)(self.kv, self.members[name].cache._tally)  # type: ignore[arg-type]
        self.run(cache.put(shelf, f"{self._scope(shelf)}/{key}", late))

    # --- settings ---

    @rule(name=mostly("planner"), behind=st.sampled_from((0, 0, 1)), fate=fates)
    def set_setting(self, name: str, behind: int, fate: Fate) -> None:
        version = self.setting - behind
        refused: Errors | None = None
        if name != "planner":
            refused = (AccessDenied,)
        elif behind:
            refused = (VersionConflict,)
        request = f"set {version} {self.now} {self.denied} {name} {self.setting}"

        outcome = self.act(
            name,
            lambda m: m.settings.set("model", version, version=version, request_id=request),
            fate,
        )

        if self.happened(outcome, refused):
            assert outcome.value == version + 1
            self.setting, self.revision = version + 1, self.revision + 1

    @rule(name=agents, wanted=st.sampled_from((0, 0, 1)))
    def get_setting(self, name: str, wanted: int) -> None:
        async def doing(member: TeamMember) -> Any:
            member.settings.at_least(self.revision)
            return await member.settings.get("model", min_version=self.setting + wanted)

        outcome = self.act(name, doing)

        if self.happened(outcome, (SettingTooOld,) if wanted else None):
            assert (outcome.value.version if outcome.value else 0) == self.setting
