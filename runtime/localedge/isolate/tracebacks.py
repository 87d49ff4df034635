"""Turns an exception of worker code into a Failure."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Final

from localedge.isolate.failures import Failure, Frame
from localedge.sdk.dispatch import worker_frames

_CONTEXT_LINES: Final = 3
_MOST_FRAMES: Final = 40
_MOST_TEXT: Final = 20_000


def failure_of(error: BaseException) -> Failure:
    """`error` with its traceback trimmed to the worker's own frames."""
    trimmed = worker_frames(error.__traceback__)
    lines = traceback.format_exception(type(error), error, trimmed)
    return Failure(
        kind=type(error).__name__,
        message=str(error)[:_MOST_TEXT],
        text="".join(lines)[-_MOST_TEXT:],
        frames=tuple(_frames(error, trimmed))[-_MOST_FRAMES:],
    )


def _frames(error: BaseException, trimmed: TracebackType | None) -> Iterator[Frame]:
    for summary in traceback.extract_tb(trimmed):
        yield _frame(summary.filename, summary.lineno or 0, summary.name)
    if isinstance(error, SyntaxError) and error.filename:
        yield _frame(error.filename, error.lineno or 0, "<module>")


def _frame(file: str, line: int, function: str) -> Frame:
    around = range(max(1, line - _CONTEXT_LINES), line + _CONTEXT_LINES + 1)
    texts = ((n, linecache.getline(file, n).rstrip("\n")) for n in around)
    return Frame(
        file=file, line=line, function=function, source=tuple((n, t) for n, t in texts if t)
    )
