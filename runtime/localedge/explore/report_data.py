"""A report as JSON, and as the XML that CI servers read."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from localedge.explore.exploring import Report
from localedge.explore.jobs import row_out, verdict_out
from localedge.explore.report_text import failure


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
    """The report as JUnit XML: a test case for each row, a failure for each of its failures."""
    root = ElementTree.Element("testsuites", name="localedge explore")
    for row in report.rows:
        cases = max(1, len(row.failures))
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=f"{row.subject}: {row.kind}",
            tests=str(row.runs),
            failures=str(len(row.failures)),
            time=f"{row.seconds:.3f}",
        )
        told = [t for t in report.told if (t.subject, t.kind) == (row.subject, row.kind)]
        for number in range(cases if told else 1):
            name = f"{row.kind} ({row.runs} runs)"
            case = ElementTree.SubElement(suite, "testcase", classname=row.subject, name=name)
            if number < len(told):
                one = told[number]
                message = "; ".join(finding.text for finding in one.verdict.findings)
                entry = ElementTree.SubElement(
                    case, "failure", type=str(one.verdict.outcome), message=message
                )
                entry.text = failure(one)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)
