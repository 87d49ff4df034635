"""Stale exploration: each KV read gets every value that its key had within the window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from localedge.explore.choices import Choice, Choices, Do
from localedge.explore.lab import Lab
from localedge.explore.outcome import Verdict
from localedge.explore.run import Run
from localedge.explore.trace import Fork, Trace

DEPTH: Final = 2


@dataclass(slots=True)
class Staleness:
    """Plays one scenario with old answers: one at first, then two in one run.

    Shape: `reads` counts the reads of the undisturbed run that could have been stale.
    """

    lab: Lab
    depth: int = DEPTH
    reads: int = 0
    points: int = 0

    def runs(self) -> Iterator[Verdict]:
        """The verdicts, those with fewest old answers first."""
        verdict, trace = self._play(self.lab.start, ())
        self.points = verdict.points
        self.reads = sum(len(info.values) for info in trace.points.values())
        yield verdict
        level: list[tuple[Trace, Choices]] = [(trace, ())]
        for _ in range(self.depth):
            following: list[tuple[Trace, Choices]] = []
            for trace, choices in level:
                for start, more in self._options(trace, choices):
                    verdict, found = self._play(start, more)
                    yield verdict
                    if verdict.is_clean:
                        following.append((found, verdict.choices))
            level = following

    def _options(self, trace: Trace, choices: Choices) -> Iterator[tuple[Fork, Choices]]:
        last = max(((c.point, c.nth) for c in choices), default=(0, -1))
        for point, info in sorted(trace.points.items()):
            for nth, count in enumerate(info.values):
                if (point, nth) <= last:
                    continue
                for value in range(1, count):
                    earlier = tuple(c for c in choices if c.point > info.start.point)
                    yield info.start, (*earlier, Choice(point, Do.STALE, value, nth))

    def _play(self, start: Fork, choices: Choices) -> tuple[Verdict, Trace]:
        run = Run(self.lab, start, choices, is_recording=True)
        return self.lab.run(run.play()), run.trace
