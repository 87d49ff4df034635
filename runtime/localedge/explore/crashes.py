"""Crash exploration: every point of a run in every mode, once and twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from localedge.explore.choices import CRASH_MODES, DEATHS, Choice, Choices, Do
from localedge.explore.lab import Lab
from localedge.explore.outcome import Verdict
from localedge.explore.run import Run
from localedge.explore.steadiness import check_prefix
from localedge.explore.trace import Fork, PointInfo, Trace

MOST_DEPTH: Final = 2


@dataclass(frozen=True, slots=True)
class Share:
    """Part `number` of `of`: how the work is shared between processes."""

    number: int = 0
    of: int = 1

    def has(self, index: int) -> bool:
        """Whether piece `index` of the work belongs to this share."""
        return index % self.of == self.number


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
    depth: int = 1
    modes: Sequence[Do] = CRASH_MODES
    merged: int = 0
    points: int = 0
    _known: set[tuple[object, ...]] = field(default_factory=set)

    def runs(self, share: Share) -> Iterator[Verdict]:
        """The verdicts of all runs; the undisturbed one belongs to every share."""
        reference = self.play(self.lab.start, (), is_recording=True)
        self.points = reference.verdict.points
        yield reference.verdict
        if not reference.verdict.is_clean:
            return
        once = [mode for mode in self.modes if mode is not Do.LATE]
        for first in self._faults(reference, once, 0, share, is_recording=self.depth > 1):
            yield first.verdict
            (fault,) = first.verdict.choices
            if self.depth > 1 and first.verdict.is_clean and fault.do in DEATHS:
                after = fault.point
                deaths = [mode for mode in DEATHS if mode in self.modes]
                for second in self._faults(first, deaths, after, Share(), is_recording=False):
                    yield second.verdict
        if Do.LATE in self.modes:
            yield from self._late(reference, share)

    def play(self, start: Fork, choices: Choices, *, is_recording: bool = False) -> Played:
        """The run that goes on from `start` under `choices`."""
        run = Run(self.lab, start, choices, is_recording=is_recording)
        verdict = self.lab.run(run.play())
        return Played(verdict, run.trace, start, choices)

    def _faults(
        self,
        played: Played,
        modes: Sequence[Do],
        after: int,
        share: Share,
        *,
        is_recording: bool,
    ) -> Iterator[Played]:
        index = 0
        for point, info in sorted(played.trace.points.items()):
            for mode in modes if point > after else ():
                index += 1
                if share.has(index):
                    found = self._fault(played, info, mode, is_recording)
                    if found is not None:
                        yield found

    def _fault(
        self, played: Played, info: PointInfo, mode: Do, is_recording: bool
    ) -> Played | None:
        choice = Choice(info.point, mode)
        fork = {Do.BEFORE: info.before, Do.AFTER: info.after}.get(mode)
        if fork is not None:
            # The same state may still need its second faults to be tried.
            key = (*fork.key, is_recording)
            if key in self._known:
                self.merged += 1
                return None
            self._known.add(key)
            return self.play(
                fork.chosen((*played.verdict.choices, choice)), (), is_recording=is_recording
            )
        earlier = tuple(c for c in played.verdict.choices if c.point > info.start.point)
        start = info.start.chosen(
            tuple(c for c in played.verdict.choices if c.point <= info.start.point)
        )
        found = self.play(start, (*earlier, choice), is_recording=is_recording)
        if is_recording:
            check_prefix(played.trace, found.trace, info.start.point, info.point)
        return found

    def _late(self, reference: Played, share: Share) -> Iterator[Verdict]:
        """Every write of a dead worker, carried out at each point of those after it."""
        for point, info in sorted(reference.trace.points.items()):
            if not info.may_write or not share.has(point):
                continue
            at = point + 1
            while True:
                verdict = self.play(info.start, (Choice(point, Do.LATE, at),)).verdict
                yield verdict
                if verdict.points < at:
                    break
                at += 1
