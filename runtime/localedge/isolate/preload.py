"""Imports what isolates need, once, in the process that they are forked from.

Step by step, so that this process can answer in between; what a worker needs to load comes first.
"""

from __future__ import annotations

import gc
import importlib
import sys
from typing import Final

from localedge.sdk import finder

_NEEDED: Final = ("localedge.isolate.process", "workers", "pyodide.ffi")
_USEFUL: Final = ("js", "ada_url", "httpx", "encodings.idna", "uuid", "random")
_CALM_MS: Final = 300
_NOT_FOR_WORKERS: Final = ("httpx._main", "pytest")
"""Optional parts that other packages import when they find them: httpx its command line (with
rich), time_machine its pytest plugin. They would cost every isolate time and memory."""


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
        lean_import((self._needed or self._useful).pop(0))
        if not self._needed:
            # The heap as it is now stays shared: a fork's collector does not write to it. Nothing
            # is collected before: imports leave next to nothing, and whoever starts waits for it.
            gc.freeze()

    def until_forkable(self) -> None:
        """What every worker needs is imported."""
        while self._needed:
            self.step()


def lean_import(name: str) -> None:
    """The module is imported without the optional parts that no worker needs."""
    hidden = [module for module in _NOT_FOR_WORKERS if module not in sys.modules]
    for module in hidden:
        # None means "not there" to the import system.
        sys.modules[module] = None  # type: ignore[assignment]
    try:
        importlib.import_module(name)
    finally:
        for module in hidden:
            del sys.modules[module]
