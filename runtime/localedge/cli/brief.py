"""The check in brief while `localedge dev` runs: one line, from a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from localedge.project.options import LoadArguments

logger = logging.getLogger(__name__)

PAUSE_S: Final = 1.0
"""The first requests go first."""
_DEADLINE_S: Final = 120.0
# The least urgent process there is: it takes the time that nobody else wants.
_PROGRAM: Final = "import os; os.nice(19); from localedge.cli.main import main; main()"


@asynccontextmanager
async def checked(
    all_arguments: Sequence[LoadArguments], say: Callable[[str], None]
) -> AsyncIterator[None]:
    """In this block each project is checked once; `say` gets a line per project with findings.

    What still runs at the end of the block is ended.
    """
    running = asyncio.ensure_future(_check_all(all_arguments, say))
    try:
        yield
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


async def _check_all(all_arguments: Sequence[LoadArguments], say: Callable[[str], None]) -> None:
    await asyncio.sleep(PAUSE_S)
    for arguments in all_arguments:
        try:
            async with asyncio.timeout(_DEADLINE_S):
                line = await _check(arguments)
        except (TimeoutError, OSError, ValueError) as error:
            logger.debug("check not done", extra={"reason": repr(error)})
            continue
        if line:
            say(line)


async def _check(arguments: LoadArguments) -> str:
    """What there is to say about one project; "" when nothing."""
    options = ["--json"]
    if arguments["config"] is not None:
        options += ["--config", str(arguments["config"])]
    if arguments["environment"] is not None:
        options += ["--env", arguments["environment"]]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _PROGRAM, "check", *options),
        cwd=arguments["start"],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        # Ctrl-C is for us; this process is ended below.
        start_new_session=True,
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode not in (0, 1):
        return ""
    told = json.loads(output)
    parts = [
        f"{count} {word}{'' if count == 1 else 's'}"
        for word, count in (("error", told["errors"]), ("warning", told["warnings"]))
        if count
    ]
    command = " ".join(["localedge check", *options[1:]])
    return f"The check found {' and '.join(parts)} for the edge.  See: {command}" if parts else ""
