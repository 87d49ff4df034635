"""The story of a run as a drawing: a lane for the client and each worker, time going down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from localedge.explore.trace import Event

_LEFT: Final = 128
_CLIENT: Final = 250
_LANE: Final = 345
_ROW: Final = 23
_TOP: Final = 46
_CHARACTER: Final = 7.3
_JUMP_S: Final = 1.0
"""So much later is told: seconds of the run's time between two lines."""
_INKS: Final = {
    "call": "#1d4ed8",
    "begin": "#047857",
    "end": "#047857",
    "choice": "#b91c1c",
    "finding": "#b91c1c",
    "client": "#4b5563",
}
_BANDS: Final = {"choice": "#fef2f2", "finding": "#fef2f2"}


def time_line(events: Sequence[Event]) -> str:
    """The drawing, as SVG."""
    workers = sorted({event.worker for event in events if event.worker})
    lanes = {0: _LEFT, **{w: _LEFT + _CLIENT + n * _LANE for n, w in enumerate(workers)}}
    width = _LEFT + _CLIENT + len(workers) * _LANE
    height = _TOP + len(events) * _ROW
    inside = [*_bands(events, width), *_lives(events, lanes)]
    before_s = events[0].at_s if events else 0.0
    began_s = before_s
    for number, event in enumerate(events):
        y = _TOP + number * _ROW
        if event.at_s != before_s or not number:
            inside.append(_time(event.at_s - began_s, y))
        if event.at_s - before_s >= _JUMP_S:
            inside.append(_rule(y - _ROW / 2, width))
        before_s = event.at_s
        inside.append(_mark(event, lanes[event.worker], y))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="time line of the workers">'
        f"{''.join(inside)}</svg>"
    )


def _bands(events: Sequence[Event], width: int) -> Iterator[str]:
    for number, event in enumerate(events):
        if event.kind in _BANDS:
            y = _TOP + number * _ROW - _ROW / 2
            yield (
                f'<rect x="0" y="{y}" width="{width}" height="{_ROW}" fill="{_BANDS[event.kind]}"/>'
            )


def _lives(events: Sequence[Event], lanes: dict[int, int]) -> Iterator[str]:
    for worker, x in lanes.items():
        name = f"worker {worker}" if worker else "client"
        yield f'<text x="{x - 5}" y="20" font-weight="bold" fill="#111827">{name}</text>'
        rows = [number for number, event in enumerate(events) if event.worker == worker]
        if rows:
            first, last = _TOP + rows[0] * _ROW, _TOP + rows[-1] * _ROW
            yield (
                f'<line x1="{x}" y1="{first}" x2="{x}" y2="{last}" stroke="#d1d5db" '
                'stroke-width="6" stroke-linecap="round"/>'
            )


def _time(seconds: float, y: float) -> str:
    return f'<text x="8" y="{y + 4}" fill="#6b7280">{seconds:.3f} s</text>'


def _rule(y: float, width: int) -> str:
    return f'<line x1="0" y1="{y}" x2="{width}" y2="{y}" stroke="#9ca3af" stroke-dasharray="2 4"/>'


def _mark(event: Event, x: int, y: float) -> str:
    ink = _INKS.get(event.kind, "#111827")
    text = f"{event.text} → {event.result}" if event.result else event.text
    room = int(((_LANE if event.worker else _CLIENT) - 24) / _CHARACTER)
    if event.kind == "finding":
        room *= 4
    shown = text if len(text) <= room else text[: room - 1] + "…"
    point = f'<text x="{_LEFT - 18}" y="{y + 4}" text-anchor="end" fill="#6b7280">{event.point}'
    return (
        (f"{point}</text>" if event.point else "")
        + _sign(event, x, y, ink)
        + f'<text x="{x + 12}" y="{y + 4}" fill="{ink}"><title>{escape(text)}</title>'
        f"{escape(shown)}</text>"
    )


def _sign(event: Event, x: int, y: float, ink: str) -> str:
    if event.kind != "choice":
        return f'<circle cx="{x}" cy="{y}" r="4" fill="{ink}"/>'
    return (
        f'<path d="M{x - 5} {y - 5} L{x + 5} {y + 5} M{x + 5} {y - 5} L{x - 5} {y + 5}" '
        f'stroke="{ink}" stroke-width="2.5" stroke-linecap="round"/>'
    )
