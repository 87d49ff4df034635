"""`localedge d1`: migrations and SQL against a project's local databases, in wrangler's words.

Source: recorded answers of wrangler 4.164 (reference/kv-d1-contract.md section 3), read 2026-12-01.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from localedge.cli import d1_export, d1_info, d1_time_travel
from localedge.cli import d1_output as output
from localedge.cli.d1_flags import (
    Command,
    Config,
    Cwd,
    Database,
    Env,
    EnvFile,
    File,
    Json,
    Local,
    PersistTo,
    Preview,
    Remote,
    Yes,
    folder,
)
from localedge.cli.d1_input import argument_text, check_input, read_sql, single
from localedge.cli.d1_target import (
    Flags,
    Target,
    folder_of,
    is_interactive,
    load_project,
    require_project,
    target,
)
from localedge.cli.progress import progress
from localedge.cli.server_clock import its_clock
from localedge.d1 import rules
from localedge.d1.database import D1Database
from localedge.d1.migrations import (
    Applied,
    MigrationFolder,
    Migrations,
    StatementResult,
    run_batch,
    split,
)
from localedge.d1.sqlite import open_engine
from localedge.d1.statements import parse
from localedge.supervisor.state import read_run

_IMPORT_TIMEOUT_S = 3600.0
"""The platform imports a file outside of any query's 30 seconds."""

app = typer.Typer(no_args_is_help=True, help="Run SQL and migrations on local D1 databases.")
migrations_app = typer.Typer(no_args_is_help=True, help="Create, list and apply migrations.")
app.add_typer(migrations_app, name="migrations")
app.add_typer(d1_time_travel.app, name="time-travel")
app.command()(d1_export.export)
app.command()(d1_info.info)


