"""The stores of one exploration: the same bindings as anywhere, over memory, and copyable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from localedge.d1.database import D1Database
from localedge.d1.engine import Engine, Query, Value
from localedge.d1.memory import Copy, MemoryEngine
from localedge.d1.statements import parse
from localedge.explore.outside import Effect, Outside
from localedge.kv.memory import Lag, MemoryState, MemoryStore
from localedge.kv.namespace import KvNamespace
from localedge.values import JsObject


@dataclass(frozen=True)
class State:
    """All that outlives a worker, at one moment."""

    databases: tuple[Copy, ...]
    namespaces: tuple[MemoryState, ...]
    happened: tuple[Effect, ...]
    resent: int
    wall_s: float

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Equal for states that no later worker, client or judge can tell apart."""
        return (*self.timeless_key, self.wall_s)

    @cached_property
    def timeless_key(self) -> tuple[object, ...]:
        """Equal for states that differ by the time at most."""
        return (
            tuple(database.key for database in self.databases),
            tuple(frozenset(namespace.entries.items()) for namespace in self.namespaces),
            tuple((effect.name, effect.key) for effect in self.happened),
        )

    def mentions(self, text: str) -> bool:
        """Whether a database or a namespace contains `text`."""
        sought = text.encode()
        return any(sought in database.pages for database in self.databases) or any(
            sought in key or sought in entry.value
            for namespace in self.namespaces
            for key, entry in namespace.entries.items()
        )

    def same_stores(self, other: State) -> bool:
        """Whether databases and namespaces hold the same, past values of keys included."""
        pairs = zip(self.databases, other.databases, strict=True)
        return self.namespaces == other.namespaces and all(a.is_same_as(b) for a, b in pairs)


@dataclass(slots=True)
class Stores:
    """Databases and namespaces by the name of their binding, and the outside."""

    databases: dict[str, MemoryEngine]
    namespaces: dict[str, MemoryStore]
    outside: Outside
    wall: Callable[[], float]
    set_wall: Callable[[float], None]
    values: Mapping[str, Any] = field(default_factory=dict)

    def bindings(self) -> dict[str, Any]:
        """What `env` holds: bindings, vars and secrets."""
        made: dict[str, JsObject] = {n: D1Database(e) for n, e in self.databases.items()}
        made |= {name: KvNamespace(store) for name, store in self.namespaces.items()}
        return {**self.values, **made}

    def lag(self, lag: Lag | None) -> None:
        """Reads of every namespace ask `lag`."""
        for store in self.namespaces.values():
            store.lag = lag

    def state(self) -> State:
        """A copy of everything."""
        return State(
            tuple([engine.snapshot() for engine in self.databases.values()]),
            tuple([store.snapshot() for store in self.namespaces.values()]),
            self.outside.happened,
            self.outside.resent,
            self.wall(),
        )

    def put_back(self, state: State) -> None:
        """Everything is as it was at `state`."""
        for engine, database in zip(self.databases.values(), state.databases, strict=True):
            engine.restore(database)
        for store, namespace in zip(self.namespaces.values(), state.namespaces, strict=True):
            store.restore(namespace)
        self.outside.happened = state.happened
        self.outside.resent = state.resent
        self.set_wall(state.wall_s)

    def part(self) -> None:
        """A forked process has databases of its own."""
        for engine in {id(engine): engine for engine in self.databases.values()}.values():
            engine.part()

    def close(self) -> None:
        """Let go of the databases."""
        for engine in self.databases.values():
            engine.close()


@dataclass(frozen=True, slots=True)
class View:
    """What an invariant may look at: the stores as they are, past any worker.

    Shape: `env` holds the bindings as worker code has them; its calls are no points of the run.
    """

    stores: Stores
    env: Any
    outside: Outside

    async def sql(self, text: str, *values: Value, database: str | None = None) -> list[Any]:
        """The rows of a query on the only database, or on the one with that binding."""
        (result,) = await self._engine(database).run([Query(parse(text), values)])
        return list(result.rows)

    async def sql_of(self, *texts: str, database: str | None = None) -> list[list[Any]]:
        """The rows of several queries, read together."""
        queries = [Query(parse(text)) for text in texts]
        engine = self._engine(database)
        if isinstance(engine, MemoryEngine):
            return engine.look(queries)
        return [list(result.rows) for result in await engine.run(queries)]

    def _engine(self, database: str | None) -> Engine:
        engines = self.stores.databases
        return engines[database] if database else next(iter(engines.values()))

    def entry(self, key: str, namespace: str | None = None) -> str | None:
        """The newest text at `key` of the only namespace, or of the one with that binding."""
        stores = self.stores.namespaces
        store = stores[namespace] if namespace else next(iter(stores.values()))
        entry = store.values(key.encode())[0]
        return None if entry is None else entry.value.decode()
