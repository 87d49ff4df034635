"""`localedge agent`: the tasks of agents, and durable agent state for a project of one's own."""

from __future__ import annotations

import json
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from localedge.cli import agent_list, agent_resolve
from localedge.cli.d1_target import Flags, folder_of, require_project, target
from localedge.errors import Exit, OperatorError
from localedge.port.vendor import PACKAGE, Vendored, vendor
from localedge.project.models import Project

app = typer.Typer(no_args_is_help=True, help="Look at agents' tasks, and bring in edgestate.")
app.command("list")(agent_list.list_)
app.command()(agent_list.show)
app.command()(agent_resolve.resolve)
app.command()(agent_resolve.resume)


@app.command("vendor")
def vendor_command(
    database: Annotated[
        str | None, typer.Argument(help="The database that gets the tables; the only one if left.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", "-c", help="The config file.")] = None,
    env: Annotated[str | None, typer.Option("--env", "-e", help="The environment to use.")] = None,
    force: Annotated[
        bool, typer.Option(help="Replace files of edgestate that you changed.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Copy edgestate beside the worker and its migrations behind the project's own.

    Run again, it changes nothing; after an update of localedge, it brings what is new.

    Examples: localedge agent vendor · localedge agent vendor DB
    """
    flags = Flags(cwd=Path.cwd(), configs=[config] if config else [], environment=env)
    found = require_project(flags)
    if found.main is None:
        raise OperatorError(
            "agent/no-main",
            f"{found.file.name} names no `main`, so there is no folder to copy to.",
            'Add main = "src/entry.py", the file with class Default(WorkerEntrypoint).',
            exit=Exit.CONFIG,
        )
    name = target(flags, found, database or _only_database(found)).entry.binding
    done = vendor(
        library_folder(),
        found.bundle,
        folder_of(found, name),
        version=version("localedge"),
        force=force,
    )
    typer.echo(_as_json(done) if as_json else _sentence(done, found, name))


def library_folder() -> Path:
    """Where this installation has edgestate."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise OperatorError(
            "agent/no-library", "This installation has no edgestate.", "Install localedge again."
        )
    return Path(spec.origin).parent


def _only_database(found: Project) -> str:
    names = [entry.binding for entry in found.d1_databases]
    if len(names) == 1:
        return names[0]
    if not names:
        raise OperatorError(
            "agent/no-database",
            f"{found.file.name} has no D1 database to keep the state in.",
            "Add one under `d1_databases`.",
            exit=Exit.CONFIG,
        )
    raise OperatorError(
        "agent/which-database",
        f"{found.file.name} has {len(names)} D1 databases: {', '.join(names)}.",
        f"Name one: localedge agent vendor {names[0]}",
        exit=Exit.USAGE,
    )


def _as_json(done: Vendored) -> str:
    return json.dumps(
        {
            "package": str(done.package),
            "written": done.written,
            "removed": done.removed,
            "migrations": done.migrations,
            "kept": done.kept,
        }
    )


def _sentence(done: Vendored, found: Project, database: str) -> str:
    package = done.package
    if package.is_relative_to(found.root):
        package = package.relative_to(found.root)
    if not (done.written or done.removed or done.migrations):
        return (
            f"Nothing to do: {package} and its {len(done.kept)} migrations are as they should be."
        )
    said = f"Wrote {len(done.written)} files to {package}"
    if done.removed:
        said += f", removed {len(done.removed)}"
    if not done.migrations:
        return f"{said}."
    names = ", ".join(done.migrations)
    return (
        f"{said}, and added {len(done.migrations)} migrations ({names}).\n"
        f"Apply them with: localedge d1 migrations apply {database}"
    )
