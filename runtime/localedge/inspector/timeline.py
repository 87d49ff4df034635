"""A task's life across isolates, put together from what is stored, what was seen, and calls.

What is stored is always there: each step with its time and the number of the lease that it ran
under. Leases as they changed are known from when the server began to look; which isolate it was,
and attempts that left nothing behind, while calls were recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from edgestate import clock
from localedge.inspector.agents_journal import Known, Span
from localedge.inspector.agents_models import StepShown, TaskWhole
from localedge.inspector.timeline_marks import is_crash, marks_of
from localedge.inspector.timeline_models import BandShown, BarShown, LaneShown, Timeline
from localedge.inspector.timeline_works import Work
from localedge.supervisor.endings import Ending

_NEAR_MS: Final = 100
"""Clocks are read apart, and rounded."""


@dataclass(slots=True)
class Lane:
    """A lane while it is put together."""

    title: str
    pid: int | None
    works: list[Work] = field(default_factory=list)
    bands: list[BandShown] = field(default_factory=list)
    bars: list[BarShown] = field(default_factory=list)

    @property
    def from_ms(self) -> int:
        """When something first happened in it."""
        return min([*self.moments, *(work.from_ms for work in self.works)])

    @property
    def moments(self) -> list[int]:
        """When what is drawn begins and ends."""
        found = [moment for band in self.bands for moment in (band.from_ms, band.to_ms)]
        return found + [moment for bar in self.bars for moment in (bar.from_ms, bar.to_ms)]


@dataclass(frozen=True, slots=True)
class Ends:
    """What is known of ends: when isolates died, and whether somebody has the task now.

    Units: ms of the workers' time; `changed_ms` is when the task was last written.
    """

    deaths: dict[int, int]
    crashes: tuple[int, ...]
    is_held: bool
    changed_ms: int
    now_ms: int

    def of(self, began_ms: int, pid: int | None, span: Span | None) -> int | None:
        """When what began then, and has no end of its own, was over; None while it goes on.

        Nobody runs it any more once its isolate is dead, or its lease over.
        """
        known = [self.deaths.get(pid or 0), None if span is None else span.to_ms]
        over = [moment for moment in known if moment is not None and moment >= began_ms]
        if over:
            return min(over)
        if self.is_held:
            return None
        return next((at for at in self.crashes if at >= began_ms), max(self.changed_ms, began_ms))


def timeline(
    whole: TaskWhole,
    known: Known,
    works: Sequence[Work],
    endings: Sequence[tuple[int, Ending]],
    *,
    now_ms: int,
) -> Timeline:
    """The life of a task until `now_ms`.

    Shape: `endings` are isolates that are gone, with when.
    """
    ends = Ends(
        deaths={ending.pid: at for at, ending in endings},
        crashes=tuple(sorted(at for at, ending in endings if is_crash(ending))),
        is_held=whole.task.lease_left_ms > 0,
        changed_ms=ms_of(whole.task.updated_at) or now_ms,
        now_ms=now_ms,
    )
    lanes = _lanes(whole, known, works, ends)
    lanes.sort(key=lambda lane: lane.from_ms)
    moments = [moment for lane in lanes for moment in lane.moments]
    created = ms_of(whole.task.created_at) or now_ms
    ended = ms_of(whole.task.updated_at) or created
    is_over = whole.task.status in ("completed", "failed")
    first = min([created, *moments])
    last = max([ended, *moments]) if is_over else max([now_ms, *moments])
    marks = marks_of(whole, known, lanes, endings, first_ms=first, last_ms=last)
    return Timeline(
        from_ms=first,
        to_ms=max(last, first + 1, *(mark.at_ms for mark in marks)),
        lanes=tuple(
            LaneShown(
                pid=lane.pid,
                title=lane.title,
                bands=tuple(sorted(lane.bands, key=lambda band: band.from_ms)),
                bars=tuple(sorted(lane.bars, key=lambda bar: (bar.from_ms, bar.step_index))),
            )
            for lane in lanes
        ),
        marks=tuple(marks),
    )


def ms_of(text: str | None) -> int | None:
    """An ISO moment in ms since the epoch; None when it is none."""
    moment = None if text is None else clock.parse(text)
    return None if moment is None else int(moment * 1000)


def _lanes(whole: TaskWhole, known: Known, works: Sequence[Work], ends: Ends) -> list[Lane]:
    by_pid: dict[int, Lane] = {}
    for work in works:
        lane = by_pid.setdefault(work.pid, Lane(f"isolate {work.pid}", work.pid))
        lane.works.append(work)
    lanes: list[Lane] = list(by_pid.values())
    spans = {span.fence: span for span in known.spans}
    fences = {step.fence for step in whole.steps if step.fence and step.started_at} | {*spans}
    unplaced = [work for work in works if work.has_claimed]
    for fence in sorted(fences):
        steps = [s for s in whole.steps if s.fence == fence and s.started_at]
        found, its = _had(by_pid, spans.get(fence), steps)
        if its in unplaced:
            unplaced.remove(its)
        if found is None:
            found = Lane(f"lease {fence}", None)
            lanes.append(found)
        _fill(found, fence, spans.get(fence), steps, ends)
    others = [n for n in range(1, whole.task.fence + 1) if n not in fences]
    if len(others) == len(unplaced):
        for fence, work in zip(others, unplaced, strict=True):
            by_pid[work.pid].bands.append(_brief(fence, work))
    for lane in by_pid.values():
        _add_tools(lane, whole.steps, ends.now_ms)
    without_lease = [s for s in whole.steps if not s.fence and s.started_at]
    if without_lease:
        lane = Lane("without a lease", None)
        _fill(lane, 0, None, without_lease, ends)
        lanes.append(lane)
    return [lane for lane in lanes if lane.bands or lane.bars]


def _had(
    by_pid: dict[int, Lane], span: Span | None, steps: Sequence[StepShown]
) -> tuple[Lane | None, Work | None]:
    """Who had the lease: its calls name the holder, or lie where the lease's steps do."""
    works = [(lane, work) for lane in by_pid.values() for work in lane.works if work.has_claimed]
    if span is not None:
        for lane, work in works:
            if work.names(span.holder):
                return lane, work
    for step in steps:
        began = ms_of(step.started_at) or 0
        for lane, work in works:
            if work.from_ms - _NEAR_MS <= began <= work.to_ms + _NEAR_MS:
                return lane, work
    return None, None


