"""The databases of a server: their names, their files, and a connection to each while needed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from localedge.binding import BindingWrapper
from localedge.d1.database import D1Database
from localedge.d1.engine import Engine
from localedge.d1.files import database_file
from localedge.d1.sqlite import open_engine
from localedge.errors import OperatorError
from localedge.inspector.d1_models import DatabaseShown
from localedge.inspector.kv_data import name_of
from localedge.inspector.kv_models import BindingShown
from localedge.probe import Probe
from localedge.project.models import D1Database as Entry
from localedge.project.models import Project


@dataclass(frozen=True, slots=True)
class Place:
    """One database: its id, who has it under which name, and its file."""

    id: str
    file: Path
    owners: tuple[tuple[Project, Entry], ...]

    @property
    def entry(self) -> Entry:
        """The first configuration's entry."""
        return self.owners[0][1]

    @property
    def project(self) -> Project:
        """The first worker that has it."""
        return self.owners[0][0]

    @property
    def name(self) -> str:
        """What it is called: by its bindings, and by its name where that is another word."""
        bindings = ", ".join(dict.fromkeys(entry.binding for _, entry in self.owners))
        return name_of(self.entry.database_name or self.id, bindings)

    def shown(self, size_bytes: int | None = None) -> DatabaseShown:
        """It in a list."""
        return DatabaseShown(
            id=self.id,
            name=self.entry.database_name or self.entry.binding,
            bindings=tuple(
                BindingShown(worker=project.name, binding=entry.binding)
                for project, entry in self.owners
            ),
            file=self.file.name,
            size_bytes=size_bytes,
        )


def places(projects: Iterable[Project], state: Path) -> dict[str, Place]:
    """The databases of all workers by id, each once, in the order of the configurations."""
    owners: dict[str, list[tuple[Project, Entry]]] = {}
    for project in projects:
        for entry in project.d1_databases:
            owners.setdefault(entry.storage_id, []).append((project, entry))
    return {id_: Place(id_, database_file(state, id_), tuple(some)) for id_, some in owners.items()}


@dataclass(slots=True)
class _Open:
    engine: Engine
    stack: AsyncExitStack
    inode: int


class Databases:
    """Connections to databases, opened when first asked for; `aclose` ends them all."""

    def __init__(self) -> None:
        self._open: dict[Path, _Open] = {}
        self._opening = asyncio.Lock()

    async def engine(self, place: Place) -> Engine:
        """The engine on the database, which is made when there is none yet.

        Errors: OperatorError when it cannot be opened.
        """
        async with self._opening:
            found = self._open.get(place.file)
            if found is not None and found.inode == _inode(place.file):
                return found.engine
            if found is not None:
                # Somebody has put another file in its place.
                del self._open[place.file]
                await found.stack.aclose()
            stack = AsyncExitStack()
            durability = place.project.local.durability
            engine = await stack.enter_async_context(open_engine(place.file, durability=durability))
            self._open[place.file] = _Open(engine, stack, _inode(place.file))
            return engine

    async def used(self, place: Place) -> Engine:
        """As `engine`, for looking only. Errors: OperatorError also when it was never used."""
        if not place.file.exists():
            raise never_used(place)
        return await self.engine(place)

    async def binding(self, place: Place) -> BindingWrapper:
        """What worker code has for the database, for looking only. Errors: as `used`."""
        return BindingWrapper(D1Database(await self.used(place)), place.entry.binding, Probe())

    async def aclose(self) -> None:
        """No connection is left."""
        while self._open:
            _, found = self._open.popitem()
            await found.stack.aclose()


def never_used(place: Place) -> OperatorError:
    """The error for a database that has no file yet."""
    return OperatorError(
        "d1/no-database",
        f"the database {place.entry.binding} has never been used.",
        f"Apply its migrations (localedge d1 migrations apply {place.entry.binding}), or run a "
        "worker that uses it.",
    )


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return 0
