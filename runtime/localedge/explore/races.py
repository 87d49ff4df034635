"""Race exploration: every order of the calls of requests that meet, up to a bound."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from localedge.explore.choices import Choice, Choices, Do
from localedge.explore.lab import Lab
from localedge.explore.outcome import Verdict
from localedge.explore.policy import Policy
from localedge.explore.run import Run
from localedge.explore.trace import Decision

PREEMPTIONS: Final = 2
"""Most errors need no more than two; source: Musuvathi and Qadeer, PLDI 2007."""


@dataclass(slots=True)
class Races:
    """Plays the orders of one scenario's requests, those with fewest preemptions first.

    Shape: `pruned` counts the runs that were ended at a state from which all had been tried;
    `points` and `decisions` are those of the undisturbed run.
    """

    lab: Lab
    preemptions: int = PREEMPTIONS
    pruned: int = 0
    points: int = 0
    decisions: int = 0
    _seen: dict[tuple[object, ...], int] = field(default_factory=dict)

    def orders(self) -> Iterator[Verdict]:
        """The verdict of every run that differs from all before it."""
        serial = itertools.count()
        waiting: list[tuple[int, int, int, Choices]] = [(0, 0, next(serial), ())]
        while waiting:
            cost, length, number, choices = heapq.heappop(waiting)
            run = self._play(choices, self.preemptions - cost)
            verdict = self.lab.run(run.play())
            if number == 0:
                self.points, self.decisions = verdict.points, len(run.trace.decisions)
            last = max((choice.point for choice in choices), default=0)
            for decision in run.trace.decisions:
                if decision.point <= last:
                    continue
                for worker in decision.enabled:
                    total = cost + decision.cost(worker)
                    if worker != decision.chosen and total <= self.preemptions:
                        choice = Choice(decision.point, Do.SWITCH, worker)
                        entry = (total, length + 1, next(serial), (*choices, choice))
                        heapq.heappush(waiting, entry)
            if run.is_pruned:
                self.pruned += 1
            else:
                yield verdict

    def _play(self, choices: Choices, left: int) -> Run:
        last = max((choice.point for choice in choices), default=0)

        def is_seen(decision: Decision) -> bool:
            # What a worker is given next depends on who had the turn: that belongs to the state.
            key = (decision.key, decision.enabled, decision.current)
            if decision.point <= last:
                return False
            if self._seen.get(key, -1) >= left:
                return True
            self._seen[key] = left
            return False

        policy = Policy(is_seen=is_seen)
        return Run(self.lab, self.lab.start, choices, policy, is_recording=True)


def switches(verdict: Verdict, lab: Lab) -> int:
    """How often the turn goes from one worker to another while requests meet, in this run."""
    run = Run(lab, lab.start, verdict.choices, is_told=True)
    lab.run(run.play())
    turns = [event.worker for event in run.story if event.kind == "call"]
    return sum(1 for one, other in itertools.pairwise(turns) if one != other)


def shortest(verdict: Verdict, lab: Lab) -> Verdict:
    """A verdict of the same class that needs none of its choices less."""
    choices = list(verdict.choices)
    for choice in [*choices]:
        fewer = tuple(c for c in choices if c != choice)
        found = lab.run(Run(lab, lab.start, fewer).play())
        if found.outcome is verdict.outcome:
            choices.remove(choice)
            verdict = found
    return verdict
