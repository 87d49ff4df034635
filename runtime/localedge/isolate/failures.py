"""An exception of worker code as the log and the error page show it."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator
from types import TracebackType

from pydantic import BaseModel, ConfigDict

from localedge.sdk.dispatch import worker_frames

_CONTEXT_LINES = 3
_MOST_FRAMES = 40
_MOST_TEXT = 20_000


class Frame(BaseModel):
    """One line that was being executed: `source` is the lines around it, with their numbers."""

    model_config = ConfigDict(frozen=True)

    file: str
    line: int
    function: str
    source: tuple[tuple[int, str], ...] = ()


class Failure(BaseModel):
    """What went wrong in worker code.

    Shape: `text` is the traceback as Python prints it, without our own frames; `frames` the same
    as data, innermost last.
    """

    model_config = ConfigDict(frozen=True)

    kind: str
    message: str
    text: str
    frames: tuple[Frame, ...] = ()


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
