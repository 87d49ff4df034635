"""Valkey as a child of the fork server: started, started again when it dies, ended in order."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

from localedge.errors import Exit, OperatorError
from localedge.supervisor import valkey
from localedge.supervisor.forks import Forks, ForkServerLost

logger = logging.getLogger(__name__)

_START_S: Final = 20.0
_END_S: Final = 5.0
_MOST_FAILURES: Final = 3


class KvServer:
    """The Valkey of one state folder.

    Shape: `url` is where isolates find it, the same after a restart; `folder` the private
    temporary folder of its socket; `pid` the process while one runs.
    """

    def __init__(
        self,
        data: Path,
        durability: valkey.Durability,
        forks: Forks,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._data = data
        self._durability: valkey.Durability = durability
        self._forks = forks
        self._spawn = spawn
        self._is_ending = False
        self._failures = 0
        self.pid: int | None = None
        self._folder = valkey.socket_folder()
        self.folder = self._folder.path
        self._socket = self.folder / valkey.SOCKET_NAME
        self.url = f"unix://{self._socket}"

    async def start(self) -> None:
        """It answers, with all its data loaded.

        Errors: OperatorError (exit 4) with the server's last words.
        """
        self._forks.remove_at_end(str(self.folder))
        self._prepare()
        pid = await self._forks.run(
            valkey.command(self._data, self._socket, durability=self._durability)
        )
        async with asyncio.TaskGroup() as tasks:
            ready = tasks.create_task(_ready(self._socket))
            ended = tasks.create_task(self._forks.ended(pid, within_s=_START_S))
            await asyncio.wait({ready, ended}, return_when=asyncio.FIRST_COMPLETED)
            for task in (ready, ended):
                task.cancel()
        error = None if ready.cancelled() else ready.result()
        if ready.cancelled() or error is not None:
            raise error or OperatorError(
                "kv/not-started",
                f"The KV server ended at once: {valkey.last_words(self._data)}",
                f"Look at {self._data / valkey.LOG_NAME}, or set [localedge] redis_url.",
                exit=Exit.UNREACHABLE,
            )
        self.pid = pid

    def exited(self, pid: int) -> None:
        """`pid` has ended; if it was ours and we did not ask for that, another one starts."""
        if pid == self.pid:
            self.pid = None
            if not self._is_ending:
                logger.warning("KV server died, starting it again", extra={"pid": pid})
                self._spawn(self._again())

    async def end(self) -> None:
        """It has written everything and ended, and its socket is gone."""
        self._is_ending = True
        pid = self.pid
        if pid is not None:
            # One that was stopped hears nothing before it goes on.
            self._forks.kill(pid, signal.SIGCONT)
            if not await valkey.ask_to_end(self._socket):
                self._forks.kill(pid, signal.SIGTERM)
            if await self._forks.ended(pid, within_s=_END_S) is None:
                self._forks.kill(pid)
        self._folder.remove()

    async def _again(self) -> None:
        try:
            await self.start()
        except ForkServerLost:
            if not self._is_ending:
                self._spawn(self._again())
        except OperatorError as error:
            if self._is_ending:
                return
            self._failures += 1
            logger.error("KV server does not start again", extra={"error": str(error)})
            if self._failures < _MOST_FAILURES:
                self._spawn(self._again())
        else:
            self._failures = 0

    def _prepare(self) -> None:
        try:
            self._data.mkdir(parents=True, exist_ok=True)
            (self._data / valkey.LOG_NAME).unlink(missing_ok=True)
        except OSError as exc:
            raise OperatorError(
                "kv/no-folder",
                f"The KV server cannot keep its data in {self._data}: {exc.strerror}.",
                "Make it a writable folder, or choose another with --persist-to.",
                exit=Exit.UNREACHABLE,
            ) from exc


async def _ready(socket: Path) -> OperatorError | None:
    try:
        await valkey.wait_ready(socket, timeout_s=_START_S)
    except OperatorError as error:
        return error
    return None
