"""The trace that everything belongs to: one id on every row, message and log line."""

from __future__ import annotations

import contextvars
import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

import edgestate

_PARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")
_trace: Final = contextvars.ContextVar[str]("edgestate_trace")


def trace_id() -> str:
    """The id of the trace that we are in; a new one begins when there is none."""
    try:
        return _trace.get()
    except LookupError:
        ask = edgestate.request_trace
        begun = (ask() if ask is not None else None) or f"trace-{uuid.uuid4().hex}"
        _trace.set(begun)
        return begun


def begun_trace_id() -> str | None:
    """The id of the trace that we are in, None when none has begun."""
    return _trace.get(None)


class Headers(Protocol):
    """Headers of a request."""

    def get(self, name: str, /) -> str | None:
        """The value of the header `name`, None when there is none."""


def request_trace_id(headers: Headers) -> str | None:
    """The trace id in the header `traceparent` of a request, None without a valid one.

    On the edge it is how a request goes on with the trace of its client:
    `with traced(request_trace_id(request.headers) or trace_id()): …`
    Source: www.w3.org/TR/trace-context section 3.2, read 2026-12-01.
    """
    found = _PARENT.fullmatch((headers.get("traceparent") or "").strip(" \t"))
    if found is None:
        return None
    version, trace, parent, rest = found.groups()
    is_invalid = version == "ff" or (version == "00" and rest)
    return None if is_invalid or set(trace) == {"0"} or set(parent) == {"0"} else trace


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
