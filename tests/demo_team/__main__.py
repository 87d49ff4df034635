"""`make demo-team`. Exit code: 0 if every claim holds, 1 if not, 128 + n by signal."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import httpx
from tests.demo.screen import Screen
from tests.demo.server import Trouble
from tests.demo_team.story import CLAIMS, tell

LIMIT_S = 240.0


async def run(screen: Screen) -> int:
    """Tell the story; a signal ends it in order. The exit code."""
    story = asyncio.ensure_future(_tell(screen))
    ended_by: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        if not ended_by:
            ended_by.append(number)
            story.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)
    try:
        await story
    except asyncio.CancelledError:
        if not ended_by:
            raise
        screen.trouble(f"Ended by {ended_by[0].name}; everything started was ended too.")
        return 128 + ended_by[0]
    except Trouble as trouble:
        screen.trouble(str(trouble))
        return 1
    except (TimeoutError, AssertionError, httpx.HTTPError) as exc:
        screen.trouble(f"Something did not happen in time: {exc!r}")
        return 1
    return screen.exit_code()


async def _tell(screen: Screen) -> None:
    began = time.monotonic()
    seed = int(os.environ.get("LOCALEDGE_DEMO_SEED", time.time_ns() % 100_000))
    with tempfile.TemporaryDirectory(prefix="localedge-team-") as folder:
        async with asyncio.timeout(LIMIT_S):
            await tell(screen, Path(folder), seed=seed)
    screen.verdict(time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(asyncio.run(run(Screen(claims=CLAIMS))))
