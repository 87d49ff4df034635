"""All processes of one `localedge dev`: opened together, ended together."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from localedge.errors import Exit, OperatorError
from localedge.isolate.boot import Boot
from localedge.isolate.secrets import Mask
from localedge.isolate.steps import Step, taken
from localedge.project.models import Project
from localedge.supervisor import state as state_folder
from localedge.supervisor import valkey
from localedge.supervisor.clock import EdgeClock
from localedge.supervisor.crons import Crons
from localedge.supervisor.forks import Forks, ForkServerLost, Record
from localedge.supervisor.generation import Generation
from localedge.supervisor.history import History
from localedge.supervisor.isolates import KILLED, Isolate
from localedge.supervisor.keeping import Keeping
from localedge.supervisor.kv_server import KvServer
from localedge.supervisor.launch import Launched
from localedge.supervisor.limits import Watch
from localedge.supervisor.pool import Pool
from localedge.supervisor.reload import Reloader
from localedge.supervisor.services import Services

logger = logging.getLogger(__name__)

_END_S: Final = 2.0
_MOST_LOSSES: Final = 5
_LOSSES_WITHIN_S: Final = 20.0


class Supervisor:
    """The running workers.

    Shape: `pools` has one per worker, in the order of the projects; the first gets the port.
    `clock` is the workers', `history` what has happened.
    """

    def __init__(
        self,
        state: Path,
        lock: int,
        launched: Launched,
        tasks: asyncio.TaskGroup,
        on_record: Callable[[Record], None],
    ) -> None:
        self.state = state
        self._lock = lock
        self._tasks = tasks
        self.pools: list[Pool] = []
        self.kv: KvServer | None = None
        self.kv_url: str | None = None
        self._kv_started: asyncio.Task[None] | None = None
        self.clock = EdgeClock()
        self.history = History(self._watch, self._trail_of)
        self._services = Services(self.pools, self.clock, tasks.create_task)
        self._losses: deque[float] = deque(maxlen=_MOST_LOSSES)
        self._working: list[asyncio.Task[None]] = []
        self._on_record = on_record
        self.forks = Forks(
            launched,
            on_exit=self._exited,
            on_record=self._recorded,
            on_seen=self.history.seen,
            on_lost=self._fork_server_lost,
        )
        self.forks.share_lock(lock)

    def start(self, projects: Sequence[Project]) -> None:
        """KV and the isolates of all workers are starting."""
        given = next((p.local.redis_url for p in projects if p.local.redis_url), None)
        if given is not None:
            self.kv_url = given
        elif any(project.kv_namespaces for project in projects):
            self.kv = self._kv_server(projects)
            self.kv_url = self.kv.url
            # First, as it takes the longest; the isolates need it only when they use it.
            self._kv_started = self._tasks.create_task(self._start_kv(self.kv))
        for project in projects:
            boot = Boot(project=project, state=self.state, kv_url=self.kv_url, generation=1)
            pool = Pool(boot, self.forks, self._tasks.create_task, self._connect)
            pool.history = self.history
            self.pools.append(pool)
            crons = Crons(self.pools[-1], self.clock, self._tasks.create_task)
            self._work(crons.run())
        self._work(Watch(self.generations).run())
        self._work(Keeping(self.pools, self.clock, self.state).run())

    async def _start_kv(self, kv: KvServer) -> None:
        while not self.forks.is_closing:
            try:
                await kv.start()
            except ForkServerLost:
                continue  # with the next fork server, unless there is to be none
            except OperatorError:
                if not self.forks.is_closing:
                    raise
            return

    async def has_kv(self) -> None:
        """KV is there. Errors: OperatorError (exit 4) when it cannot start."""
        if self._kv_started is not None:
            await self._kv_started

    def follow(self, pool: Pool, project: Callable[[], Project]) -> None:
        """`pool` is reloaded when its files change; `project` reads the configuration again."""

        async def newest() -> Project:
            found = project()
            check(found)
            if found.kv_namespaces and pool.kv_url is None:
                pool.kv_url = found.local.redis_url or await self._late_kv(found)
            return found

        self._work(Reloader(pool, newest).run())

    async def _late_kv(self, project: Project) -> str:
        """The URL of a KV server that no worker needed when we started."""
        if self.kv is None:
            kv = self._kv_server([project])
            await kv.start()
            self.kv = kv
        return self.kv.url

    def _kv_server(self, projects: Sequence[Project]) -> KvServer:
        power = any(project.local.durability == "power" for project in projects)
        durability: valkey.Durability = "power" if power else "process"
        return KvServer(self.state / "kv", durability, self.forks, self._tasks.create_task)

    def move_clock(self, offset_s: float) -> None:
        """All isolates, those to come too, and the crons see the time moved by `offset_s`."""
        for pool in self.pools:
            pool.move_clock(offset_s)
        self.clock.move(offset_s)
        self.history.clock_moved(offset_s)

    def accompany(self, work: Coroutine[Any, Any, None]) -> None:
        """`work` runs beside the workers; it is cancelled when they end."""
        self._work(work)

    def _work(self, work: Coroutine[Any, Any, None]) -> None:
        self._working.append(self._tasks.create_task(work))

    async def end(self) -> None:
        """No process is left that we started."""
        for task in self._working:
            task.cancel()
        try:
            async with asyncio.TaskGroup() as group:
                for generation in self.generations():
                    group.create_task(generation.drain(_END_S))
            if self.kv is not None:
                await self.kv.end()
        finally:
            await self.forks.close()

    def kill(self, pid: int | None = None) -> int | None:
        """SIGKILL is on its way to the isolate `pid`, or to the busiest one that serves.

        Returns its pid, or None when there is no such isolate.
        """
        for pool in self.pools:
            killed = pool.kill(pid, KILLED)
            if killed is not None:
                return killed
        return None

    def generations(self) -> list[Generation]:
        """All that have isolates, of all workers."""
        return [generation for pool in self.pools for generation in pool.generations]

    def _connect(self, isolate: Isolate) -> None:
        isolate.history = self.history
        self._services.connect(isolate)

    def _watch(self, is_wanted: bool) -> None:
        for pool in self.pools:
            pool.watch(is_wanted)

    def _trail_of(self, pid: int) -> tuple[Step, ...]:
        projects = [pool.project for pool in self.pools]
        secrets = [value for project in projects for value in project.secrets.values()]
        drives = [drive for project in projects for drive in project.attached.hyperdrive]
        return taken(self.state, pid, Mask((*secrets, *(drive.password for drive in drives))))

    def _recorded(self, record: Record, at_s: float) -> None:
        self.history.line(record, at_s)
        self._on_record(record)

    def _exited(self, pid: int, status: int) -> None:
        logger.debug("process ended", extra={"pid": pid, "status": status})
        self.history.exited(pid, status)
        if self.kv is not None:
            self.kv.exited(pid)

    def _fork_server_lost(self) -> None:
        self._losses.append(time.monotonic())
        logger.warning("fork server died, starting another", extra={"pid": self.forks.pid})
        self._tasks.create_task(self._another_fork_server())

    async def _another_fork_server(self) -> None:
        await self.forks.lost_one_is_reaped()
        if self.forks.is_closing:
            return
        losses = self._losses
        if len(losses) == losses.maxlen and losses[-1] - losses[0] < _LOSSES_WITHIN_S:
            raise OperatorError(
                "isolate/no-fork-server",
                f"the process that starts isolates has ended {len(losses)} times in a row.",
                "What it wrote before stands above; `localedge doctor` checks what it needs.",
            )
        self.forks.attach(Launched())
        self.forks.share_lock(self._lock)


def check(project: Project) -> None:
    """The project has what a worker needs. Errors: OperatorError (exit 3) that names the file."""
    if project.main is None:
        raise OperatorError(
            "config/no-main",
            f'{project.file.name} names no worker: it has no key "main".',
            'Add main = "worker/entry.py", the file with class Default(WorkerEntrypoint).',
            exit=Exit.CONFIG,
        )
    if not project.main.is_file():
        raise OperatorError(
            "config/main-missing",
            f'"main" in {project.file.name} is {project.main}, and there is no such file.',
            "Create it, or correct the path, which is relative to the config file.",
            exit=Exit.CONFIG,
        )


@asynccontextmanager
async def supervised(
    projects: Sequence[Project],
    state: Path,
    *,
    on_record: Callable[[Record], None],
    launched: Launched | None = None,
) -> AsyncIterator[Supervisor]:
    """The workers of `projects` are starting on the state in `state`; at the end nothing is left.

    Shape: `launched` is a fork server that was started already.
    Errors: OperatorError when the state is in use, Valkey cannot start, or `main` is missing.
    """
    for project in projects:
        check(project)
    async with state_folder.locked(state) as lock, asyncio.TaskGroup() as tasks:
        supervisor = Supervisor(state, lock, launched or Launched(), tasks, on_record)
        try:
            supervisor.start(projects)
            yield supervisor
        finally:
            await supervisor.end()
            state_folder.remove_trails(state)
