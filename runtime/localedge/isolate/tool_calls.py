"""The calls of an agent's tools pass the probe too, when the bundle has edgestate."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

from localedge.probe import Call, Probe

_LIBRARY: Final = "edgestate"


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
        if not probe.observers:
            return await operation()
        return await probe.run(Call("tool", "", name, (arguments,)), operation)

    library.observe = observe
