"""All processes of one `localedge dev`: opened together, ended together."""

from __future__ import annotations

import asyncio
import logging
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from localedge.errors import Exit, OperatorError
from localedge.isolate.boot import Boot
from localedge.project.models import Project
from localedge.supervisor import state as state_folder
from localedge.supervisor import valkey
from localedge.supervisor.forks import Forks, Record
from localedge.supervisor.isolates import KILLED
from localedge.supervisor.launch import Launched
from localedge.supervisor.pool import Pool

logger = logging.getLogger(__name__)

_VALKEY_START_S: Final = 15.0
_VALKEY_END_S: Final = 5.0
_END_S: Final = 2.0


class Supervisor:
    """The running workers.

    Shape: `pools` has one per worker, in the order of the projects; the first gets the port.
    """

    def __init__(self, state: Path, forks: Forks) -> None:
        self.state = state
        self.forks = forks
        self.pools: list[Pool] = []
        self.kv_url: str | None = None
        self.temporary: str | None = None
        self.valkey_pid: int | None = None

    async def end_isolates(self) -> None:
        """No isolate is left."""
        async with asyncio.TaskGroup() as group:
            for pool in self.pools:
                group.create_task(pool.current.drain(_END_S))

    def kill(self, pid: int | None = None) -> int | None:
        """SIGKILL is on its way to the isolate `pid`, or to the busiest one that serves.

        Returns its pid, or None when there is no such isolate.
        """
        for pool in self.pools:
            found = pool.isolates() if pid is not None else pool.current.serving
            wanted = [i for i in found if pid is None or i.pid == pid]
            if wanted:
                chosen = max(wanted, key=lambda isolate: len(isolate.exchanges))
                pool.current.kill(chosen, KILLED)
                return chosen.pid
        return None


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
    async with state_folder.locked(state) as lock:
        forks = Forks(launched or Launched(), on_exit=_log_exit, on_record=on_record)
        forks.share_lock(lock)
        supervisor = Supervisor(state, forks)
        try:
            supervisor.kv_url = await _kv(supervisor, projects)
            async with asyncio.TaskGroup() as tasks:
                for project in projects:
                    boot = Boot(
                        project=project, state=state, kv_url=supervisor.kv_url, generation=1
                    )
                    supervisor.pools.append(Pool(boot, forks, tasks.create_task))
                yield supervisor
                await supervisor.end_isolates()
            await _end_valkey(supervisor)
        finally:
            await forks.close()


async def _kv(supervisor: Supervisor, projects: Sequence[Project]) -> str | None:
    given = next((p.local.redis_url for p in projects if p.local.redis_url), None)
    if given is not None:
        return given
    if not any(project.kv_namespaces for project in projects):
        return None
    folder = supervisor.temporary = tempfile.mkdtemp(prefix="localedge-")
    supervisor.forks.remove_at_end(folder)
    data = supervisor.state / "kv"
    data.mkdir(exist_ok=True)
    socket = Path(folder) / "valkey.sock"
    pid = supervisor.valkey_pid = await supervisor.forks.run(valkey.command(data, socket))
    ready = asyncio.ensure_future(valkey.wait_ready(socket, timeout_s=_VALKEY_START_S))
    ended = asyncio.ensure_future(supervisor.forks.ended(pid, within_s=_VALKEY_START_S))
    try:
        await asyncio.wait({ready, ended}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            raise OperatorError(
                "kv/cannot-start",
                f"Valkey ended with status {ended.result()} instead of starting on {data}.",
                f"Its log in {supervisor.state} says why; or set redis_url to a server that runs.",
                exit=Exit.UNREACHABLE,
            )
        ready.result()
    finally:
        ready.cancel()
        ended.cancel()
    return f"unix://{socket}"


async def _end_valkey(supervisor: Supervisor) -> None:
    pid = supervisor.valkey_pid
    if pid is None:
        return
    supervisor.forks.kill(pid, signal.SIGTERM)
    if await supervisor.forks.ended(pid, within_s=_VALKEY_END_S) is None:
        supervisor.forks.kill(pid)


def _log_exit(pid: int, status: int) -> None:
    logger.debug("process ended", extra={"pid": pid, "status": status})
