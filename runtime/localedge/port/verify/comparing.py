"""Runs a plan on two sides and says where they differ."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from localedge.errors import Exit, OperatorError
from localedge.port.verify.answers import LATE, NOT_SENT, OUTCOME, Answer, Outgoing, Side
from localedge.port.verify.canon import Canon, Patterns
from localedge.port.verify.differences import (
    Difference,
    Seen,
    answer_differences,
    body_text,
    seen,
    state_differences,
)
from localedge.port.verify.plan import Cron, Plan, Restart, Send, Step

ORIGIN: Final = "http://localhost:8787"
_CLOCKS_S: Final = 5.0
"""Two expirations may be further apart by this than the steps of the two sides."""
_NAME: Final = re.compile(r"\$\{(\w+)\}")


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


class _Run:
    """One side in the middle of a plan."""

    def __init__(self, side: Side, patterns: Patterns, origin: str) -> None:
        self.side = side
        self.canon = Canon(patterns)
        self.recorded = Canon(patterns)
        self.origin = origin
        self._kept: dict[str, str] = {}

    async def send(self, step: Send) -> Seen:
        outgoing = self._outgoing(step)
        # Ids that the client chose are known from here on, on both sides alike.
        self.canon.text(f"{outgoing.target}\n{body_text(outgoing.body)}")
        answer = await self.side.send(outgoing)
        found = seen(answer, self.canon, self.origin)
        self._keep(step, answer)
        if step.recorded is not None:
            then = step.recorded
            self.recorded.text(f"{step.target}\n{body_text(step.body)}")
            outcome = dict(then.headers).get(OUTCOME)
            recorded = Answer(then.status, then.headers, then.body, outcome)
            seen(recorded, self.recorded, self.origin)
        return found

    def _outgoing(self, step: Send) -> Outgoing:
        def fill(text: str) -> str:
            text = self.canon.filled(text, self.recorded) if step.recorded else text
            return _NAME.sub(lambda name: self._kept.get(name[1], name[0]), text)

        headers = tuple((name, fill(value)) for name, value in step.headers)
        if not any(name.lower() == "host" for name, _ in headers):
            headers = (("host", self.origin.partition("//")[2]), *headers)
        try:
            body = fill(step.body.decode()).encode()
        except UnicodeDecodeError:
            body = step.body
        return Outgoing(step.method, fill(step.target), headers, body)

    def _keep(self, step: Send, answer: Answer) -> None:
        for name, place in step.keep.items():
            try:
                self._kept[name] = _at(json.loads(answer.body), place)
            except (ValueError, LookupError, TypeError):
                # Later requests show it: they go out with the name as it stands.
                self._kept.pop(name, None)


async def compare(ours: Side, theirs: Side, plan: Plan, patterns: Mapping[str, str]) -> Report:
    """What both sides make of `plan`, one step after the other, ours first."""
    known = Patterns({**plan.patterns, **patterns})
    report = Report((ours.name, theirs.name), notes=[*plan.notes])
    origin = theirs.name if "://" in theirs.name else ORIGIN
    runs = _Run(ours, known, origin), _Run(theirs, known, origin)
    began = time.monotonic()
    for number, step in enumerate(plan.steps):
        compared = await _step(step, *runs, report)
        report.steps.append(compared)
        if LATE in (compared.ours, compared.theirs):
            left = len(plan.steps) - number - 1
            if left:
                report.notes.append(f"The {left} steps after that were left out.")
            return report
    states = await ours.state(), await theirs.state()
    if states[0] is not None and states[1] is not None:
        tolerance_s = _CLOCKS_S + time.monotonic() - began
        canons = runs[0].canon, runs[1].canon
        report.state = [*state_differences(states[0], states[1], *canons, tolerance_s)]
    return report


async def _step(step: Step, ours: _Run, theirs: _Run, report: Report) -> Compared:
    match step:
        case Send():
            return await _sent(step, ours, theirs)
        case Cron():
            one, other = await _fired(step, ours), await _fired(step, theirs)
        case Restart():
            for run in (ours, theirs):
                await run.side.restart()
            return Compared(step.title, "done", "done")
    if other == NOT_SENT:
        report.notes.append(f"{step.title} was fired on {ours.side.name} alone.")
        return Compared(step.title, one, other)
    differences = (Difference("outcome", one, other),) if one != other else ()
    return Compared(step.title, one, other, differences)


async def _fired(step: Cron, run: _Run) -> str:
    try:
        return await run.side.cron(step.expression)
    except TimeoutError:
        return LATE


async def _sent(step: Send, ours: _Run, theirs: _Run) -> Compared:
    found: list[Seen | None] = []
    for run in (ours, theirs):
        try:
            found.append(await run.send(step))
        except TimeoutError:
            found.append(None)
    one, other = found
    if one is None or other is None:
        shown = one.status if one else LATE, other.status if other else LATE
        differences = (Difference("status", *shown),) if shown[0] != shown[1] else ()
        return Compared(step.title, *shown, differences)
    return Compared(step.title, one.status, other.status, tuple(answer_differences(one, other)))


def _at(value: Any, place: str) -> str:
    for part in place.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    if isinstance(value, str):
        return value
    return json.dumps(value)


def check_names(plan: Plan) -> None:
    """Errors: OperatorError (exit 2) for a `${name}` that no step before it keeps."""
    kept: set[str] = set()
    for step in plan.steps:
        if not isinstance(step, Send):
            continue
        texts = [step.target, body_text(step.body), *(value for _, value in step.headers)]
        used = {name for text in texts for name in _NAME.findall(text)} if not step.recorded else ()
        for name in used:
            if name not in kept:
                raise OperatorError(
                    "verify/unknown-name",
                    f"{step.title}: no step before it keeps {name!r}.",
                    f'Add keep = {{ {name} = "place.in.the.answer" }} to the one that gives it.',
                    exit=Exit.USAGE,
                )
        kept |= set(step.keep)
