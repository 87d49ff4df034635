"""A report as one HTML page, each failure with its time line drawn."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from localedge.explore.exploring import Report, Told
from localedge.explore.report_text import summary, table
from localedge.explore.trace import Event

_LANE: Final = 300
_ROW: Final = 24
_LEFT: Final = 130
_TOP: Final = 44
_COLOURS: Final = {
    "call": "#2563eb",
    "begin": "#059669",
    "end": "#059669",
    "choice": "#dc2626",
    "finding": "#dc2626",
    "client": "#6b7280",
}
_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1200px; color: #111;
  padding: 0 1rem }
pre { background: #f6f7f9; padding: 1rem; overflow-x: auto; border-radius: 6px }
section { margin: 2.5rem 0 } h2 { font-size: 1.15rem } .found { color: #b91c1c }
figure { overflow-x: auto; margin: 1rem 0; border: 1px solid #e5e7eb; border-radius: 6px }
svg text { font: 12px ui-monospace, monospace } code { background: #f6f7f9; padding: 2px 4px }
"""


def as_html(report: Report) -> str:
    """The page; it needs nothing from anywhere."""
    sections = "\n".join(_section(told) for told in report.told)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>localedge explore</title>"
        f"<style>{_STYLE}</style><h1>localedge explore</h1><p>{escape(summary(report))}</p>"
        f"<pre>{escape(table(report.rows))}</pre>{sections}</html>"
    )


def _section(told: Told) -> str:
    choices = ", ".join(map(str, told.verdict.choices)) or "nothing was done to the worker"
    found = "".join(
        f"<li><b>{finding.outcome}</b> {escape(finding.text)}</li>"
        for finding in told.verdict.findings
    )
    return (
        f"<section><h2>{told.verdict.outcome}: {escape(told.subject)} ({escape(told.kind)})</h2>"
        f"<p>Choices: {escape(choices)}</p><ul class=found>{found}</ul>"
        f"<figure>{time_line(told.story)}</figure>"
        f"<p>Replay: <code>{escape(told.command)}</code></p></section>"
    )


def time_line(events: Sequence[Event]) -> str:
    """The story as a drawing: a lane for the client and each worker, time going down."""
    lanes = [0, *sorted({event.worker for event in events if event.worker})]
    place = {worker: _LEFT + number * _LANE + 20 for number, worker in enumerate(lanes)}
    height = _TOP + len(events) * _ROW + 20
    width = _LEFT + len(lanes) * _LANE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" '
        'aria-label="time line of the workers">'
    ]
    for worker, x in place.items():
        name = f"worker {worker}" if worker else "client"
        rows = [n for n, event in enumerate(events) if event.worker == worker] or [0]
        first, last = _TOP + rows[0] * _ROW, _TOP + rows[-1] * _ROW
        parts.append(f'<text x="{x}" y="20" font-weight="bold">{name}</text>')
        parts.append(f'<line x1="{x}" y1="{first}" x2="{x}" y2="{last}" stroke="#9ca3af"/>')
    began_s = events[0].at_s if events else 0.0
    for number, event in enumerate(events):
        parts.append(_mark(event, place[event.worker], _TOP + number * _ROW, began_s))
    parts.append("</svg>")
    return "".join(parts)


def _mark(event: Event, x: int, y: int, began_s: float) -> str:
    colour = _COLOURS.get(event.kind, "#111")
    text = f"{event.text} → {event.result}" if event.result else event.text
    shown = text if len(text) <= 42 else text[:41] + "…"
    point = f"#{event.point}" if event.point else ""
    stamp = f"{event.at_s - began_s:.3f} s"
    return (
        f'<text x="8" y="{y + 4}" fill="#6b7280">{stamp}</text>'
        f'<text x="{_LEFT - 30}" y="{y + 4}" fill="#6b7280">{point}</text>'
        f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>'
        f'<text x="{x + 10}" y="{y + 4}" fill="{colour}"><title>{escape(text)}</title>'
        f"{escape(shown)}</text>"
    )
