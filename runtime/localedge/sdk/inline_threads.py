"""Synchronous handlers of frameworks run inline in a worker's events, as on the platform.

Source: reference/python-workers.md section 4 (no threads; the SDK patches
`anyio.to_thread.run_sync`), read 2026-12-01.
"""

from __future__ import annotations

import functools
from typing import Any

import anyio.to_thread

from localedge.sdk.context import current


def install() -> None:
    """`anyio.to_thread.run_sync` runs inline in events; elsewhere it still uses a thread."""
    threaded = anyio.to_thread.run_sync
    if hasattr(threaded, "__wrapped__"):
        return

    @functools.wraps(threaded)
    async def run_sync(func: Any, *args: Any, **options: Any) -> Any:
        if current.get() is None:
            return await threaded(func, *args, **options)
        return func(*args)

    vars(anyio.to_thread)["run_sync"] = run_sync
