"""A report for people, differences side by side, and one for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from localedge.port.verify.comparing import Compared, Report
from localedge.port.verify.differences import Difference

_WIDEST: Final = 200
_NARROWEST: Final = 60
_MOST_LINES: Final = 40
_CONTEXT: Final = 1


def as_text(report: Report, width: int) -> str:
    """The steps, each difference side by side below its step, and a last line that counts."""
    width = max(_NARROWEST, min(width, _WIDEST))
    lines: list[str] = []
    for number, step in enumerate(report.steps, 1):
        lines.append(f"{number:3} {_mark(step)} {step.title}  {_shown(step)}")
        for difference in step.differences:
            lines += _side_by_side(difference, report.sides, width)
    if report.state is not None:
        mark = "differs" if report.state else "same"
        lines.append(f"    {mark:8} what is stored at the end")
        for difference in report.state:
            lines += _side_by_side(difference, report.sides, width)
    lines += [f"note: {note}" for note in report.notes]
    if report.versions:
        lines.append("Real parts: " + ", ".join(f"{k} {v}" for k, v in report.versions.items()))
    if report.packages:
        lines.append("Packages there: " + ", ".join(report.packages))
    return "\n".join([*lines, _count(report)])


def as_json(report: Report) -> str:
    """The report for a program."""
    told = {
        "differences": report.count,
        "sides": list(report.sides),
        "steps": [
            {
                "step": step.title,
                report.sides[0]: step.ours,
                report.sides[1]: step.theirs,
                "differences": _told(step.differences, report.sides),
            }
            for step in report.steps
        ],
        "state": None if report.state is None else _told(report.state, report.sides),
        "notes": report.notes,
        "versions": report.versions,
        "packages": list(report.packages),
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def _told(
    differences: tuple[Difference, ...] | list[Difference], sides: tuple[str, str]
) -> list[dict[str, str]]:
    return [{"where": one.where, sides[0]: one.ours, sides[1]: one.theirs} for one in differences]


def _mark(step: Compared) -> str:
    return f"{'differs' if step.differences else 'same':8}"


def _shown(step: Compared) -> str:
    return step.ours if step.ours == step.theirs else f"{step.ours} / {step.theirs}"


def _count(report: Report) -> str:
    steps = f"{len(report.steps)} step{'' if len(report.steps) == 1 else 's'}"
    looked = "answers" if report.state is None else "answers and stores"
    if report.count == 0:
        return (
            f"Compared {steps} on {report.sides[0]} and {report.sides[1]}: {looked} are the same."
        )
    many = f"{report.count} difference{'' if report.count == 1 else 's'}"
    return f"Compared {steps} on {report.sides[0]} and {report.sides[1]}: {many}."


def _side_by_side(difference: Difference, sides: tuple[str, str], width: int) -> Iterator[str]:
    half = (width - 9) // 2
    yield f"      {difference.where}"
    yield f"      {_cell(sides[0], half)} | {_cell(sides[1], half)}".rstrip()
    rows = [*_rows(difference.ours.split("\n"), difference.theirs.split("\n"))]
    for mark, left, right in rows[:_MOST_LINES]:
        for one, other in _folded(left, right, half):
            yield f"    {mark} {_cell(one, half)} | {_cell(other, half)}".rstrip()
    if len(rows) > _MOST_LINES:
        yield f"      … and {len(rows) - _MOST_LINES} more lines"


def _rows(ours: list[str], theirs: list[str]) -> Iterator[tuple[str, str, str]]:
    """Lines next to each other; of long runs of equal ones only those beside a difference."""
    matcher = SequenceMatcher(a=ours, b=theirs, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        for kind, a_from, a_to, b_from, b_to in group:
            for at in range(max(a_to - a_from, b_to - b_from)):
                left = ours[a_from + at] if a_from + at < a_to else ""
                right = theirs[b_from + at] if b_from + at < b_to else ""
                yield " " if kind == "equal" else "!", left, right


def _folded(left: str, right: str, width: int) -> Iterator[tuple[str, str]]:
    longest = max(len(left), len(right), 1)
    for at in range(0, longest, width):
        yield left[at : at + width], right[at : at + width]


def _cell(text: str, width: int) -> str:
    return text.replace("\t", " ").replace("\r", "␍")[:width].ljust(width)
