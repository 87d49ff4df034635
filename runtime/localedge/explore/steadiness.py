"""Whether a worker does the same when everything around it is the same."""

from __future__ import annotations

from dataclasses import dataclass

from localedge.errors import Exit, OperatorError
from localedge.explore.lab import Lab
from localedge.explore.run import Run
from localedge.explore.trace import Event, Trace

_WHY = (
    "Runs are compared and gone on from in the middle, so results would mean nothing. Random "
    "numbers, ids and the time are the same in every run already; look for a counter that lives "
    "in a closure or a class, for id() or hash() of objects, for the process id, files, or a "
    "clock that was imported by name (`from time import monotonic`)."
)


@dataclass(frozen=True, slots=True)
class Unsteady:
    """Where two runs of the same kind differ."""

    point: int
    first: str
    second: str

    def error(self) -> OperatorError:
        """The difference, as the reader of a report sees it."""
        return OperatorError(
            "explore/not-deterministic",
            f"the worker is not deterministic: at point {self.point} it first did "
            f'"{self.first}", and in an equal run "{self.second}".',
            _WHY,
            exit=Exit.USAGE,
        )


def check(lab: Lab) -> None:
    """Two undisturbed runs make the same calls and get the same answers.

    Errors: OperatorError that names the first call at which they differ.
    """
    stories: list[list[Event]] = []
    for _ in range(2):
        run = Run(lab, lab.start, (), is_told=True)
        lab.run(run.play())
        stories.append(run.story)
    first, second = stories
    for one, other in zip(first, second, strict=False):
        if one != other:
            texts = [f"{event.text} {event.result}".strip() for event in (one, other)]
            raise Unsteady(max(one.point, other.point), *texts).error()
    if len(first) != len(second):
        longer = max(stories, key=len)[min(len(first), len(second))]
        raise Unsteady(longer.point, "nothing more", longer.text).error()


def check_prefix(known: Trace, found: Trace, after: int, until: int) -> None:
    """Up to the fault at `until`, a run that was played again went as the one before.

    Errors: OperatorError that names the first call at which they differ.
    """
    for point in range(after + 1, until + 1):
        one, other = known.points.get(point), found.points.get(point)
        if one is not None and (other is None or one.shape != other.shape):
            texts = [" ".join(info.shape) if info else "nothing" for info in (one, other)]
            raise Unsteady(point, *texts).error()
