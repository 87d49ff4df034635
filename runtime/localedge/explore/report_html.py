"""A report as one HTML page, each failure with its time line drawn."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from localedge.explore.exploring import Report, Told
from localedge.explore.outcome import Outcome, Row
from localedge.explore.report_text import chosen_text, summary
from localedge.explore.time_line import time_line

_STYLE: Final = """
:root { color-scheme: light; --ink: #111827; --soft: #6b7280; --rule: #e5e7eb; --bad: #b91c1c }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); margin: 2rem auto; padding: 0 1rem;
  max-width: 1280px }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.15rem; margin: 0 0 .5rem }
table { border-collapse: collapse; margin: 1.25rem 0; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--rule); text-align: right }
th { font-weight: 600; color: var(--soft); font-size: .85rem }
th.name, td.name { text-align: left }
td.none { color: #c4c9d1 } td.bad { color: var(--bad); font-weight: 600 }
section { margin: 2.5rem 0; border-top: 1px solid var(--rule); padding-top: 1.5rem }
.badge { background: #fee2e2; color: var(--bad); border-radius: 4px; padding: .1rem .45rem;
  font-size: .85em; margin-right: .5rem }
.held { background: #d1fae5; color: #065f46 }
ul { margin: .25rem 0; padding-left: 1.2rem } li { color: var(--bad) } p { margin: .35rem 0 }
figure { overflow-x: auto; margin: 1rem 0; border: 1px solid var(--rule); border-radius: 6px }
svg { display: block } svg text { font: 12px ui-monospace, Menlo, "DejaVu Sans Mono", monospace }
code { background: #f3f4f6; padding: .15rem .35rem; border-radius: 4px; overflow-wrap: anywhere }
"""
_HELD: Final = frozenset({Outcome.PASS, Outcome.ASKED})


def as_html(report: Report) -> str:
    """The page; it needs nothing from anywhere."""
    state = ("held", "held") if report.is_clean else ("", "did not hold")
    sections = "\n".join(_section(told, number) for number, told in enumerate(report.told, 1))
    links = "".join(
        f'<li><a href="#failure-{number}">{told.verdict.outcome}: {escape(told.subject)}, '
        f"{escape(chosen_text(told.verdict))}</a></li>"
        for number, told in enumerate(report.told, 1)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>localedge explore</title><style>{_STYLE}</style></head><body>"
        f'<h1><span class="badge {state[0]}">{state[1]}</span>localedge explore</h1>'
        f"<p>{escape(summary(report))}</p>{_table(report.rows)}<ul>{links}</ul>{sections}"
        "</body></html>"
    )


def _table(rows: Iterable[Row]) -> str:
    heads = "".join(f"<th>{name}</th>" for name in ("points", "runs", "merged", *Outcome))
    lines = "".join(_line(row) for row in rows)
    return (
        f'<table><thead><tr><th class="name">subject</th><th class="name">explored</th>{heads}'
        f"<th>seconds</th></tr></thead><tbody>{lines}</tbody></table>"
    )


def _line(row: Row) -> str:
    names = f'<td class="name">{escape(row.subject)}</td><td class="name">{escape(row.kind)}</td>'
    numbers = "".join(f"<td>{number:,}</td>" for number in (row.points, row.runs, row.merged))
    counts = "".join(_count(outcome, row.counts.get(outcome, 0)) for outcome in Outcome)
    return f"<tr>{names}{numbers}{counts}<td>{row.seconds:.2f}</td></tr>"


def _count(outcome: Outcome, count: int) -> str:
    kind = "none" if not count else "" if outcome in _HELD else "bad"
    return f'<td class="{kind}">{count:,}</td>'


def _section(told: Told, number: int) -> str:
    found = "".join(
        f"<li><b>{finding.outcome}</b> {escape(finding.text)}</li>"
        for finding in told.verdict.findings
    )
    title = f"{escape(told.subject)} ({escape(told.kind)}): {escape(chosen_text(told.verdict))}"
    return (
        f'<section id="failure-{number}">'
        f'<h2><span class="badge">{told.verdict.outcome}</span>{title}</h2>'
        f"<ul>{found}</ul><figure>{time_line(told.story)}</figure>"
        f"<p>See it again: <code>{escape(told.command)}</code></p></section>"
    )
