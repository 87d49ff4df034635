"""An agent's tools pass the probe too, and its traces are those of requests, when the bundle has
edgestate."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

from localedge.probe import Call, Probe
from localedge.sdk import tracing

_LIBRARY: Final = "edgestate"


def share_traces() -> None:
    """The edgestate that the worker has loaded goes on with the trace that a request came with,
    and what the worker asks for outside goes with the trace that edgestate is in.

    Shape: it is the bundle's own copy, of whatever version; one without the seam stays as it is.
    """
    library: Any = sys.modules.get(_LIBRARY)
    if library is None or getattr(library, "request_trace", "") is not None:
        return
    library.request_trace = tracing.current_trace_id
    tracing.ambient = _trace_of_library


def _trace_of_library() -> str | None:
    # Loaded when the worker first needs it, which may be later than the worker itself.
    team: Any = sys.modules.get(f"{_LIBRARY}.team.tracing")
    found = team.begun_trace_id() if team is not None else None
    return found if isinstance(found, str) else None


def observe_tools(probe: Probe) -> None:
    """Tool calls of the edgestate that the worker has loaded pass `probe` from now on.

    Shape: it is the bundle's own copy, of whatever version; one without the seam stays as it is.
    """
    library: Any = sys.modules.get(_LIBRARY)
    if library is None or getattr(library, "observe", None) is not None:
        return

    async def observe(
        name: str, arguments: Any, operation: Callable[[], Awaitable[object]]
    ) -> object:
        return await probe.run(Call("tool", "", name, (arguments,)), operation)

    library.observe = observe
