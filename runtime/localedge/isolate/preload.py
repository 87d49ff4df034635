"""Imports what isolates need, once, in the process that they are forked from.

Step by step, so that this process can answer in between; what a worker needs to load comes first.
"""

from __future__ import annotations

import gc
from typing import Final

from localedge.isolate.lean import lean_import, without_plugins
from localedge.sdk import finder

_NEEDED: Final = (
    "localedge.isolate.boot",
    "localedge.kv.redis",
    "localedge.isolate.environment",
    "localedge.isolate.process",
    "workers",
    "pyodide.ffi",
)
"""Each of the first four is a quarter of the time: what is asked for at once waits for one."""
_USEFUL: Final = (
    "localedge.isolate.first_model",
    "js",
    "ada_url",
    "httpx",
    "encodings.idna",
    "uuid",
    "random",
)
_CALM_MS: Final = 300


class Preload:
    """The imports that are left."""

    def __init__(self) -> None:
        gc.disable()
        self._needed = [*_NEEDED]
        self._useful = [*_USEFUL]

    @property
    def wait_ms(self) -> int | None:
        """How long to wait for orders before the next `step`; None when there is none left."""
        if self._needed:
            return 0
        # The first isolates are loading now, and have more use for the machine.
        return _CALM_MS if self._useful else None

    def step(self) -> None:
        """One more module is imported."""
        finder.install()
        if self._needed:
            with without_plugins():
                lean_import(self._needed.pop(0))
        else:
            lean_import(self._useful.pop(0))
        if not self._needed:
            # The heap as it is now stays shared: a fork's collector does not write to it. Nothing
            # is collected before: imports leave next to nothing, and whoever starts waits for it.
            gc.freeze()

    def until_forkable(self) -> None:
        """What every worker needs is imported."""
        while self._needed:
            self.step()