def _brief(fence: int, work: Work) -> BandShown:
    """A lease that was over before it was seen, and under which nothing was done."""
    return BandShown(
        fence=fence,
        holder=None,
        from_ms=work.from_ms,
        to_ms=max(work.to_ms, work.from_ms + 1),
        how="unknown",
        is_exact=False,
    )


def _fill(
    lane: Lane, fence: int, span: Span | None, steps: Sequence[StepShown], ends: Ends
) -> None:
    bars = [_bar(step, lane.pid, span, ends) for step in steps]
    lane.bars += bars
    if span is not None:
        to_ms = ends.now_ms if span.to_ms is None else span.to_ms
        from_ms = min([span.from_ms, *(bar.from_ms for bar in bars)])
        lane.bands.append(
            BandShown(
                fence=fence,
                holder=span.holder,
                from_ms=from_ms,
                to_ms=max(to_ms, from_ms, *(bar.to_ms for bar in bars if bar.status == "success")),
                how=span.how,
                is_exact=True,
            )
        )
    elif bars and fence:
        lane.bands.append(
            BandShown(
                fence=fence,
                holder=None,
                from_ms=min(bar.from_ms for bar in bars),
                to_ms=max(bar.to_ms for bar in bars),
                how="unknown",
                is_exact=False,
            )
        )


def _bar(step: StepShown, pid: int | None, span: Span | None, ends: Ends) -> BarShown:
    began = ms_of(step.started_at) or 0
    ended = ms_of(step.completed_at)
    status = step.status
    if ended is None:
        over = ends.of(began, pid, span)
        ended = ends.now_ms if over is None else over
        if over is not None and status == "running":
            status = "lost"
    return BarShown(
        step_index=step.step_index,
        action=step.action,
        from_ms=began,
        to_ms=max(ended, began),
        status=status,
        effect=step.effect,
    )


def _add_tools(lane: Lane, steps: Sequence[StepShown], now_ms: int) -> None:
    """Attempts that are not what the steps say already: those that were lost, or failed."""
    for work in lane.works:
        for run in work.tools:
            step = _step_of(run.action, run.from_ms, steps)
            if step is None:
                continue
            to_ms = now_ms if run.to_ms is None else run.to_ms
            if any(
                bar.step_index == step.step_index
                and bar.from_ms - _NEAR_MS <= run.from_ms <= bar.to_ms + _NEAR_MS
                for bar in lane.bars
            ):
                continue
            status = "lost" if run.is_lost else "running" if run.to_ms is None else "tried"
            lane.bars.append(
                BarShown(
                    step_index=step.step_index,
                    action=step.action,
                    from_ms=run.from_ms,
                    to_ms=max(to_ms, run.from_ms),
                    status=status,
                    effect=step.effect,
                )
            )


def _step_of(action: str, at_ms: int, steps: Sequence[StepShown]) -> StepShown | None:
    named = [step for step in steps if step.action == action]
    for step in named:
        began, ended = ms_of(step.started_at), ms_of(step.completed_at)
        if began and began - _NEAR_MS <= at_ms <= (ended or at_ms) + _NEAR_MS:
            return step
    later = [s for s in named if (ms_of(s.completed_at) or at_ms) >= at_ms]
    return next(iter([*later, *named]), None)
