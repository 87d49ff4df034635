"""`asyncio.run` and `run_until_complete` inside a handler, whose loop runs already.

Source: reference/python-workers.md section 4 (Async: they are `run_sync` there since Python 3.13),
read 2026-12-01.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from typing import Any

from localedge.sdk import stack_switch


def install(loop: asyncio.AbstractEventLoop) -> None:
    """In handlers that can wait without `await` both do; everywhere else they are as they were."""
    plain_run = asyncio.run
    if hasattr(plain_run, "__wrapped__"):
        return

    @functools.wraps(plain_run)
    def run(main: Any, **options: Any) -> Any:
        if stack_switch.can_run_sync():
            return stack_switch.run_sync(main)
        return plain_run(main, **options)

    vars(asyncio)["run"] = run
    plain_complete = loop.run_until_complete

    @functools.wraps(plain_complete)
    def run_until_complete(future: Any) -> Any:
        if stack_switch.can_run_sync():
            return stack_switch.run_sync(future)
        return plain_complete(future)

    # A loop that takes no attributes goes on refusing, as loops that run do.
    with contextlib.suppress(AttributeError):
        setattr(loop, "run_until_complete", run_until_complete)  # noqa: B010
