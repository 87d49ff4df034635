"""Crash exploration: every point of a run in every mode, once and twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from localedge.explore.choices import CRASH_MODES, DEATHS, Choice, Choices, Do
from localedge.explore.lab import Lab
from localedge.explore.outcome import Verdict
from localedge.explore.polls import repeated
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

    Shape: `modes` are those of a first fault, and at depth 2 every fault whose mode is in `pairs`
    is followed by every later one of these. `merged` counts the runs that were not played,
    because an equal state was gone on from, a late write would have changed nothing, or the worker
    only asked once more what it had asked before.
    """

    lab: Lab
    depth: int = 1
    modes: Sequence[Do] = CRASH_MODES
    pairs: Sequence[Do] = DEATHS
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
        for first in self._faults(reference, self.modes, share, is_recording=self.depth > 1):
            yield first.verdict
            (fault,) = first.verdict.choices
            if self.depth > 1 and first.verdict.is_clean and fault.do in self.pairs:
                pairs = [mode for mode in self.pairs if mode in self.modes]
                for second in self._faults(first, pairs, Share(), is_recording=False):
                    yield second.verdict

    def play(
        self,
        start: Fork,
        choices: Choices,
        *,
        is_recording: bool = False,
        is_trying: bool = False,
    ) -> Played:
        """The run that goes on from `start` under `choices`."""
        run = Run(self.lab, start, choices, is_recording=is_recording, is_trying=is_trying)
        verdict = self.lab.run(run.play())
        return Played(verdict, run.trace, start, choices)

    def _faults(
        self, played: Played, modes: Sequence[Do], share: Share, *, is_recording: bool
    ) -> Iterator[Played]:
        """The runs that have one fault more than `played`, at a later point."""
        after = max((choice.point for choice in played.verdict.choices), default=0)
        polls = repeated(played.trace)
        for point, info in sorted(played.trace.points.items()):
            for mode in modes if point > after else ():
                # A death before a call is, mostly, that after the one before it: to one process.
                if not share.has(point - (mode is Do.BEFORE)):
                    continue
                if point in polls:
                    self.merged += 1
                elif mode is Do.LATE:
                    yield from self._late(played, info, modes, is_recording)
                elif (found := self._fault(played, info, mode, is_recording)) is not None:
                    yield found

    def _fault(
        self, played: Played, info: PointInfo, mode: Do, is_recording: bool
    ) -> Played | None:
        choice = Choice(info.point, mode)
        fork = {Do.BEFORE: info.before, Do.AFTER: info.after}.get(mode)
        if fork is None:
            return self._live(played, info, choice, is_recording=is_recording)
        # The same state may still need its second faults to be tried.
        key = (*fork.key, is_recording)
        if key in self._known:
            self.merged += 1
            return None
        self._known.add(key)
        start = fork.chosen((*played.verdict.choices, choice))
        return self.play(start, (), is_recording=is_recording)

    def _live(
        self,
        played: Played,
        info: PointInfo,
        choice: Choice,
        *,
        is_recording: bool,
        is_trying: bool = False,
    ) -> Played:
        """The run with one `choice` more, from the operation in which it is made."""
        known = played.verdict.choices
        earlier = tuple(c for c in known if c.point > info.start.point)
        start = info.start.chosen(tuple(c for c in known if c.point <= info.start.point))
        found = self.play(start, (*earlier, choice), is_recording=is_recording, is_trying=is_trying)
        if is_recording:
            check_prefix(played.trace, found.trace, info.start.point, info.point)
        return found

    def _late(
        self, played: Played, info: PointInfo, modes: Sequence[Do], is_recording: bool
    ) -> Iterator[Played]:
        """A dead worker's write at `info`, carried out at each point of those after it.

        Where it would change nothing, as a guarded one when the next worker has begun, the run is
        that of a death before it: it is played once only, unless `modes` have that death anyhow.
        """
        if not info.may_write:
            return
        at_the_end = Choice(info.point, Do.LATE)
        last = self._live(played, info, at_the_end, is_recording=True, is_trying=True)
        yield last
        is_played = Do.BEFORE in modes
        polls = repeated(last.trace)
        for at in range(info.point + 1, last.verdict.points + 1):
            if at in polls:
                self.merged += 1
                continue
            if at not in last.trace.landings:
                if is_played:
                    self.merged += 1
                    continue
                is_played = True
            choice = Choice(info.point, Do.LATE, at)
            yield self._live(played, info, choice, is_recording=is_recording)
