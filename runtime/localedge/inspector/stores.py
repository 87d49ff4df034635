"""The way of the views to the stores of a server: opened when needed, closed when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager

from edgestate import clock as agents_clock
from localedge import clock
from localedge.errors import OperatorError
from localedge.inspector.d1_places import Databases, Place, places
from localedge.inspector.inspection import Inspection
from localedge.kv.redis import RedisConnection, connect
from localedge.project.models import Project


class Stores:
    """KV and D1 of one server, as its workers have them."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.databases = Databases()
        self._kv: tuple[str, RedisConnection] | None = None
        self._stack = AsyncExitStack()
        self._is_kept = False

    @property
    def projects(self) -> list[Project]:
        """What the workers run now."""
        return [pool.project for pool in self.inspection.supervisor.pools]

    @property
    def now_ms(self) -> int:
        """The workers' time in ms since the epoch."""
        return int(self.inspection.supervisor.clock.now() * 1000)

    @contextmanager
    def their_time(self) -> Iterator[None]:
        """Inside, it is as late for the stores as for the workers."""
        offset_s = self.inspection.supervisor.clock.offset_s
        token = agents_clock.AHEAD_S.set(offset_s)
        try:
            with clock.ahead(offset_s):
                yield
        finally:
            agents_clock.AHEAD_S.reset(token)

    async def kv(self) -> RedisConnection:
        """The way to the KV server. Errors: OperatorError when no worker needs one."""
        # A worker that has got its first namespace since brings one of its own.
        url = next((p.kv_url for p in self.inspection.supervisor.pools if p.kv_url), None)
        if url is None:
            raise OperatorError(
                "kv/no-server",
                "no worker of this server has a KV namespace.",
                "Add one under `kv_namespaces`.",
            )
        if self._kv is None or self._kv[0] != url:
            self.keep()
            self._kv = (url, await self._stack.enter_async_context(connect(url)))
        return self._kv[1]

    def places(self) -> dict[str, Place]:
        """The databases of all workers, by id."""
        return places(self.projects, self.inspection.supervisor.state)

    def names(self) -> dict[str, str]:
        """The databases by id, each with a name for people."""
        return {id_: place.name for id_, place in self.places().items()}

    def place(self, id_: str) -> Place:
        """The database `id_`. Errors: OperatorError when there is none."""
        self.keep()
        found = self.places()
        if id_ not in found:
            raise OperatorError(
                "d1/unknown-database",
                f"no worker of this server has a database {id_!r}.",
                f"There is {', '.join(found)}." if found else "Add one under `d1_databases`.",
            )
        return found[id_]

    def keep(self) -> None:
        """What is opened from now on is closed when the server ends."""
        if not self._is_kept:
            self._is_kept = True
            self.inspection.supervisor.accompany(self._kept())

    async def _kept(self) -> None:
        """What was opened is closed when the server ends."""
        try:
            await asyncio.Event().wait()
        finally:
            await self.databases.aclose()
            await self._stack.aclose()
