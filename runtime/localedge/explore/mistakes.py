"""Whose mistake it was, and where: the scenario's own code is told from the worker's."""

from __future__ import annotations

import traceback


def mistake_text(error: BaseException) -> str:
    """What is said of an error of the scenario: its client, service or invariants."""
    what = f"{type(error).__name__}: {error}"
    return f"the scenario's own code failed, not the worker: {place_of(error)}{what}"


def unmet_text(error: AssertionError) -> str:
    """What is said of an expectation that does not hold: its message, or its line."""
    frame = _frame(error)
    line = (frame.line if frame else "") or "an assertion does not hold"
    return f"{place_of(error)}{str(error) or line}"


def place_of(error: BaseException) -> str:
    """The file and line in the scenario, or nothing."""
    frame = _frame(error)
    return f"{frame.filename.rpartition('/')[2]}:{frame.lineno}: " if frame else ""


def _frame(error: BaseException) -> traceback.FrameSummary | None:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/localedge/" not in frame.filename]
    return (ours or frames)[-1] if frames else None
