"""A demo from its first line to its exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
from tests.demo.screen import Screen
from tests.demo.server import Trouble


@dataclass(frozen=True, slots=True)
class Story:
    """What a demo tells.

    Shape: `tell` shows it on the screen, with all it writes in the folder that it is given;
    `claims` is how many claims it checks. Units: it takes at most `limit_s` seconds.
    """

    name: str
    claims: int
    limit_s: float
    tell: Callable[[Screen, Path], Awaitable[None]]


def show(story: Callable[[], Story]) -> int:
    """The exit code: 0 if every claim was checked and holds, 1 if not, 128 + n after signal n.

    Shape: `story` imports what the demo needs, which takes its time.
    """
    # Nothing is started yet that would have to be ended: who interrupts the imports gets no
    # traceback.
    signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
    found = story()
    return asyncio.run(_run(Screen(claims=found.claims), found))


async def _run(screen: Screen, story: Story) -> int:
    telling = asyncio.ensure_future(_tell(screen, story))
    ended_by: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        if not ended_by:
            ended_by.append(number)
            telling.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)
    try:
        await telling
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


async def _tell(screen: Screen, story: Story) -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"localedge-{story.name}-") as folder:
        async with asyncio.timeout(story.limit_s):
            await story.tell(screen, Path(folder))
    screen.verdict(time.monotonic() - began)
