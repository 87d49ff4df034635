"""A Redis-protocol server as the keeper of namespaces: the only file that knows the driver.

All calls of a process share one connection, on which requests follow each other without waiting
for answers: a call costs one write, and answers are handed out in order.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import NoScriptError, RedisError, ResponseError

from localedge.kv.lifesigns import is_at_work
from localedge.kv.locations import LocationStore
from localedge.kv.redis_store import Argument, RefusedError, Reply, StrongStore
from localedge.kv.scripts import Script
from localedge.kv.store import Store, UnavailableError, WriteRate

DEADLINE_S: Final = 1.5
"""How long a call waits, with everything that it tries again, for a server that shows no life."""
MOST_S: Final = 10.0
"""How long a call waits for a server that is alive: one that is busy with large values."""
_TICKS: Final = 6
_TICK_S: Final = DEADLINE_S / _TICKS
_TICKS_TO_LOOK: Final = 2
_PING_S: Final = 0.9
_FIRST_PAUSE_S: Final = 0.01
_LONGEST_PAUSE_S: Final = 0.1


class _LinkLost(Exception):  # noqa: N818  (not an error that anybody sees)
    """The connection ended before its answer came."""


class _Link:
    """One connection, its unanswered calls in order, and the task that reads the answers."""

    def __init__(self, connection: AbstractConnection) -> None:
        self._connection = connection
        self._pending: deque[asyncio.Future[Reply]] = deque()
        self._loop = asyncio.get_running_loop()
        self.lost = False
        self.reader = self._loop.create_task(self._read())

    async def ask(self, command: Sequence[Argument]) -> Reply:
        """The server's answer to `command`. Errors: _LinkLost, ResponseError."""
        connection = self._connection
        future: asyncio.Future[Reply] = self._loop.create_future()
        self._pending.append(future)
        try:
            # Everything is handed to the transport before this first waits, so that calls go out
            # in the order of `_pending`. That holds because the connection has no timeout.
            await connection.send_packed_command(
                connection.pack_command(*command), check_health=False
            )
        except (RedisError, OSError) as exc:
            self.lose(exc)
        return await future

    async def _read(self) -> None:
        connection = self._connection
        reason: BaseException | None = None
        try:
            while True:
                try:
                    reply = await connection.read_response(disable_decoding=True)
                except ResponseError as refusal:
                    self._settle(None, refusal)
                else:
                    self._settle(reply, None)
        except (RedisError, OSError, IndexError) as exc:
            reason = exc
        finally:
            self.lose(reason)
            await connection.disconnect(nowait=True)

    def _settle(self, reply: Reply, refusal: ResponseError | None) -> None:
        future = self._pending.popleft()
        if future.done():
            return
        if refusal is None:
            future.set_result(reply)
        else:
            _fail(future, refusal)

    def lose(self, reason: BaseException | None) -> None:
        """Give every unanswered call _LinkLost, and take no more."""
        self.lost = True
        while self._pending:
            future = self._pending.popleft()
            if not future.done():
                _fail(future, _LinkLost(str(reason)))


def _fail(future: asyncio.Future[Reply], reason: Exception) -> None:
    """`future` raises `reason`; a caller that left while it was still sending may never look."""
    future.set_exception(reason)
    future.exception()


class _Patience:
    """Ends a call when the server has shown no life for `DEADLINE_S`.

    A value of 25 MiB on a busy machine takes longer than we wait for a server that is stopped.
    Time is counted in ticks of the loop, so that a worker that blocks it is not held against the
    server: its answer may lie there unread.
    """

    def __init__(self, deadline: asyncio.Timeout, look: Callable[[], asyncio.Task[bool]]):
        self._deadline = deadline
        self._look = look
        self._looking: asyncio.Task[bool] | None = None
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._ticks = 0
        self._timer = self._loop.call_later(_TICK_S, self._tick)

    def _tick(self) -> None:
        self._ticks += 1
        if self._ticks == _TICKS_TO_LOOK:
            self._looking = self._look()
        elif self._ticks >= _TICKS:
            if not self._is_alive() or self._loop.time() > self._began + MOST_S:
                self._deadline.reschedule(self._loop.time())
                return
            self._ticks = 0
        self._timer = self._loop.call_later(_TICK_S, self._tick)

    def _is_alive(self) -> bool:
        looking = self._looking
        done = looking is not None and looking.done() and not looking.cancelled()
        return done and looking is not None and looking.result()

    def end(self) -> None:
        """The call is over."""
        self._timer.cancel()


