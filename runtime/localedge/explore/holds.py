"""What must hold: invariants that are ready to use, and how to write one's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping
from typing import Any, TypeAlias

from localedge.explore.answers import Answer, Ask
from localedge.explore.outcome import Broken, Outcome
from localedge.explore.stores import View
from localedge.probe import Call

Memory: TypeAlias = Hashable
Read: TypeAlias = Callable[[View], Awaitable[Any]]


class Invariant:
    """Something that must hold in every run.

    Shape: what it has to remember in a run is an immutable value that it is given and returns.
    Any method may raise Broken.
    """

    def begin(self) -> Memory:
        """What is remembered at first."""
        return None

    async def written(self, memory: Memory, view: View) -> Memory:
        """A call of a worker has written to a store."""
        return memory

    async def acted(self, memory: Memory, view: View, call: Call) -> Memory:
        """A worker is about to call a tool."""
        return memory

    async def answered(self, memory: Memory, view: View, ask: Ask, answer: Answer) -> Memory:
        """The client was given `answer`."""
        return memory

    async def ended(self, memory: Memory, view: View) -> None:
        """The client has done all that it wanted to do."""


class EffectsAtMostOnce(Invariant):
    """No effect outside happens twice.

    Shape: `allowed` are the names that may; `limit` how often the others may happen.
    """

    def __init__(self, *, allowed: Collection[str] = (), limit: int = 1) -> None:
        self._allowed = frozenset(allowed)
        self._limit = limit

    async def ended(self, memory: Memory, view: View) -> None:
        twice = {
            name: count
            for name, count in view.outside.counts().items()
            if count > self._limit and name not in self._allowed
        }
        if twice:
            shown = ", ".join(f"{name} happened {count} times" for name, count in twice.items())
            raise Broken(Outcome.DUPLICATE, shown)


class Kept(Invariant):
    """What `read` says after an answer is still so at the end: entries may be added, not lost.

    Shape: `read` returns a mapping or a set. Only what is there when the client gets an answer
    without error counts as acknowledged.
    """

    def __init__(self, read: Read, what: str = "acknowledged state") -> None:
        self._read = read
        self._what = what

    async def _items(self, view: View) -> frozenset[Any]:
        found = await self._read(view)
        return frozenset(found.items() if isinstance(found, Mapping) else found)

    async def answered(self, memory: Memory, view: View, ask: Ask, answer: Answer) -> Memory:
        known: frozenset[Any] = memory if isinstance(memory, frozenset) else frozenset()
        if answer.is_error:
            return memory
        found = await self._items(view)
        if lost := known - found:
            raise Broken(Outcome.LOST, f"{self._what} is gone: {_some(lost)}")
        return found

    async def ended(self, memory: Memory, view: View) -> None:
        if isinstance(memory, frozenset) and (lost := memory - await self._items(view)):
            raise Broken(Outcome.LOST, f"{self._what} is gone: {_some(lost)}")


class Grows(Invariant):
    """Each number that `read` returns by name never falls: versions, fences, counters."""

    def __init__(self, read: Read, what: str = "a version") -> None:
        self._read = read
        self._what = what

    async def written(self, memory: Memory, view: View) -> Memory:
        known: Mapping[Any, Any] = dict(memory) if isinstance(memory, frozenset) else {}
        found: Mapping[Any, Any] = await self._read(view)
        for name, number in known.items():
            if name in found and found[name] < number:
                text = f"{self._what} of {name} fell from {number} to {found[name]}"
                raise Broken(Outcome.CORRUPT, text)
        return frozenset(found.items())


class IndexEqualsRows(Invariant):
    """At the end, the ids that `index` returns are those that `rows` returns."""

    def __init__(self, index: Read, rows: Read) -> None:
        self._index = index
        self._rows = rows

    async def ended(self, memory: Memory, view: View) -> None:
        index, rows = set(await self._index(view)), set(await self._rows(view))
        if missing := rows - index:
            raise Broken(Outcome.LOST, f"the index has lost {_some(missing)}")
        if extra := index - rows:
            raise Broken(Outcome.DIVERGED, f"the index names {_some(extra)}, which is not there")


class Holds(Invariant):
    """At the end, `check(view)` returns, or raises AssertionError or Broken."""

    def __init__(self, check: Read, outcome: Outcome = Outcome.DIVERGED) -> None:
        self._check = check
        self._outcome = outcome

    async def ended(self, memory: Memory, view: View) -> None:
        try:
            await self._check(view)
        except AssertionError as exc:
            name = getattr(self._check, "__name__", "a check")
            raise Broken(self._outcome, f"{name}: {exc or 'does not hold'}") from exc


def _some(items: Collection[Any]) -> str:
    shown = sorted(map(str, items))
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    return ", ".join(shown[:3]) + more
