"""Runs a plan on two sides and says where they differ."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from localedge.errors import Exit, OperatorError
from localedge.port.verify.answers import LATE, NOT_SENT, Side
from localedge.port.verify.canon import Patterns
from localedge.port.verify.differences import (
    Difference,
    Seen,
    answer_differences,
    state_differences,
)
from localedge.port.verify.plan import Call, Plan, Restart, Send, Step
from localedge.port.verify.playing import CRASHED, Played, play
from localedge.port.verify.remote import Remote

ORIGIN: Final = "http://localhost:8787"
_CLOCKS_S: Final = 5.0
"""Two expirations may be further apart by this than the runs of the two sides."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One step: what was done, how both sides answered in short, and where they differ."""

    title: str
    ours: str
    theirs: str
    differences: tuple[Difference, ...] = ()


@dataclass(slots=True)
class Report:
    """What came of a plan.

    Shape: `sides` are the names of both; `state` is None when it could not be compared; `notes`
    are sentences for people.
    """

    sides: tuple[str, str]
    steps: list[Compared] = field(default_factory=list)
    state: list[Difference] | None = None
    notes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many differences there are."""
        return sum(len(step.differences) for step in self.steps) + len(self.state or ())


async def compare(ours: Side, theirs: Side, plan: Plan, patterns: Mapping[str, str]) -> Report:
    """What both sides make of `plan`: all of it on ours, then all of it on the other.

    Errors: OperatorError (exit 2) for a crash that cannot be had at a URL.
    """
    known = Patterns({**plan.patterns, **patterns})
    if isinstance(theirs, Remote):
        _check_remote(plan)
    origin = theirs.name if isinstance(theirs, Remote) else ORIGIN
    report = Report((ours.name, theirs.name), notes=[*plan.notes])
    began = time.monotonic()
    one = await play(ours, plan, known, origin)
    # The other side need not go further than ours did.
    other = await play(theirs, Plan(plan.steps[: len(one.steps)]), known, origin)
    tolerance_s = _CLOCKS_S + time.monotonic() - began
    for step, mine, its in zip(plan.steps, one.steps, other.steps, strict=False):
        report.steps.append(_compared(step, mine, its))
    report.notes += _notes(plan, report)
    report.state = _state(one, other, tolerance_s)
    return report


def _compared(step: Step, ours: Seen, theirs: Seen) -> Compared:
    return Compared(step.title, ours.status, theirs.status, tuple(_differences(step, ours, theirs)))


def _differences(step: Step, ours: Seen, theirs: Seen) -> Iterator[Difference]:
    if isinstance(step, Call) or theirs.status == NOT_SENT or ours.status == theirs.status == LATE:
        return
    if isinstance(step, Send) and step.crash_when and {ours.status, theirs.status} != {CRASHED}:
        # A crash that came on neither side has shown nothing.
        yield Difference("crash", ours.status, theirs.status)
        return
    yield from answer_differences(ours, theirs)


def _state(ours: Played, theirs: Played, tolerance_s: float) -> list[Difference] | None:
    if ours.state is None or theirs.state is None:
        return None
    canons = ours.canon, theirs.canon
    return [*state_differences(ours.state, theirs.state, *canons, tolerance_s)]


def _notes(plan: Plan, report: Report) -> list[str]:
    notes = []
    for step in report.steps:
        how = zip(report.sides, (step.ours, step.theirs), strict=True)
        late = [side for side, status in how if status == LATE]
        if late:
            notes.append(f"{step.title}: no answer in time on {' and on '.join(late)}.")
        if step.theirs == NOT_SENT:
            notes.append(f"{step.title} was fired on {report.sides[0]} alone.")
    left = len(plan.steps) - len(report.steps)
    if left:
        notes.append(f"What came after it was left out: {left} step{'s' if left > 1 else ''}.")
    return notes


def _check_remote(plan: Plan) -> None:
    for step in plan.steps:
        if isinstance(step, Restart) or (isinstance(step, Send) and step.crash_when):
            raise OperatorError(
                "verify/no-crash-there",
                f"{step.title}: the process of a worker at a URL cannot be killed from here.",
                "Leave the step out, or compare with the real parts, without --url.",
                exit=Exit.USAGE,
            )