class RedisConnection:
    """The way to one server, opened when first needed and again after each loss."""

    def __init__(self, url: str) -> None:
        # The timeouts are ours (`execute`): the driver's own would wait over a minute for a
        # server that is stopped, and would break the order of requests.
        self._pool = ConnectionPool.from_url(
            url,
            socket_timeout=None,
            socket_connect_timeout=DEADLINE_S,
            decode_responses=False,
            protocol=2,
            driver_info=None,
        )
        self._socket_path = url.removeprefix("unix://").partition("?")[0] if "unix:" in url else ""
        self._link: _Link | None = None
        self._opening = asyncio.Lock()
        self._readers: set[asyncio.Task[None]] = set()
        self._look: asyncio.Task[bool] | None = None
        self._loss = ""

    def store(
        self,
        namespace_id: str,
        *,
        location: str | None = None,
        write_rate: WriteRate = "off",
    ) -> Store:
        """The entries of one namespace.

        Shape: without `location` every read is the newest; with it, reads are what that location
        has cached. `write_rate` says what a second write to a key within a second gets.
        """
        if location is None:
            return StrongStore(self, namespace_id, write_rate=write_rate)
        return LocationStore(self, namespace_id, location=location, write_rate=write_rate)

    async def execute(self, *command: Argument) -> Reply:
        """The server's answer to `command`, asked again on a new connection if the old one broke.

        Errors: UnavailableError after `DEADLINE_S`; RefusedError when the server says no.
        """
        try:
            async with asyncio.timeout(None) as deadline:
                patience = _Patience(deadline, self._shows_life)
                try:
                    return await self._answer(command)
                finally:
                    patience.end()
        except TimeoutError as exc:
            self._drop()
            raise UnavailableError(f"no answer within {DEADLINE_S} s{self._loss}") from exc
        except ResponseError as exc:
            raise RefusedError(str(exc)) from exc

    async def run(
        self, script: Script, keys: Sequence[bytes], arguments: Sequence[Argument]
    ) -> Reply:
        """What `script` returns. Errors: as `execute`."""
        try:
            return await self.execute(b"EVALSHA", script.digest, len(keys), *keys, *arguments)
        except RefusedError as refusal:
            if not isinstance(refusal.__cause__, NoScriptError):
                raise
        return await self.execute(b"EVAL", script.source, len(keys), *keys, *arguments)

    async def _answer(self, command: Sequence[Argument]) -> Reply:
        pause_s = _FIRST_PAUSE_S
        while True:
            link = self._link
            try:
                if link is None or link.lost:
                    link = await self._open()
                self._loss = ""
                return await link.ask(command)
            except ResponseError:
                raise
            except (_LinkLost, RedisError, OSError) as exc:
                self._loss = f" ({exc})" if str(exc) else ""
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    async def _open(self) -> _Link:
        async with self._opening:
            if self._link is not None and not self._link.lost:
                return self._link
            connection: AbstractConnection = self._pool.make_connection()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
            try:
                await connection.connect()  # type: ignore[no-untyped-call]  # untyped there too
            except BaseException:
                await connection.disconnect(nowait=True)
                raise
            self._link = _Link(connection)
            self._readers.add(self._link.reader)
            self._link.reader.add_done_callback(self._readers.discard)
            return self._link

    def _shows_life(self) -> asyncio.Task[bool]:
        """Finds out whether the server lives; all who ask at one time share the answer."""
        if self._look is None or self._look.done():
            self._look = asyncio.get_running_loop().create_task(self._looked())
        return self._look

    async def _looked(self) -> bool:
        # A server that has no processor or waits for its disk answers nobody, and is no less alive.
        at_work = is_at_work(self._socket_path) if self._socket_path else None
        return await self._ping() if at_work is None else at_work

    async def _ping(self) -> bool:
        connection: AbstractConnection = self._pool.make_connection()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        try:
            async with asyncio.timeout(_PING_S):
                await connection.connect()  # type: ignore[no-untyped-call]  # untyped there too
                await connection.send_command("PING")
                await connection.read_response()
        except (TimeoutError, RedisError, OSError):
            return False
        finally:
            await connection.disconnect(nowait=True)
        return True

    def _drop(self) -> None:
        """Leave the connection that did not answer; its other calls try a new one."""
        if self._link is not None:
            self._link.lose(TimeoutError())
            self._link.reader.cancel()

    async def aclose(self) -> None:
        """Close the connection; calls in flight fail."""
        tasks: list[asyncio.Task[Any]] = [*self._readers, *filter(None, [self._look])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._pool.aclose()


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[RedisConnection]:
    """A connection to the server at `url` (`unix:///path/to.sock`, `redis://…`, `rediss://…`).

    Shape: nothing is asked of the server before the first call.
    """
    connection = RedisConnection(url)
    try:
        yield connection
    finally:
        await connection.aclose()
