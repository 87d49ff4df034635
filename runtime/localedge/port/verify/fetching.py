"""Folders of the cache: whole, or not there; and the clients that fill them."""

from __future__ import annotations

import asyncio
import fcntl
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from localedge.errors import Exit, OperatorError

_FETCH_S: Final = 600.0
_POLL_S: Final = 0.1
_TAIL: Final = 1500


async def filled(folder: Path, fill: Callable[[Path], Awaitable[None]]) -> Path:
    """`folder`, which `fill` has filled if it was not there; a failed fill leaves nothing.

    Shape: of several processes one fills, the others wait for it.
    Errors: what `fill` raises; OperatorError when the cache cannot be written.
    """
    if _is_there(folder):
        return folder
    try:
        os.makedirs(folder.parent, exist_ok=True)
        async with _locked(folder.with_suffix(".lock")):
            if not _is_there(folder):
                with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".part-") as part:
                    content = Path(part) / "content"
                    os.mkdir(content)
                    await fill(content)
                    os.rename(content, folder)
    except OSError as error:
        raise OperatorError(
            "verify/cannot-write",
            f"{error.filename or folder}: {error.strerror}.",
            "Set XDG_CACHE_HOME to a folder that can be written.",
            exit=Exit.UNREACHABLE,
        ) from error
    return folder


async def run(command: Sequence[str | Path], folder: Path) -> tuple[int, str]:
    """The exit code of `command`, run in `folder`, and the last of what it printed."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(_FETCH_S):
            said, _ = await process.communicate()
    except TimeoutError:
        return 1, f"it did not end within {_FETCH_S:.0f} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, said.decode(errors="replace").strip()[-_TAIL:]


@asynccontextmanager
async def _locked(file: Path) -> AsyncIterator[None]:
    with file.open("w") as held:
        async with asyncio.timeout(_FETCH_S):
            while True:
                try:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    await asyncio.sleep(_POLL_S)
        yield


def _is_there(folder: Path) -> bool:
    return folder.is_dir()
