"""Imports that leave out what nobody here needs."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Final

_NOT_NEEDED: Final = ("httpx._main", "opentelemetry", "pytest")
"""Optional parts that other packages import when they find them: httpx its command line (with
rich), redis its telemetry, time_machine its pytest plugin. They would cost every isolate time and
memory."""

_PLUGINS: Final = "PYDANTIC_DISABLE_PLUGINS"


def lean_import(name: str) -> ModuleType:
    """The module, imported without the optional parts that no worker needs."""
    hidden = [module for module in _NOT_NEEDED if module not in sys.modules]
    for module in hidden:
        # None means "not there" to the import system.
        sys.modules[module] = None  # type: ignore[assignment]
    try:
        return importlib.import_module(name)
    finally:
        for module in hidden:
            del sys.modules[module]


@contextmanager
def without_plugins() -> Iterator[None]:
    """pydantic looks for no plugins: to do so it reads the metadata of all installed packages.

    Our models need none. It looks when the first model after the block is made.
    """
    before = os.environ.get(_PLUGINS)
    os.environ[_PLUGINS] = "__all__"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_PLUGINS]
        else:
            os.environ[_PLUGINS] = before
