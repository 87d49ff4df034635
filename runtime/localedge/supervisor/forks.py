"""The supervisor's end of the fork server."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from itertools import count
from typing import Any, Final

from localedge.errors import OperatorError
from localedge.isolate.wire import SEEN, Items, pack, unpack
from localedge.supervisor.launch import Launched

logger = logging.getLogger(__name__)

_DEADLINE_S: Final = 30.0
_RECORD_BYTES: Final = 128 * 1024

Record = tuple[int, int, str, str, str]
"""One line of worker output: pid, generation, ray, level, text."""


class ForkServerLost(Exception):  # noqa: N818  (what happened)
    """The fork server went away before it had started the process."""


class Forks:
    """The fork server; another one after it was lost.

    Shape: `on_exit(pid, status)` is called for each process that it started and that ended,
    `on_record` with each line that an isolate wrote and `on_seen(pid, ray, facts)` with what it has
    recorded, both with when that was (by the machine's monotonic clock), `on_lost` when it is gone
    unasked: whoever hears that calls `attach` with another. Once `is_closing` nothing is started.
    """

    def __init__(
        self,
        launched: Launched,
        *,
        on_exit: Callable[[int, int], None],
        on_record: Callable[[Record, float], None],
        on_seen: Callable[[int, str, Any, float], None],
        on_lost: Callable[[], None],
    ) -> None:
        self._on_exit = on_exit
        self._on_record = on_record
        self._on_seen = on_seen
        self._on_lost = on_lost
        self._tokens = count(1)
        self._waiting: dict[int, asyncio.Future[int]] = {}
        self._running: dict[int, asyncio.Future[int]] = {}
        self._loop = asyncio.get_running_loop()
        self._up = asyncio.Event()
        self.is_closing = False
        self.attach(launched)

    def attach(self, launched: Launched) -> None:
        """`launched` is the fork server from now on."""
        self._items = Items()
        self._control, self._log = launched.control, launched.log
        self._process = launched.process
        self._loop.add_reader(self._control, self._read_control)
        self._loop.add_reader(self._log, self._read_log)
        self._up.set()

    @property
    def pid(self) -> int:
        """The fork server's pid."""
        return self._process.pid

    async def fork(self) -> tuple[int, socket.socket]:
        """The pid of a new isolate's process and our end of its channel.

        Errors: OperatorError when the fork fails; ForkServerLost when the server went away.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            try:
                pid = await self._started("fork", descriptors=[theirs.fileno()])
            except BaseException:
                ours.close()
                raise
        ours.setblocking(False)
        return pid, ours

    async def run(self, argv: list[str]) -> int:
        """The pid of a new process that runs `argv` and ends with the fork server."""
        return await self._started("run", argv)

    def kill(self, pid: int, number: int = signal.SIGKILL) -> None:
        """`pid`, which was started here, gets the signal; one that has ended gets none."""
        self._send("kill", pid, int(number))

    def share_lock(self, descriptor: int) -> None:
        """The state's lock is held until the fork server is gone too."""
        self._send("lock", descriptors=[descriptor])

    def remove_at_end(self, path: str) -> None:
        """The folder `path` is removed when the fork server leaves, even if we were killed."""
        self._send("remove", path)

    async def ended(self, pid: int, *, within_s: float) -> int | None:
        """The exit status of `pid`, or None if it still runs after `within_s` seconds."""
        future = self._running.get(pid)
        if future is None:
            return 0
        done, _ = await asyncio.wait([future], timeout=within_s)
        return future.result() if done else None

    async def close(self) -> None:
        """The fork server and all that it started are gone."""
        self.is_closing = True
        self._lose()
        # Whoever waits for the next fork server learns that there will be none.
        self._up.set()
        await self._reap()

    async def _reap(self) -> None:
        try:
            async with asyncio.timeout(_DEADLINE_S):
                await asyncio.to_thread(self._process.wait, _DEADLINE_S)
        except (TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()

    async def _started(self, kind: str, *rest: object, descriptors: list[int] | None = None) -> int:
        token = next(self._tokens)
        future: asyncio.Future[int] = self._loop.create_future()
        self._waiting[token] = future
        try:
            async with asyncio.timeout(_DEADLINE_S):
                await self._up.wait()
                if self.is_closing:
                    raise ForkServerLost
                self._send(kind, token, *rest, descriptors=descriptors)
                return await future
        except TimeoutError as exc:
            raise _no_process("the fork server does not answer") from exc
        finally:
            self._waiting.pop(token, None)

    def _send(self, *message: object, descriptors: list[int] | None = None) -> None:
        if self.is_closing or not self._up.is_set():
            return
        try:
            socket.send_fds(self._control, [pack(message)], descriptors or [])
        except OSError as error:
            logger.debug("fork server not reached", extra={"error": str(error)})

    def _read_control(self) -> None:
        try:
            data = self._control.recv(_RECORD_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
            return
        for message in self._items.feed(data):
            self._act(message)

    def _act(self, message: tuple[Any, ...]) -> None:
        match message:
            case ("started", token, pid):
                self._running[pid] = self._loop.create_future()
                waiting = self._waiting.pop(token, None)
                if waiting is None or waiting.done():
                    self.kill(pid)
                else:
                    waiting.set_result(pid)
            case ("failed", token, text):
                waiting = self._waiting.pop(token, None)
                if waiting is not None and not waiting.done():
                    waiting.set_exception(_no_process(text))
            case ("exited", pid, status):
                running = self._running.pop(pid, None)
                if running is not None:
                    running.set_result(status)
                self._on_exit(pid, status)

    def _read_log(self) -> None:
        try:
            data = self._log.recv(_RECORD_BYTES)
        except OSError:
            return
        if not data:
            self._loop.remove_reader(self._log)
            return
        pid, generation, ray, level, text, at_s = unpack(data)
        if level == SEEN:
            self._on_seen(pid, ray, text, at_s)
        else:
            self._on_record((pid, generation, ray, level, text), at_s)

    def _lose(self) -> None:
        if not self._up.is_set():
            return
        self._up.clear()
        for end in (self._control, self._log):
            self._loop.remove_reader(end)
            end.close()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ForkServerLost())
        for pid, running in [*self._running.items()]:
            running.set_result(-signal.SIGKILL)
            self._on_exit(pid, -signal.SIGKILL)
        self._running.clear()
        if not self.is_closing:
            self._on_lost()

    async def lost_one_is_reaped(self) -> None:
        """The process of the fork server that was lost is no zombie."""
        await self._reap()


def _no_process(text: str) -> OperatorError:
    hint = "Give the machine back some memory or processes, then start localedge dev again."
    return OperatorError("isolate/no-process", f"no process could be started: {text}.", hint)


def is_alive(pid: int) -> bool:
    """Whether a process of that id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
