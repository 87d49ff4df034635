"""The project under test, with empty stores of one test's own."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from localedge.binding import EnvWrapper
from localedge.d1.migrations import apply_migrations, migration_folder
from localedge.isolate.boot import Boot
from localedge.isolate.environment import open_env
from localedge.probe import Probe
from localedge.project import load
from localedge.project.models import Project
from localedge.sdk import finder
from localedge.supervisor import valkey


@dataclass(frozen=True, slots=True)
class World:
    """A project whose stores are one test's: all that lies in the folder `state`."""

    project: Project
    state: Path


def find_project(root: Path, config: Path | None) -> Project:
    """The project that lies at `root`, or whose file is `config` (relative to it).

    Errors: OperatorError when there is none.
    """
    file = root / config if config is not None else None
    return load(start=root, config=file, process_env=os.environ)


async def empty_world(project: Project, state: Path) -> World:
    """`project` with empty stores in `state`, its migrations applied where it has any."""
    os.makedirs(state, exist_ok=True)
    for database in project.d1_databases:
        if migration_folder(project.root, project.file.name, database).path.is_dir():
            await apply_migrations(project, database, state=state)
    return World(project, state)


@asynccontextmanager
async def opened(world: World, kv_url: str | None) -> AsyncIterator[EnvWrapper]:
    """The bindings of `world` in this process; `kv_url` is the KV server of one that runs.

    Without one, a KV server of our own lives as long as the bindings.
    """
    project = world.project
    async with AsyncExitStack() as stack:
        if project.attached.classes():
            # Bindings that answer requests do so with the objects of `workers`.
            finder.install()
            stack.callback(finder.remove)
        if kv_url is None and project.kv_namespaces:
            kv_url = await stack.enter_async_context(valkey.running(world.state / "kv"))
        boot = Boot(project=project, state=world.state, kv_url=kv_url, generation=0)
        yield await open_env(stack, boot, Probe())
