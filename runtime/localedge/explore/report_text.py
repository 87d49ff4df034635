"""A report as text: the table, and each failure side by side by worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from localedge.explore.exploring import Report, Told
from localedge.explore.outcome import Outcome, Row, Verdict
from localedge.explore.trace import Event

_OUTCOMES: Final = tuple(str(outcome) for outcome in Outcome if outcome is not Outcome.SCENARIO)
_WIDEST: Final = 46
_LINES: Final = 60


def table(rows: Iterable[Row]) -> str:
    """One line for each kind of runs of each subject."""
    rows = list(rows)
    has_bug = any(Outcome.SCENARIO in row.counts for row in rows)
    outcomes = (*_OUTCOMES, *((str(Outcome.SCENARIO),) if has_bug else ()))
    lines = [("subject", "explored", "points", "runs", "merged", *outcomes, "seconds")]
    for row in rows:
        counts = [str(row.counts.get(name, 0)) for name in outcomes]
        head = (row.subject, row.kind, str(row.points), str(row.runs), str(row.merged))
        lines.append((*head, *counts, f"{row.seconds:.2f}"))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = 2
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def chosen_text(verdict: Verdict) -> str:
    """What was done in a run, in a few words."""
    return ", ".join(map(str, verdict.choices)) or "nothing was done to the worker"


def failure(told: Told) -> str:
    """One failure: what it is, its story, and how to see it again."""
    chosen = chosen_text(told.verdict)
    lines = [f"{told.verdict.outcome}  {told.subject} ({told.kind}): {chosen}"]
    for finding in told.verdict.findings:
        lines.append(f"  {finding.outcome}: {finding.text}")
    lines += ["", *story(told.story), "", f"  Replay: {told.command}"]
    return "\n".join(lines)


def story(events: Iterable[Event]) -> Iterator[str]:
    """The lines of a run, a column for each worker."""
    events = list(events)
    workers = sorted({event.worker for event in events if event.worker})
    shown = workers[-3:] if len(workers) > 3 else workers
    columns = {worker: place for place, worker in enumerate(shown)}
    width = _WIDEST if len(columns) > 1 else 2 * _WIDEST
    heads = [f"worker {worker}".ljust(width) for worker in shown]
    yield f"  {'point':>5}  {'time':<12}  {'client'.ljust(14)}  " + "  ".join(heads)
    skipped = max(0, len(events) - _LINES)
    if skipped:
        yield f"  … {skipped} earlier lines; `--json` has them all"
    for event in events[skipped:]:
        moment = datetime.fromtimestamp(event.at_s, UTC).strftime("%H:%M:%S.%f")[:-3]
        point = str(event.point) if event.point else ""
        head = f"  {point:>5}  {moment:<12}  "
        if not event.worker:
            yield f"{head}{event.text}"
            continue
        text = _SIGNS.get(event.kind, "") + event.text
        text += f" → {event.result}" if event.result else ""
        cells = [" " * width] * len(columns)
        place = columns.get(event.worker, 0)
        cells[place] = text if len(text) <= width else text[: width - 1] + "…"
        yield f"{head}{'':14}  {'  '.join(cell.ljust(width) for cell in cells)}".rstrip()


_SIGNS: Final = {"begin": "▶ ", "end": "■ ", "choice": "✖ "}


def summary(report: Report) -> str:
    """One line: how many runs, and how they ended."""
    runs = sum(row.runs for row in report.rows)
    merged = sum(row.merged for row in report.rows)
    seconds = sum(row.seconds for row in report.rows)
    said = f"{runs} runs in {seconds:.1f} s"
    if merged:
        said += f" (and {merged} that equal one of them)"
    failed = sum(
        row.runs - row.counts.get("PASS", 0) - row.counts.get("ASKED", 0) for row in report.rows
    )
    return f"{said}: {'everything held' if report.is_clean else f'{failed} did not hold'}."
