"""Imports what every isolate needs, once, in the process that isolates are forked from."""

from __future__ import annotations

import importlib
from typing import Final

from localedge.sdk import finder

_MODULES: Final = (
    "localedge.isolate.process",
    "workers",
    "js",
    "pyodide.ffi",
    "httpx",
    "asyncio.taskgroups",
    "json",
    "random",
    "uuid",
    "datetime",
    "time_machine",
    "traceback",
    "encodings.idna",
)


def everything() -> None:
    """All of it is in `sys.modules`; a fork shares its memory until it writes to it."""
    finder.install()
    for name in _MODULES:
        importlib.import_module(name)
