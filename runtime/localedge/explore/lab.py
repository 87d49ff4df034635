"""Everything that the runs of one scenario share: worker, stores, loop, seed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.memory import MemoryEngine
from localedge.d1.migrations import migration_folder, run_batch, split
from localedge.errors import Exit, OperatorError
from localedge.explore.acting import observing
from localedge.explore.choices import Choices
from localedge.explore.clockwork import Clockwork
from localedge.explore.deployment import Deployment, loaded, project_of
from localedge.explore.incarnation import INCARNATION, source_of_current, task_factory
from localedge.explore.mistakes import place_of
from localedge.explore.outside import Outside
from localedge.explore.scenario import Scenario
from localedge.explore.seeded import installed
from localedge.explore.stores import Stores, View
from localedge.explore.trace import Fork
from localedge.kv.memory import MemoryStore
from localedge.probe import Probe
from localedge.project.models import Project
from localedge.sdk.host import Host, set_host

T = TypeVar("T")
_NO_TABLE: Final = "CREATE TABLE IF NOT EXISTS explored (id)"


@dataclass(slots=True)
class Lab:
    """Where a scenario is played; `begin` is the state before its client's first request."""

    scenario: Scenario
    deployment: Deployment
    stores: Stores
    loop: Clockwork
    probe: Probe
    env: EnvWrapper
    view: View
    seed: int
    begin: Fork | None = None

    def run(self, awaitable: Awaitable[T]) -> T:
        """The result of `awaitable` on the lab's loop."""

        async def awaited() -> T:
            return await awaitable

        return self.loop.run_until_complete(awaited())

    @property
    def start(self) -> Fork:
        """The run before anything has happened."""
        assert self.begin is not None
        return self.begin

    def forget(self) -> None:
        """Nothing of a run is left."""
        self.loop.on_idle = lambda: False
        self.stores.lag(None)


@contextmanager
def opened(scenario: Scenario, folder: Path, *, seed: int = 0) -> Iterator[Lab]:
    """A lab for `scenario`, which lies in `folder`, prepared as its `setup` says.

    Errors: OperatorError for a wrong project; RuntimeError inside a running event loop.
    """
    _refuse_a_running_loop()
    # Read by the machine's clock: a compatibility date may not be later than today.
    project = project_of(scenario, folder)
    with ExitStack() as stack:
        loop = Clockwork()
        stack.callback(loop.close)
        loop.set_task_factory(task_factory)
        stack.enter_context(loop.shown())
        stack.enter_context(installed(source_of_current))
        probe = Probe()
        stores = _stores(scenario, project, loop)
        stack.callback(stores.close)
        env = EnvWrapper(stores.bindings(), probe)
        host = Host(probe, env, transport=stores.outside)
        set_host(host)
        stack.callback(set_host, None)
        own = scenario.setting.main if scenario.setting is not None else None
        main = project.main if project is not None else own
        deployment = stack.enter_context(loaded(main, host))
        plain = EnvWrapper(stores.bindings(), Probe())
        view = View(stores, plain, stores.outside)
        lab = Lab(scenario, deployment, stores, loop, probe, env, view, seed)
        _observe_tools(stack, probe)
        asyncio.set_event_loop(loop)
        stack.callback(asyncio.set_event_loop, None)
        lab.run(_prepare(lab, project))
        memories = tuple(invariant.begin() for invariant in scenario.must)
        lab.begin = Fork(stores.state(), (), memories, (), Choices(), 0, 0)
        yield lab


def _refuse_a_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise OperatorError(
        "explore/running-loop",
        "an exploration has an event loop of its own and cannot run inside another one.",
        "Call it from a test that is not asynchronous.",
    )


def _stores(scenario: Scenario, project: Project | None, loop: Clockwork) -> Stores:
    def moment() -> tuple[int, float]:
        worker = INCARNATION.get()
        return (0 if worker is None else worker.number), loop.wall_s

    databases: dict[str, MemoryEngine] = {}
    namespaces: dict[str, MemoryStore] = {}
    values: dict[str, Any] = dict(scenario.vars)
    if project is not None:
        values = {**project.vars, **project.secrets, **scenario.vars}
        by_id: dict[str, Any] = {}
        for entry in project.d1_databases:
            databases[entry.binding] = by_id.setdefault(f"d1 {entry.storage_id}", MemoryEngine())
        for space in project.kv_namespaces:
            made = MemoryStore(write_rate=project.local.write_rate)
            namespaces[space.binding] = by_id.setdefault(f"kv {space.storage_id}", made)
    elif scenario.setting is not None:
        databases = {name: MemoryEngine() for name in scenario.setting.d1}
        namespaces = {name: MemoryStore() for name in scenario.setting.kv}
    outside = Outside(scenario.service, moment)
    return Stores(databases, namespaces, outside, lambda: loop.wall_s, loop.set_wall, values=values)


async def _prepare(lab: Lab, project: Project | None) -> None:
    for name, engine in lab.stores.databases.items():
        database = D1Database(engine)
        await run_batch(database, [_NO_TABLE])
        for file in _migrations(lab.scenario, project, name):
            await run_batch(database, split(file.read_text("utf-8")))
    if lab.scenario.setup is None:
        return
    try:
        await lab.scenario.setup(lab.view.env, lab.stores.outside)
    except Exception as error:
        raise OperatorError(
            "explore/bad-setup",
            f"`setup` of {lab.scenario.title} failed: {place_of(error)}{type(error).__name__}: "
            f"{error}",
            "This is a mistake in the scenario, not in the worker.",
            exit=Exit.USAGE,
        ) from error


def _migrations(scenario: Scenario, project: Project | None, binding: str) -> list[Path]:
    if project is None:
        assert scenario.setting is not None
        found = [
            sorted(p.glob("*.sql")) if p.is_dir() else [p] for p in scenario.setting.migrations
        ]
        return [file for files in found for file in files]
    entry = next(d for d in project.d1_databases if d.binding == binding)
    folder = migration_folder(project.root, project.file.name, entry)
    if not folder.path.is_dir():
        return []
    return [folder.path / name for name in folder.names()]


def _observe_tools(stack: ExitStack, probe: Probe) -> None:
    library = sys.modules.get("edgestate")
    if library is None:
        return
    before = getattr(library, "observe", None)
    library.observe = observing(probe)  # type: ignore[attr-defined]
    stack.callback(setattr, library, "observe", before)
