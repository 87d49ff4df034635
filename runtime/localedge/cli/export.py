"""`localedge export`: the project as the edge's own tools deploy it."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from localedge.cli.agent import library_folder
from localedge.cli.check import counted
from localedge.errors import OperatorError
from localedge.port.export.exporting import Done, export
from localedge.port.export.gathering import Library
from localedge.project import load
from localedge.project.models import Project
from localedge.project.reading import read, refusal

app = typer.Typer(add_completion=False)


@app.command("export")
def export_command(
    directory: Annotated[
        Path, typer.Argument(help="The folder to write, made when it is absent.")
    ] = Path("edge"),
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="The config file of the project.")
    ] = None,
    env: Annotated[
        str | None, typer.Option("--env", "-e", help="The environment that the commands are for.")
    ] = None,
    force: Annotated[
        bool, typer.Option(help="Replace an earlier export; ids that it was given stay.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write what the edge needs of the project, and print the commands that deploy it.

    That is wrangler.jsonc without what exists only here, pyproject.toml as pywrangler reads it,
    the worker's files with edgestate, static files and migrations; no secret.

    Examples: localedge export · localedge export deploy --force · localedge export -e staging
    """
    project = load(start=Path.cwd(), config=config, environment=env, process_env=os.environ)
    for warning in project.warnings:
        typer.echo(warning, err=True)
    _require_name(project)
    library = Library(library_folder(), version("localedge"))
    value = read(project.file, shown=project.file.name).value
    done = export(project, value, directory, library=library, force=force)
    for note in done.notes:
        typer.echo(note, err=True)
    if done.findings:
        typer.echo(f"`localedge check` finds {counted(done.findings)} in the export:", err=True)
        for finding in done.findings:
            typer.echo(f"  {finding.rule.level} {finding.rule.id}: {finding.message}", err=True)
    typer.echo(_as_json(done) if as_json else _as_text(done))


def _require_name(project: Project) -> None:
    try:
        named = read(project.file, shown=project.file.name).value
    except OperatorError as error:
        raise refusal(
            "export/no-project",
            f"There is no configuration in {project.root} or above it.",
            "Create wrangler_like.toml or wrangler.jsonc, or name a file with --config.",
        ) from error
    if not (isinstance(named, dict) and named.get("name")):
        raise refusal(
            "export/no-name",
            f"{project.file.name} has no `name`, without which a worker cannot be deployed.",
            'Add one: name = "my-worker".',
        )


def _as_text(done: Done) -> str:
    lines = [f"Wrote {len(done.files)} files to {done.folder}."]
    if done.removed:
        lines.append(f"Removed {len(done.removed)} that the project has no more.")
    lines.append("To deploy:")
    lines += [f"  {command.line}  # {command.why}" for command in done.commands]
    return "\n".join(lines)


def _as_json(done: Done) -> str:
    told = {
        "folder": os.path.abspath(done.folder),
        "files": done.files,
        "removed": done.removed,
        "commands": [command.line for command in done.commands],
        "notes": done.notes,
    }
    return json.dumps(told, indent=2, ensure_ascii=False)
