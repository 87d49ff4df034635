"""The trace that everything belongs to: one id on every row, message and log line."""

from __future__ import annotations

import contextvars
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_trace: Final = contextvars.ContextVar[str]("edgestate_trace")


def trace_id() -> str:
    """The id of the trace that we are in; a new one begins when there is none."""
    try:
        return _trace.get()
    except LookupError:
        begun = f"trace-{uuid.uuid4().hex}"
        _trace.set(begun)
        return begun


@contextmanager
def traced(trace: str) -> Iterator[str]:
    """What happens inside belongs to `trace`."""
    token = _trace.set(trace)
    try:
        yield trace
    finally:
        _trace.reset(token)


class TraceFilter(logging.Filter):
    """Gives each log record the attribute `trace_id`, and each line the trace's id at its end."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the record."""
        trace = _trace.get("-")
        if not hasattr(record, "trace_id"):
            record.trace_id = trace
            record.msg = f"{record.msg} trace_id={trace.replace('%', '%%')}"
        return True


def logger_of(name: str) -> logging.Logger:
    """The logger `name`, whose records carry the trace."""
    logger = logging.getLogger(name)
    if not any(isinstance(held, TraceFilter) for held in logger.filters):
        logger.addFilter(TraceFilter())
    return logger
