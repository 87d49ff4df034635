"""Crash exploration: every point of a run in every mode, once and twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from localedge.explore.choices import DEATHS, Choice, Choices, Do
from localedge.explore.lab import Lab
from localedge.explore.outcome import Verdict
from localedge.explore.run import Run
from localedge.explore.trace import Fork, PointInfo, Trace

FIRST_MODES: Final = (*DEATHS, Do.DUP, Do.EXPIRE)


@dataclass(slots=True)
class Played:
    """A run with what may be gone on from."""

    verdict: Verdict
    trace: Trace
    start: Fork
    choices: Choices


@dataclass(slots=True)
class Crashes:
    """Plays the runs of one scenario, each distinct one once.

    Shape: `merged` counts the runs that were not played, because an equal state was gone on from.
    """

    lab: Lab
    merged: int = 0
    _known: dict[tuple[object, ...], Verdict] = field(default_factory=dict)

    def reference(self) -> Played:
        """The undisturbed run."""
        return self.play(self.lab.start, (), is_recording=True)

    def play(self, start: Fork, choices: Choices, *, is_recording: bool = False) -> Played:
        """The run that goes on from `start` under `choices`."""
        run = Run(self.lab, start, choices, is_recording=is_recording)
        verdict = self.lab.run(run.play())
        return Played(verdict, run.trace, start, choices)

    def faults(self, played: Played, modes: Sequence[Do], after: int) -> Iterator[Played]:
        """Every fault at every point of `played` that comes after point `after`."""
        for point, info in sorted(played.trace.points.items()):
            if point <= after:
                continue
            for mode in modes:
                found = self._fault(played, info, mode)
                if found is not None:
                    yield found

    def _fault(self, played: Played, info: PointInfo, mode: Do) -> Played | None:
        choice = Choice(info.point, mode)
        fork = {Do.BEFORE: info.before, Do.AFTER: info.after}.get(mode)
        if fork is not None:
            return self._go_on(fork.chosen((*played.verdict.choices, choice)))
        if mode is Do.AFTER and info.before is None and info.point not in played.trace.points:
            return None
        earlier = tuple(c for c in played.choices if c.point > info.start.point)
        return self.play(info.start, (*earlier, choice), is_recording=True)

    def _go_on(self, fork: Fork) -> Played | None:
        known = self._known.get(fork.key)
        if known is not None:
            self.merged += 1
            return None
        played = self.play(fork, (), is_recording=True)
        self._known[fork.key] = played.verdict
        return played

    def late(self, reference: Played) -> Iterator[Played]:
        """Every write of a dead worker, carried out at each point of those after it."""
        for point, info in sorted(reference.trace.points.items()):
            if not info.may_write:
                continue
            at = point + 1
            while True:
                choice = Choice(point, Do.LATE, at)
                played = self.play(info.start, (choice,))
                yield played
                if played.verdict.points < at:
                    break
                at += 1
