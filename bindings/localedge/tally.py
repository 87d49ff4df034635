"""How many calls there were, how they ended and how long they took: numbers only, always on."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Final, TypeAlias

BOUNDS_S: Final = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025),
    *(0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
"""The upper bounds of the intervals that durations are sorted into, in seconds."""

MOST_KINDS: Final = 500
"""How many kinds of call are told apart: worker code may call methods by any name."""

Key: TypeAlias = tuple[str, str, str, str]
"""Kind, binding, operation and outcome ("ok", "error" or "canceled") of calls."""

Row: TypeAlias = tuple[Key, float, list[int]]
"""The calls of one key: how long they took in all, in seconds, and how many were in each
interval; the last one is beyond all bounds."""


Begin: TypeAlias = Callable[[str, str, Sequence[Any], object], float]


class Durations:
    """How many took how long."""

    __slots__ = ("counts", "total_s")

    def __init__(self) -> None:
        self.total_s = 0.0
        self.counts = [0] * (len(BOUNDS_S) + 1)

    def add(self, took_s: float) -> None:
        """One more."""
        self.total_s += took_s
        self.counts[bisect_left(BOUNDS_S, took_s)] += 1

    def merge(self, total_s: float, counts: list[int]) -> None:
        """Those of another."""
        self.total_s += total_s
        self.counts = [one + other for one, other in zip(self.counts, counts, strict=True)]


class Tally:
    """The calls of one process. `has_news` until `rows` was asked for.

    Shape: `begin(binding, operation, arguments, target)` is told that a call begins, and gives the
    moment by `time.perf_counter` that `ended` has to be told. Who wants to know where the process
    was when it died puts another `begin` in its place, and sets `ends`: a ring, its size a power of
    two, that gets the moments of those calls that have ended.
    """

    __slots__ = ("_calls", "_ended", "begin", "ends", "has_news")

    def __init__(self) -> None:
        self.has_news = False
        self.begin: Begin = _begin
        self.ends: memoryview[float] | None = None
        self._ended = 0
        self._calls: dict[Key, Durations] = {}

    def ended(
        self,
        kind: str,
        binding: str,
        operation: str,
        began: float,
        error: BaseException | None = None,
    ) -> None:
        """A call has ended that began at `began` of `time.perf_counter`."""
        key = (kind, binding, operation, "ok" if error is None else _outcome(error))
        calls = self._calls.get(key)
        if calls is None:
            calls = self._new(key)
        calls.add(perf_counter() - began)
        self.has_news = True
        ends = self.ends
        if ends is not None:
            ends[self._ended & len(ends) - 1] = began
            self._ended += 1

    def rows(self) -> list[Row]:
        """All calls since the beginning."""
        self.has_news = False
        return [(key, calls.total_s, calls.counts) for key, calls in self._calls.items()]

    def _new(self, key: Key) -> Durations:
        if len(self._calls) >= MOST_KINDS:
            key = (key[0], "", "other", key[3])
        return self._calls.setdefault(key, Durations())


def _begin(_binding: str, _operation: str, _given: Sequence[Any], _target: object) -> float:
    return perf_counter()


def _outcome(error: BaseException) -> str:
    return "canceled" if isinstance(error, asyncio.CancelledError) else "error"
