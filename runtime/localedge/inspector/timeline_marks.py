"""The moments of a task's life: taken, lost, taken up again, asked about, decided, over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from edgestate import clock
from localedge.inspector.agents_journal import Known
from localedge.inspector.agents_models import TaskWhole
from localedge.inspector.timeline_models import MarkShown
from localedge.supervisor.endings import Ending

if TYPE_CHECKING:
    from localedge.inspector.timeline import Lane

_NO_CRASH: Final = frozenset(("drained", "notLoaded"))
_CAUSES: Final = {
    "killed": "was killed",
    "crashed": "crashed",
    "exceededCpu": "used too much CPU and was killed",
    "exceededMemory": "used too much memory and was killed",
    "exceededWallTime": "blocked its loop and was killed",
}
_ENDS: Final = {
    "released": "lease {} was given back",
    "expired": "lease {} ran out",
    "taken over": "lease {} was taken over",
}


def marks_of(
    whole: TaskWhole,
    known: Known,
    lanes: Sequence[Lane],
    endings: Sequence[tuple[int, Ending]],
    *,
    first_ms: int,
    last_ms: int,
) -> list[MarkShown]:
    """All marks, in order."""
    found = [
        *_life(whole, known),
        *_leases(lanes),
        *_crashes(lanes, endings, first_ms, last_ms),
    ]
    return sorted(found, key=lambda mark: mark.at_ms)


def _life(whole: TaskWhole, known: Known) -> Iterator[MarkShown]:
    task = whole.task
    if (created := _ms(task.created_at)) is not None:
        yield MarkShown(at_ms=created, kind="begin", lane=None, text="planned")
    seen = [at for at, status in known.statuses if status == "waiting_tool"]
    asked = seen[:1] or [_ms(task.updated_at) or 0]
    for question in whole.questions:
        text = f"step {question.step_index} {question.action}: {question.why}, waits for a decision"
        yield MarkShown(at_ms=asked[-1], kind="ask", lane=None, text=text)
    if not whole.questions and seen:
        yield MarkShown(at_ms=seen[0], kind="ask", lane=None, text="waits for a decision")
    again = [at for (_, before), (at, after) in pairwise(known.statuses) if _goes_on(before, after)]
    for step in whole.steps:
        if step.resolution is None:
            continue
        # Skipped or done, it ended when that was said; run again, it began after it.
        said_at = step.started_at if step.resolution == "retry" else step.completed_at
        at_ms = again[-1] if step.resolution == "retry" and again else _ms(said_at or "")
        if at_ms is not None:
            text = f"decided: {step.resolution}, step {step.step_index} {step.action}"
            yield MarkShown(at_ms=at_ms, kind="decide", lane=None, text=text)
    if task.status in ("completed", "failed") and (ended := _ms(task.updated_at)) is not None:
        yield MarkShown(at_ms=ended, kind="end", lane=None, text=task.status)


def _goes_on(before: str, after: str) -> bool:
    return before in ("waiting_tool", "failed") and after == "running"


def _leases(lanes: Sequence[Lane]) -> Iterator[MarkShown]:
    bands = sorted(
        ((place, band) for place, lane in enumerate(lanes) for band in lane.bands),
        key=lambda one: (one[1].fence, one[1].from_ms),
    )
    for number, (place, band) in enumerate(bands):
        title, lease = lanes[place].title, f"lease {band.fence}"
        said = f"{title} {'goes on' if number else 'takes it'}"
        yield MarkShown(
            at_ms=band.from_ms,
            kind="resume" if number else "claim",
            lane=place,
            text=said if title == lease else f"{said}, {lease}",
        )
        if band.how in _ENDS:
            text = _ENDS[band.how].format(band.fence)
            yield MarkShown(at_ms=band.to_ms, kind="lease", lane=place, text=text)


def is_crash(ending: Ending) -> bool:
    """Whether the isolate did not end in peace."""
    return ending.cause not in _NO_CRASH


def _crashes(
    lanes: Sequence[Lane], endings: Sequence[tuple[int, Ending]], first_ms: int, last_ms: int
) -> Iterator[MarkShown]:
    places = {lane.pid: place for place, lane in enumerate(lanes) if lane.pid is not None}
    is_known = all(lane.pid is not None for lane in lanes)
    for at_ms, ending in endings:
        place = places.get(ending.pid)
        if not is_crash(ending) or not first_ms <= at_ms <= last_ms:
            continue
        if place is None and is_known:
            continue
        said = _CAUSES.get(ending.cause, f"ended: {ending.cause}")
        ray = next(iter(ending.rays.values()), None)
        text = f"isolate {ending.pid} {said}"
        yield MarkShown(at_ms=at_ms, kind="crash", lane=place, text=text, ray=ray)


def _ms(text: str) -> int | None:
    moment = clock.parse(text)
    return None if moment is None else int(moment * 1000)
