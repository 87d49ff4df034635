"""Reloads a worker when its files change."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final

from localedge.errors import OperatorError
from localedge.project.models import Project
from localedge.project.own_files import is_export, is_session
from localedge.supervisor.pool import Pool

if TYPE_CHECKING:
    from watchfiles import Change

logger = logging.getLogger(__name__)

QUIET_S: Final = 0.13
"""How long files must rest before a reload: ten saves in a second are one."""
_LONGEST_WAIT_S: Final = 3.0
_STEP_MS: Final = 10
_IGNORED: Final = frozenset({"__pycache__", "node_modules", "python_modules"})
_IGNORED_ENDS: Final = (".pyc", ".pyo", ".swp", ".swx", ".tmp", ".log", "~")
_OUTPUTS: Final = (1, 2)
_SETTINGS: Final = (".dev.vars", ".env")


class Reloader:
    """Watches one worker's bundle, config file and secrets.

    Shape: `project` reads the configuration again; it raises OperatorError when that is broken.
    """

    def __init__(self, pool: Pool, project: Callable[[], Awaitable[Project]]) -> None:
        self._pool = pool
        self._project = project
        self._changed = asyncio.Event()
        self._last_change = 0.0

    async def run(self) -> None:
        """Reload at each change, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch(self._pool.project.bundle, is_recursive=True))
            tasks.create_task(self._watch(self._pool.project.root, is_recursive=False))
            while True:
                await self._changed.wait()
                await self._rest()
                self._changed.clear()
                await self._reload()

    async def _watch(self, folder: Path, *, is_recursive: bool) -> None:
        # Imported here, because nobody waits for it at the start.
        from watchfiles import awatch

        wanted = self._is_source if is_recursive else self._is_setting
        loop = asyncio.get_running_loop()
        async for _ in awatch(
            folder,
            watch_filter=wanted,
            debounce=_STEP_MS,
            step=_STEP_MS,
            recursive=is_recursive,
            ignore_permission_denied=True,
        ):
            self._last_change = loop.time()
            self._changed.set()

    async def _rest(self) -> None:
        """Waits until the files have rested, but not for ever."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + _LONGEST_WAIT_S
        while True:
            now = loop.time()
            left = min(self._last_change + QUIET_S, give_up) - now
            if left <= 0:
                return
            await asyncio.sleep(left)

    async def _reload(self) -> None:
        try:
            project = await self._project()
        except OperatorError as error:
            logger.error("not reloaded: %s", error)
            return
        failure = await self._pool.reload(project)
        if failure is not None:
            logger.error("not reloaded, the version before goes on serving")

    def _is_source(self, _change: Change, path: str) -> bool:
        return is_source(path, self._pool.project.bundle)

    def _is_setting(self, _change: Change, path: str) -> bool:
        name = os.path.basename(path)
        return name == self._pool.project.file.name or name.startswith(_SETTINGS)


def is_source(path: str, bundle: Path) -> bool:
    """Whether `path` is of the worker in `bundle`: not of a tool, and not what we write ourselves.

    That is our output, a recorded session, and what `localedge export` has made.
    """
    inside = os.path.relpath(path, bundle)
    parts = inside.split(os.sep)
    if any(part.startswith(".") or part in _IGNORED for part in parts):
        return False
    if inside.endswith(_IGNORED_ENDS) or is_own_output(path) or is_session(Path(path)):
        return False
    return not any(map(is_export, accumulate(parts[:-1], Path.joinpath, initial=bundle)))


def is_own_output(path: str) -> bool:
    """Whether `path` is where we write: telling of a reload there must not be the next reason."""
    try:
        found = os.stat(path)
        return any(os.path.samestat(found, os.fstat(number)) for number in _OUTPUTS)
    except OSError:
        return False
