"""Work shared between forked processes, which send back what they found as JSON."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from localedge.errors import Exit, OperatorError
from localedge.explore.choices import from_json, to_json
from localedge.explore.outcome import Finding, Outcome, Row, Verdict

MOST_FAILURES: Final = 50
"""So many failures of one line are kept; all are counted."""


def verdict_out(verdict: Verdict) -> dict[str, Any]:
    """`verdict` as JSON."""
    return {
        "choices": json.loads(to_json(verdict.choices)),
        "outcome": str(verdict.outcome),
        "findings": [asdict(finding) for finding in verdict.findings],
        "asked": verdict.asked,
        "resent": verdict.resent,
        "points": verdict.points,
    }


def verdict_in(found: dict[str, Any]) -> Verdict:
    """What `verdict_out` made, as it was."""
    findings = tuple(
        Finding(Outcome(one["outcome"]), one["text"], one["point"]) for one in found["findings"]
    )
    choices = from_json(json.dumps(found["choices"]))
    return Verdict(choices, findings, found["asked"], found["resent"], found["points"])


def row_out(row: Row) -> dict[str, Any]:
    """`row` as JSON."""
    kept = sorted(row.failures, key=lambda verdict: len(verdict.choices))[:MOST_FAILURES]
    return {
        "subject": row.subject,
        "kind": row.kind,
        "points": row.points,
        "runs": row.runs,
        "merged": row.merged,
        "seconds": row.seconds,
        "counts": row.counts,
        "resent": row.resent,
        "failures": [verdict_out(verdict) for verdict in kept],
    }


def row_in(found: dict[str, Any]) -> Row:
    """What `row_out` made, as it was."""
    return Row(**{**found, "failures": [verdict_in(one) for one in found["failures"]]})


def shared(work: Callable[[int, int], list[Row]], jobs: int) -> list[Row]:
    """The rows of `work(number, jobs)`, done by that many processes, merged line by line.

    Errors: OperatorError of the first process that had one; RuntimeError when one died.
    """
    if jobs == 1:
        return work(0, 1)
    readers = [_forked(work, number, jobs) for number in range(jobs)]
    parts = [_received(pid, reader) for pid, reader in readers]
    merged: dict[tuple[str, str], Row] = {}
    for part in parts:
        if "error" in part:
            code, message, hint, exit_code = part["error"]
            raise OperatorError(code, message, hint, exit=Exit(exit_code))
        for found in part["rows"]:
            row = row_in(found)
            key = (row.subject, row.kind)
            if key in merged:
                merged[key].merge(row)
            else:
                merged[key] = row
    return [*merged.values()]


def _forked(work: Callable[[int, int], list[Row]], number: int, jobs: int) -> tuple[int, int]:
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    code = 1
    try:
        os.close(reader)
        with os.fdopen(writer, "w") as pipe:
            json.dump(_done(work, number, jobs), pipe)
        code = 0
    except BaseException:  # noqa: BLE001  (the process's boundary)
        # Nothing may run past it in a fork.
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _done(work: Callable[[int, int], list[Row]], number: int, jobs: int) -> dict[str, Any]:
    try:
        return {"rows": [row_out(row) for row in work(number, jobs)]}
    except OperatorError as error:
        return {"error": [error.code, error.message, error.hint, int(error.exit)]}


def _received(pid: int, reader: int) -> dict[str, Any]:
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    if not text:
        raise RuntimeError("a process that explored has died; its last words are above")
    found: dict[str, Any] = json.loads(text)
    return found
