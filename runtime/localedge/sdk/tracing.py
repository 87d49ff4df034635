"""W3C trace context: the trace that a request belongs to, taken in and passed on.

A worker's outgoing requests carry `traceparent` when the event belongs to a trace: when its own
request came with a valid one, or when the worker is in a trace of edgestate. One that the worker
set itself stays. The parent in it is the ray of the event, so that others' spans lead to its log.

Source: www.w3.org/TR/trace-context (sections 2 and 3), and developers.cloudflare.com/workers/
observability/traces/known-limitations, read 2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from localedge.sdk.context import ExecutionContext, current

PARENT: Final = "traceparent"
STATE: Final = "tracestate"
MOST_STATE_CHARACTERS: Final = 8192
_PARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_ID: Final = re.compile(r"(?:trace-)?([0-9a-f]{32})")
_NO_ID: Final = frozenset({"0" * 16, "0" * 32})
_SAMPLED: Final = 0x01

Line = tuple[bytes, bytes]

ambient: Callable[[], str | None] | None = None
"""Names the trace that worker code is in by itself; the isolate sets it when the bundle has
edgestate."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace that others have begun.

    Shape: `trace_id` and `parent_id` are lowercase hex, `state` is passed on as it came.
    """

    trace_id: str
    parent_id: str
    is_sampled: bool
    state: str = ""


def trace_of(lines: Iterable[Line]) -> Trace | None:
    """The trace that the headers `lines` name, None when they name none in the form of the
    standard: a second `traceparent` makes both invalid, and without it no `tracestate` counts."""
    parents: list[str] = []
    states: list[str] = []
    for name, value in lines:
        if name == b"traceparent":
            parents.append(value.decode("latin-1"))
        elif name == b"tracestate":
            states.append(value.decode("latin-1"))
    if len(parents) != 1:
        return None
    found = _PARENT.fullmatch(parents[0].strip(" \t"))
    if found is None:
        return None
    version, trace_id, parent_id, flags, rest = found.groups()
    if version == "ff" or (version == "00" and rest) or {trace_id, parent_id} & _NO_ID:
        return None
    state = ",".join(filter(None, (one.strip(" \t") for one in states)))
    is_kept = len(state) <= MOST_STATE_CHARACTERS
    return Trace(trace_id, parent_id, bool(int(flags, 16) & _SAMPLED), state if is_kept else "")


def event_trace(context: ExecutionContext | None) -> Trace | None:
    """The trace that the event of `context` came with."""
    return None if context is None else trace_of(context.lines)


def current_trace_id() -> str | None:
    """The id of the trace that the current event came with."""
    trace = event_trace(current.get())
    return None if trace is None else trace.trace_id


# Differs: the platform joins the calls between workers in one trace, but passes none to others.
def outgoing() -> list[tuple[str, str]]:
    """The headers that put a request of the current event into its trace; none outside of one."""
    context = current.get()
    if context is None:
        return []
    trace = event_trace(context)
    named = _ID.fullmatch(ambient() or "") if ambient is not None else None
    if named is not None and (trace is None or trace.trace_id != named[1]):
        trace = Trace(named[1], "", is_sampled=True)
    if trace is None:
        return []
    flags = _SAMPLED if trace.is_sampled else 0
    headers = [(PARENT, f"00-{trace.trace_id}-{context.ray}-{flags:02x}")]
    return [*headers, (STATE, trace.state)] if trace.state else headers
