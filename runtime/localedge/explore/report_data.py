"""A report as JSON, and as the XML that CI servers read."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from localedge.explore.exploring import Report, Told
from localedge.explore.jobs import row_out, verdict_out
from localedge.explore.outcome import Row
from localedge.explore.report_text import chosen_text, failure


def as_data(report: Report) -> dict[str, Any]:
    """The report's rows, and its failures with their stories."""
    told = [
        {
            "subject": one.subject,
            "kind": one.kind,
            "verdict": verdict_out(one.verdict),
            "story": [asdict(event) for event in one.story],
            "replay": one.command,
        }
        for one in report.told
    ]
    rows = [row_out(row) for row in report.rows]
    return {"clean": report.is_clean, "rows": rows, "failures": told}


def as_json(report: Report) -> str:
    """The report as JSON."""
    return json.dumps(as_data(report), indent=1, ensure_ascii=False)


def as_junit(report: Report) -> str:
    """The report as JUnit XML: a suite for each row, and in it a case for each kind of failure.

    Shape: a row without failures is one case; the runs are counted in the suite's properties.
    """
    root = ElementTree.Element("testsuites", name="localedge explore")
    for row in report.rows:
        told = [t for t in report.told if (t.subject, t.kind) == (row.subject, row.kind)]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=f"{row.subject}: {row.kind}",
            tests=str(max(1, len(told))),
            failures=str(len(told)),
            time=f"{row.seconds:.3f}",
        )
        _count(suite, row)
        if not told:
            ElementTree.SubElement(
                suite, "testcase", classname=row.subject, name=f"{row.kind}: {row.runs} runs"
            )
        for one in told:
            _case(suite, one)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _count(suite: ElementTree.Element, row: Row) -> None:
    properties = ElementTree.SubElement(suite, "properties")
    counts = {"points": row.points, "runs": row.runs, "merged": row.merged, **row.counts}
    for name, count in counts.items():
        ElementTree.SubElement(properties, "property", name=name, value=str(count))


def _case(suite: ElementTree.Element, told: Told) -> None:
    name = f"{told.kind}: {told.verdict.outcome} after {chosen_text(told.verdict)}"
    case = ElementTree.SubElement(suite, "testcase", classname=told.subject, name=name)
    message = "; ".join(finding.text for finding in told.verdict.findings)
    kind = str(told.verdict.outcome)
    entry = ElementTree.SubElement(case, "failure", type=kind, message=message)
    entry.text = failure(told)
