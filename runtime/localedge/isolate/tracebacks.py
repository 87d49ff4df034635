"""Turns an exception of worker code into a Failure."""

from __future__ import annotations

import linecache
import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from localedge import clock
from localedge.errors import JsException
from localedge.isolate.failures import Failure, Frame
from localedge.isolate.secrets import Mask
from localedge.sdk import dispatch

_CONTEXT_LINES: Final = 3
_MOST_FRAMES: Final = 40
_MOST_TEXT: Final = 20_000
_PACKAGES: Final = f"{os.sep}site-packages{os.sep}"
_OURS: Final = (
    str(Path(__file__).parents[1]),
    str(Path(clock.__file__).parent),
    "<frozen importlib",
)


def failure_of(error: BaseException, mask: Mask) -> Failure:
    """`error` with its traceback trimmed to the worker's own frames, secrets masked."""
    told = traceback.TracebackException.from_exception(error)
    _trim(told)
    return Failure(
        kind=type(error).__name__,
        message=mask(str(error))[:_MOST_TEXT],
        text=mask("".join(told.format()))[-_MOST_TEXT:],
        frames=tuple(_frames(told, error))[-_MOST_FRAMES:],
    )


def _trim(told: traceback.TracebackException) -> None:
    """Frames of our own are taken out, also of what the exception came from.

    An exception that has no others is ours: there all of them stay, unless it is about what the
    worker gave us. What a JsException came from is behind the boundary, where the platform shows
    nothing either.
    """
    theirs = list(_theirs(told.stack))
    if theirs or _is_about_the_worker(told):
        told.stack = traceback.StackSummary.from_list(theirs)
    if told.exc_type is JsException:
        told.__cause__ = told.__context__ = None
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _trim(other)


def _is_about_the_worker(told: traceback.TracebackException) -> bool:
    if issubclass(told.exc_type or Exception, SyntaxError | JsException):
        return True
    return bool(told.stack) and told.stack[-1].filename == dispatch.__file__


def _theirs(stack: traceback.StackSummary) -> Iterator[traceback.FrameSummary]:
    """The frames of the worker and of the packages that it calls, not those that we call."""
    is_behind_us = False
    for frame in stack:
        if frame.filename.startswith(_OURS):
            is_behind_us = True
        elif not (is_behind_us and _PACKAGES in frame.filename):
            is_behind_us = False
            yield frame


def _frames(told: traceback.TracebackException, error: BaseException) -> Iterator[Frame]:
    for summary in told.stack:
        yield _frame(summary.filename, summary.lineno or 0, summary.name)
    if isinstance(error, SyntaxError) and error.filename:
        yield _frame(error.filename, error.lineno or 0, "<module>")


def _frame(file: str, line: int, function: str) -> Frame:
    around = range(max(1, line - _CONTEXT_LINES), line + _CONTEXT_LINES + 1)
    texts = ((n, linecache.getline(file, n).rstrip("\n")) for n in around)
    return Frame(
        file=file, line=line, function=function, source=tuple((n, t) for n, t in texts if t)
    )
