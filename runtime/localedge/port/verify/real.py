"""The worker on the real parts: Pyodide with Cloudflare's SDK, KV and D1 of workerd."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from localedge.d1.migrations import DEFAULT_TABLE, migration_folder, split
from localedge.errors import OperatorError
from localedge.isolate.connection_facts import FACTS
from localedge.port.verify.answers import Answer, Outgoing, ask, plain_client
from localedge.port.verify.bundle import Bundle
from localedge.port.verify.driver import TOKEN, Booted, Driver, DriverError, driven
from localedge.port.verify.parts import Parts
from localedge.port.verify.stored import State, read_state
from localedge.project import compatibility
from localedge.project.models import D1Database, Project

NAME: Final = "the real parts"
_BOOT_S: Final = 60.0
_LEDGER: Final = (
    "CREATE TABLE IF NOT EXISTS {0}(\n\t\tid         INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "\t\tname       TEXT UNIQUE,\n"
    "\t\tapplied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL\n)"
)


class Real:
    """One Node process with all of them, and the next one after a crash.

    Shape: `versions` names the parts; `failure` is why the worker cannot be loaded, if it cannot.
    """

    name = NAME

    def __init__(
        self, project: Project, parts: Parts, bundle: Bundle, state: Path, patience_s: float
    ) -> None:
        self._project = project
        self._parts = parts
        self._bundle = bundle
        self._state = state
        self._patience_s = patience_s
        self._client = plain_client()
        self._running = AsyncExitStack()
        self._driver: Driver | None = None
        self._booted: Booted | None = None
        self.versions: dict[str, str] = {}
        self.failure: str | None = None

    async def start(self) -> None:
        """A process serves the worker over the stores; `failure` says why if it cannot."""
        self._driver = await self._running.enter_async_context(
            driven(self._parts, self._state / "parts.log")
        )
        kv, d1 = self._ids()
        self.versions |= await self._driver.open(self._state / "stores", kv=kv, d1=d1, date=_date())
        for database in self._project.d1_databases:
            await _migrate(self._driver, self._project, database)
        project = self._project
        try:
            self._booted = await self._driver.boot(
                [*self._bundle.sites, self._parts.sdk],
                bundle=self._bundle.folder,
                main=self._bundle.main,
                vars={**project.vars, **project.secrets},
                flags=_flags(project),
                cf=FACTS,
                within_s=_BOOT_S,
            )
        except DriverError as error:
            self.failure = error.message
        except TimeoutError:
            self.failure = f"the worker was not loaded within {_BOOT_S:.0f} s"
        else:
            self.versions |= {"pyodide": self._booted.pyodide, "python": self._booted.python}

    def _ids(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        project = self._project
        return (
            {one.binding: one.storage_id for one in project.kv_namespaces},
            {one.binding: one.storage_id for one in project.d1_databases},
        )

    async def send(self, outgoing: Outgoing) -> Answer:
        """The answer to one request. Errors: TimeoutError when there is none in time."""
        assert self._booted is not None
        async with asyncio.timeout(self._patience_s):
            token = {TOKEN: self._booted.token}
            return await ask(self._client, self._booted.url, outgoing, token)

    async def cron(self, expression: str) -> str:
        """How the `scheduled` handler ended. Errors: TimeoutError."""
        assert self._driver is not None
        try:
            order = self._driver.order("scheduled", cron=expression, within_s=self._patience_s)
            return str(await order)
        except DriverError:
            return "exception"

    async def kill(self) -> None:
        """The process dies at once, in whatever it is doing."""
        assert self._driver is not None
        await self._driver.kill()

    async def restart(self) -> None:
        """The process is killed, and another one serves over the same stores."""
        await self.kill()
        await self._running.aclose()
        await self.start()

    async def state(self) -> State:
        """All that is stored, once nothing is left to do."""
        assert self._driver is not None
        await self._driver.order("idle", within_s=self._patience_s)
        kv, d1 = self._ids()
        return await read_state(self._driver.call, kv, d1)

    def log(self) -> str:
        """What the worker and the parts have printed, in all of its lives."""
        return (self._state / "parts.log").read_text("utf-8", errors="replace").strip()

    async def close(self) -> None:
        """No process and no connection is left."""
        await self._client.aclose()
        await self._running.aclose()


@asynccontextmanager
async def real_side(
    project: Project, parts: Parts, bundle: Bundle, state: Path, *, patience_s: float
) -> AsyncIterator[Real]:
    """`project` runs on the real parts, over new stores in `state`, its migrations applied.

    Errors: OperatorError when the parts cannot start.
    """
    side = Real(project, parts, bundle, state, patience_s)
    try:
        await side.start()
        yield side
    finally:
        await side.close()


def _date() -> str:
    # The stores' own worker does nothing that a date would change.
    return compatibility.default_date()


def _flags(project: Project) -> dict[str, bool]:
    date = project.compatibility_date or compatibility.default_date()
    active = compatibility.python_flags(date, project.compatibility_flags)
    return {known.flag: known.flag in active for known in compatibility.PYTHON_FLAGS}


async def _migrate(driver: Driver, project: Project, database: D1Database) -> None:
    """What is pending for `database` is applied as wrangler does it: a file is one batch."""
    folder = migration_folder(project.root, project.file.name, database)
    if not folder.path.is_dir():
        return
    table = _quoted(database.migrations_table or DEFAULT_TABLE)
    binding = database.binding
    await driver.call(binding, ["prepare", [_LEDGER.format(table)]], ["run", []])
    done = await driver.call(binding, ["prepare", [f"SELECT name FROM {table}"]], ["raw", []])
    recorded = {row[0] for row in done}
    for name in folder.names():
        if name in recorded:
            continue
        literal = "'" + name.replace("'", "''") + "'"
        text = (folder.path / name).read_bytes().decode("utf-8", "replace")
        statements = split(f"{text}\nINSERT INTO {table} (name)\nvalues ({literal});")
        batch = [{"$stmt": [binding, sql]} for sql in statements]
        try:
            await driver.call(binding, ["batch", [batch]])
        except DriverError as error:
            raise OperatorError(
                "verify/migration-failed",
                f"{name} cannot be applied to D1 on the real parts: {error.message}",
                "localedge check names what D1 refuses; correct the file.",
            ) from error


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
