"""What a run came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from localedge.explore.choices import Choices


class Outcome(StrEnum):
    """The class of a run.

    Shape: `PASS`: all that must hold held; `ASKED`: it did, and somebody was asked to decide;
    `DUPLICATE`: something happened or ran more than once; `LOST`: something acknowledged is gone;
    `STUCK`: the run does not end; `DIVERGED`: stores, answers or expectations disagree; `CORRUPT`:
    what is stored cannot be; `SCENARIO`: the scenario's own code failed.
    """

    PASS = "PASS"
    ASKED = "ASKED"
    DUPLICATE = "DUPLICATE"
    LOST = "LOST"
    STUCK = "STUCK"
    DIVERGED = "DIVERGED"
    CORRUPT = "CORRUPT"
    SCENARIO = "SCENARIO"


_WORST_FIRST: Final = (
    Outcome.SCENARIO,
    Outcome.CORRUPT,
    Outcome.LOST,
    Outcome.DUPLICATE,
    Outcome.DIVERGED,
    Outcome.STUCK,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not be: its class, what it is, and after which point it was seen."""

    outcome: Outcome
    text: str
    point: int = 0


class Broken(Exception):  # noqa: N818  (what an invariant says, caught by the run)
    """What must hold does not. Raised by invariants."""

    def __init__(self, outcome: Outcome, text: str) -> None:
        super().__init__(text)
        self.outcome = outcome
        self.text = text


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one run came to.

    Shape: `choices` reproduce it; `asked` counts the questions to a person, `resent` the times
    that the outside saw a key again; `points` the calls that were made in all.
    """

    choices: Choices
    findings: tuple[Finding, ...] = ()
    asked: int = 0
    resent: int = 0
    points: int = 0

    @property
    def outcome(self) -> Outcome:
        """The worst of the findings; without any, PASS or ASKED."""
        found = {finding.outcome for finding in self.findings}
        for outcome in _WORST_FIRST:
            if outcome in found:
                return outcome
        return Outcome.ASKED if self.asked else Outcome.PASS

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


@dataclass(slots=True)
class Row:
    """One line of the table: the runs of one kind.

    Shape: `runs` were played, `merged` were not, because a run from an equal state was.
    Units: `seconds` of the machine's time.
    """

    subject: str
    kind: str
    points: int = 0
    runs: int = 0
    merged: int = 0
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    resent: int = 0
    failures: list[Verdict] = field(default_factory=list)

    def add(self, verdict: Verdict) -> None:
        """Count one run."""
        self.runs += 1
        name = str(verdict.outcome)
        self.counts[name] = self.counts.get(name, 0) + 1
        self.resent += bool(verdict.resent)
        if not verdict.is_clean:
            self.failures.append(verdict)

    def merge(self, other: Row) -> None:
        """Count the runs of another share of the same line."""
        self.points = max(self.points, other.points)
        self.runs += other.runs
        self.merged += other.merged
        self.seconds = max(self.seconds, other.seconds)
        self.resent += other.resent
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.failures += other.failures

    @property
    def is_clean(self) -> bool:
        """Whether every run was."""
        return not self.failures
