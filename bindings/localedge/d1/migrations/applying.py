"""Migrations against a database: what is pending, and applying it file by file.

Source: reference/kv-d1-contract.md section 3 and recorded answers of wrangler 4.164, read
2026-12-01.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypedDict, cast

from localedge.d1.database import D1Database
from localedge.d1.engine import EngineError
from localedge.d1.files import database_file
from localedge.d1.migrations.folder import DatabaseEntry, MigrationFolder, migration_folder
from localedge.d1.migrations.splitting import split
from localedge.d1.sqlite import Durability, open_engine
from localedge.errors import JsException, OperatorError

DEFAULT_TABLE: Final = "d1_migrations"
_EXCERPT: Final = 60

# White space and all as wrangler writes it: the text stays readable in sqlite_master.
_CREATE_LEDGER: Final = (
    "CREATE TABLE IF NOT EXISTS {table}(\n"
    "\t\tid         INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "\t\tname       TEXT UNIQUE,\n"
    "\t\tapplied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL\n)"
)
_READ_LEDGER: Final = "SELECT * FROM {table} ORDER BY id"
# In wrangler's letters: they show in the engine's text when they are glued to an open quote.
_RECORD: Final = "\nINSERT INTO {table} (name)\nvalues ({name});"


class Settings(Protocol):
    """What is read of `[localedge]`."""

    @property
    def durability(self) -> Durability: ...


class ProjectFolder(Protocol):
    """What is read of a project."""

    @property
    def root(self) -> Path: ...
    @property
    def file(self) -> Path: ...
    @property
    def state(self) -> Path: ...
    @property
    def local(self) -> Settings: ...


@dataclass(frozen=True, slots=True)
class Applied:
    """One migration that is now part of the database.

    Shape: `commands` counts its statements and the one that recorded it.
    """

    name: str
    commands: int


class BatchError(OperatorError):
    """Statements that were to run as one transaction left nothing behind.

    Shape: `message` is the engine's text, without D1's prefix; `place` a sentence that says which
    statement failed, "" when nobody knows; `is_last` when it was the last one.
    """

    def __init__(self, text: str, place: str, *, is_last: bool) -> None:
        super().__init__("d1/failed", text, f"{place} Nothing was changed.".lstrip())
        self.place = place
        self.is_last = is_last


class MigrationError(OperatorError):
    """A migration was undone; `name` says which. Those before it stay applied."""

    def __init__(self, name: str, text: str, hint: str) -> None:
        super().__init__("d1/migration-failed", text, hint)
        self.name = name


@dataclass(frozen=True, slots=True)
class Migrations:
    """The migrations of `folder` against `database`, recorded in its table `table`."""

    folder: MigrationFolder
    database: D1Database
    table: str

    async def pending(self) -> list[str]:
        """The migrations that are not recorded, in order; the ledger exists afterwards.

        Errors: OperatorError when the database refuses.
        """
        table = quoted(self.table)
        await run_batch(self.database, [_CREATE_LEDGER.format(table=table)])
        (ledger,) = await run_batch(self.database, [_READ_LEDGER.format(table=table)])
        recorded = {row.get("name") for row in ledger["results"]}
        return [name for name in self.folder.names() if name not in recorded]

    async def apply(self, names: Sequence[str]) -> AsyncIterator[Applied]:
        """Apply each of `names` as one transaction and tell of each one that is done.

        Errors: MigrationError; that file left nothing behind and the ones after it were not tried.
        """
        for at, name in enumerate(names):
            try:
                yield Applied(name, await self._apply(name))
            except OperatorError as exc:
                place = f"{exc.place} " if isinstance(exc, BatchError) and exc.place else ""
                left = f"It was undone as a whole; pending: {', '.join(names[at:])}."
                raise MigrationError(name, exc.message, f"{name}: {place}{left}") from exc

    async def _apply(self, name: str) -> int:
        try:
            text = (self.folder.path / name).read_bytes().decode("utf-8", "replace")
        except OSError as exc:
            hint = "Make the file readable. It was not applied, nor what comes after it."
            raise OperatorError("d1/cannot-read", f"{name}: {exc.strerror}.", hint) from exc
        literal = "'" + name.replace("'", "''") + "'"
        record = _RECORD.format(table=quoted(self.table), name=literal)
        statements = split(text + record)
        try:
            return len(await run_batch(self.database, statements))
        except BatchError as exc:
            # The record is glued to the text: without a `;` it becomes part of its last statement.
            if exc.is_last and f"{statements[-1]};" != record.strip():
                exc.place += " The last statement lacks its `;`."
            raise


class StatementResult(TypedDict):
    """What one statement of a batch did, in the platform's form."""

    success: bool
    meta: dict[str, Any]
    results: list[dict[str, Any]]


async def run_batch(database: D1Database, statements: Sequence[str]) -> list[StatementResult]:
    """The results of `statements`, run as one transaction.

    Errors: BatchError; nothing remains.
    """
    try:
        results = await database.batch([database.prepare(sql) for sql in statements])
    except JsException as exc:
        done = exc.__cause__.done if isinstance(exc.__cause__, EngineError) else None
        raise BatchError(
            (exc.cause or exc).message,
            "" if done is None else _place(done, statements),
            is_last=done == len(statements) - 1,
        ) from exc
    return cast("list[StatementResult]", results)


def _place(done: int, statements: Sequence[str]) -> str:
    """Which of `statements` failed, after `done` of them, as a sentence."""
    count = len(statements)
    if done >= count:
        return "All statements ran, but what they left could not be committed."
    text = " ".join(statements[done].split())
    excerpt = text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
    return f"Statement {done + 1} of {count} failed: `{excerpt}`."


def quoted(identifier: str) -> str:
    """`identifier` as SQL takes any text for a name."""
    return '"' + identifier.replace('"', '""') + '"'


async def apply_migrations(
    project: ProjectFolder, database: DatabaseEntry, *, state: Path | None = None
) -> list[Applied]:
    """Apply what is pending for `database` of `project` and return what was applied, in order.

    Shape: `state` is the folder of local state when it is not the project's own. Safe while the
    project runs: each file is one transaction.
    Errors: OperatorError without a migrations folder; MigrationError.
    """
    folder = migration_folder(project.root, project.file.name, database)
    folder.require()
    file = database_file(state or project.state, database.storage_id)
    async with open_engine(file, durability=project.local.durability) as engine:
        table = database.migrations_table or DEFAULT_TABLE
        migrations = Migrations(folder, D1Database(engine), table)
        return [done async for done in migrations.apply(await migrations.pending())]