@migrations_app.command()
def create(
    database: Database,
    message: Annotated[str, typer.Argument(help="What the migration does.")],
    config: Config = None,
    env: Env = None,
    env_file: EnvFile = None,
    cwd: Cwd = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Make the next numbered file in the database's migrations folder.

    Examples: localedge d1 migrations create DB add_orders
    """
    flags = Flags(folder(cwd), config or (), env, env_file or ())
    with output.failing_as_json(json):
        project = require_project(flags)
        target(flags, project, database)
        migrations = folder_of(project, database)
        name = migrations.new_name(message)
        if not migrations.path.exists() and not _may_create(migrations, yes or json):
            migrations.require()
        path = migrations.write(name)
    if json:
        output.print_json({"name": name, "path": str(path)})
        return
    typer.echo(f"Successfully created Migration '{name}'!")
    output.tell("The migration is available for editing here")
    typer.echo(str(path))


def _may_create(migrations: MigrationFolder, is_yes: bool) -> bool:
    output.tell(migrations.missing_text)
    return (
        is_yes
        or not is_interactive()
        or typer.confirm(f"Ok to create {migrations.path}?", default=True, err=True)
    )


@migrations_app.command("list")
def list_(
    database: Database,
    local: Local = False,
    remote: Remote = False,
    preview: Preview = False,
    persist_to: PersistTo = "",
    config: Config = None,
    env: Env = None,
    env_file: EnvFile = None,
    cwd: Cwd = None,
    json: Json = False,
) -> None:
    """Show the migrations that are not applied yet, in the order in which they would be.

    Examples: localedge d1 migrations list DB · localedge d1 migrations list DB --json
    """
    flags = Flags(
        folder(cwd), config or (), env, env_file or (), local, remote, preview, persist_to
    )
    with output.failing_as_json(json):
        found, migrations = _migrations_of(flags, database)
        names = asyncio.run(_pending(found, migrations))
    if json:
        output.print_json({"pending": names})
        return
    output.print_pending(names, title="Name")


@migrations_app.command()
def apply(
    database: Database,
    local: Local = False,
    remote: Remote = False,
    preview: Preview = False,
    persist_to: PersistTo = "",
    config: Config = None,
    env: Env = None,
    env_file: EnvFile = None,
    cwd: Cwd = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Apply the migrations that are not applied yet, each file as one transaction.

    Examples: localedge d1 migrations apply DB · localedge d1 migrations apply DB --yes
    """
    flags = Flags(
        folder(cwd), config or (), env, env_file or (), local, remote, preview, persist_to
    )
    applied: list[Applied] = []
    with output.failing_as_json(json, applied):
        found, migrations = _migrations_of(flags, database)
        names = asyncio.run(_pending(found, migrations))
        if not json:
            output.print_pending(names)
        if names and (yes or json or _may_apply(len(names))):
            asyncio.run(_apply(found, migrations, names, applied, is_quiet=json))
    if json:
        output.print_json(output.shown_as_json(applied))


def _may_apply(count: int) -> bool:
    return not is_interactive() or typer.confirm(
        f"About to apply {count} migration(s)\n"
        "Your database may not be available to serve requests during the migration, continue?",
        default=True,
        err=True,
    )


@app.command()
def execute(
    database: Database,
    command: Command = None,
    file: File = None,
    local: Local = False,
    remote: Remote = False,
    preview: Preview = False,
    persist_to: PersistTo = "",
    config: Config = None,
    env: Env = None,
    env_file: EnvFile = None,
    cwd: Cwd = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Run the statements of --command or --file as one transaction.

    Examples: localedge d1 execute DB --command "SELECT * FROM orders"
    · localedge d1 execute DB --file backup.sql
    """
    flags = Flags(
        folder(cwd), config or (), env, env_file or (), local, remote, preview, persist_to
    )
    text, path = single(command), single(file)
    with output.failing_as_json(json):
        project = load_project(flags)
        check_input(text, path)
        flags.check()
        sql = read_sql(flags.cwd, path) if path else argument_text(text)
        found = target(flags, project, database)
        output.tell(f"Executing on local database {database} ({found.entry.storage_id}):")
        timeout_s = _IMPORT_TIMEOUT_S if path else rules.QUERY_TIMEOUT_S
        with progress("Running statements"):
            done = asyncio.run(_execute(found, split(sql), timeout_s))
        results = output.plain_results(done)
    output.tell(output.executed(len(results)))
    if sys.stdout.isatty() and not json:
        output.print_rows(results)
    else:
        output.print_json(results)


def _migrations_of(flags: Flags, database: str) -> tuple[Target, MigrationFolder]:
    """The database and its migrations, everything checked in wrangler's order."""
    project = require_project(flags)
    if flags.is_remote:
        target(flags, project, database)
    migrations = folder_of(project, database)
    if not migrations.path.exists():
        output.tell(migrations.missing_text)
    migrations.require()
    flags.check()
    return target(flags, project, database), migrations


@asynccontextmanager
async def _opened(
    found: Target, *, timeout_s: float = rules.QUERY_TIMEOUT_S
) -> AsyncIterator[D1Database]:
    durability = found.project.local.durability
    with its_clock(read_run(found.state)):
        async with open_engine(
            found.file, durability=durability, query_timeout_s=timeout_s
        ) as engine:
            yield D1Database(engine)


async def _pending(found: Target, migrations: MigrationFolder) -> list[str]:
    async with _opened(found) as database:
        names = await Migrations(migrations, database, found.table).pending()
    if not migrations.names() and (hint := migrations.hint()):
        output.tell(hint)
    return names


async def _apply(
    found: Target,
    migrations: MigrationFolder,
    names: Sequence[str],
    applied: list[Applied],
    *,
    is_quiet: bool,
) -> None:
    """Apply `names`, telling of each one, and leave what was applied in `applied`."""
    started = time.monotonic()
    try:
        async with _opened(found) as database:
            with progress("Applying migrations", len(names)) as advance:
                await d1_time_travel.keep_before(found)
                async for done in Migrations(migrations, database, found.table).apply(names):
                    applied.append(done)
                    advance(len(applied))
                    output.tell(output.executed(done.commands))
    finally:
        took_ms = (time.monotonic() - started) * 1000
        if not is_quiet:
            output.print_outcome(found.name, names, applied, took_ms)


async def _execute(
    found: Target, statements: Sequence[str], timeout_s: float
) -> list[StatementResult]:
    async with _opened(found, timeout_s=timeout_s) as database:
        if not all(parse(statement).is_read_only for statement in statements):
            await d1_time_travel.keep_before(found)
        return await run_batch(database, statements)
