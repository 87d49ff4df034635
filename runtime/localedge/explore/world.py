"""Everything outside a worker: its stores, the effects that it had, and the time. Copyable."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import time_machine

from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.memory import Copy, MemoryEngine
from localedge.explore.memory_kv import MemoryStore
from localedge.kv.namespace import KvNamespace
from localedge.kv.store import Entry
from localedge.probe import Probe

START_S: Final = 1_790_000_000.0


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that happened outside, because a worker did it."""

    name: str
    key: str | None
    worker: int


class EffectLog:
    """What happened outside the worker, as the other side knows it.

    Shape: an effect with a key happens once, however often it is asked for; `repeats` counts
    the other times.
    """

    def __init__(self) -> None:
        self.happened: tuple[Effect, ...] = ()
        self.repeats = 0

    def happen(self, name: str, *, key: str | None, worker: int) -> None:
        """The effect `name` happens, unless its key has been seen."""
        if key is not None and any(effect.key == key for effect in self.happened):
            self.repeats += 1
            return
        self.happened = (*self.happened, Effect(name, key, worker))

    def twice(self) -> dict[str, int]:
        """The effects that happened more than once, and how often."""
        counts = Counter(effect.name for effect in self.happened)
        return {name: count for name, count in counts.items() if count > 1}


@dataclass(frozen=True, slots=True)
class State:
    """A whole world at one moment: `point` binding calls after its beginning."""

    database: Copy
    entries: dict[bytes, Entry]
    happened: tuple[Effect, ...]
    repeats: int
    now_s: float
    point: int
    worker: int

    def is_same_as(self, other: State) -> bool:
        """Whether a new worker could not tell the two apart."""
        return (
            self.database.key == other.database.key
            and self.entries == other.entries
            and self.happened == other.happened
        )


class World:
    """Stores and clock of one exploration; used as a context manager, for the clock."""

    def __init__(self) -> None:
        self.engine = MemoryEngine()
        self.database = D1Database(self.engine)
        self.kv = MemoryStore()
        self.effects = EffectLog()
        self.point = 0
        self.worker = 0
        self._travel = time_machine.travel(START_S, tick=False)

    def __enter__(self) -> World:
        self._clock = self._travel.start()
        self._now_s = START_S
        return self

    def __exit__(self, *_error: object) -> None:
        self._travel.stop()
        self.engine.close()

    def advance(self, seconds: float) -> None:
        """It is `seconds` later."""
        self._now_s += seconds
        self._clock.move_to(self._now_s)

    def env(self, probe: Probe) -> EnvWrapper:
        """`DB` and `KV` as one worker holds them; all of its calls pass `probe`."""
        return EnvWrapper({"DB": self.database, "KV": KvNamespace(self.kv)}, probe)

    def state(self) -> State:
        """A copy of everything."""
        return State(
            database=self.engine.snapshot(),
            entries=self.kv.snapshot(),
            happened=self.effects.happened,
            repeats=self.effects.repeats,
            now_s=self._now_s,
            point=self.point,
            worker=self.worker,
        )

    def put_back(self, state: State) -> None:
        """Everything is as it was at `state`."""
        self.engine.restore(state.database)
        self.kv.restore(state.entries)
        self.effects.happened = state.happened
        self.effects.repeats = state.repeats
        self.point = state.point
        self.worker = state.worker
        self._now_s = state.now_s
        self._clock.move_to(state.now_s)
