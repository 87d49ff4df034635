"""Fuzzing: everything at once, at random, from a seed; and a shorter way to the same failure."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Final

from localedge.explore.choices import Choice, Choices, Do
from localedge.explore.lab import Lab
from localedge.explore.outcome import Verdict
from localedge.explore.policy import Policy
from localedge.explore.run import Run
from localedge.explore.trace import may_write
from localedge.probe import Call

_FAULT: Final = 0.06
_SWITCH: Final = 0.3
_STALE: Final = 0.25
_MOST_FAULTS: Final = 4
_LATE_BY: Final = 30
_real_clock: Final = time.perf_counter


class Chance:
    """Chooses at random; the same `number` chooses alike."""

    def __init__(self, seed: int, number: int) -> None:
        self._random = random.Random(f"{seed}/{number}")
        self._faults = 0

    def policy(self) -> Policy:
        """What chooses for a run."""
        return Policy(act=self._act, pick=self._pick, lag=self._lag)

    def _act(self, point: int, call: Call) -> Choice | None:
        if self._faults >= _MOST_FAULTS or self._random.random() >= _FAULT:
            return None
        self._faults += 1
        modes = [Do.BEFORE, Do.AFTER, Do.ERROR_AFTER, Do.EXPIRE, Do.DUP]
        if may_write(call):
            modes.append(Do.LATE)
        mode = self._random.choice(modes)
        at = point + self._random.randint(1, _LATE_BY) if mode is Do.LATE else 0
        return Choice(point, mode, at)

    def _pick(self, _point: int, enabled: tuple[int, ...], default: int) -> int:
        return self._random.choice(enabled) if self._random.random() < _SWITCH else default

    def _lag(self, _point: int, _nth: int, count: int) -> int:
        return self._random.randrange(count) if self._random.random() < _STALE else 0


def fuzzed(
    lab: Lab, *, seed: int, seconds: float, runs: int | None = None, first: int = 0, step: int = 1
) -> Iterator[Verdict]:
    """The verdicts of random runs for `seconds` of the machine's time, or so many `runs`.

    Shape: the runs are numbers `first`, `first + step` … of `seed`.
    """
    until_s = _real_clock() + seconds
    number = first
    while (runs is None and _real_clock() < until_s) or (runs is not None and number < runs):
        run = Run(lab, lab.start, (), Chance(seed, number).policy())
        yield lab.run(run.play())
        number += step


def shrunk(verdict: Verdict, lab: Lab) -> Verdict:
    """A verdict of the same class with as few choices as leaving some out can give."""
    best = verdict
    size = max(1, len(best.choices) // 2)
    while size:
        found = _without(best, lab, size)
        # One that could not go before may go once another has.
        if size > 1 or found.choices == best.choices:
            size //= 2
        best = found
    return best


def _without(best: Verdict, lab: Lab, size: int) -> Verdict:
    at = 0
    while at < len(best.choices):
        fewer: Choices = best.choices[:at] + best.choices[at + size :]
        found = lab.run(Run(lab, lab.start, fewer).play())
        if found.outcome is best.outcome:
            best = found
        else:
            at += size
    return best
