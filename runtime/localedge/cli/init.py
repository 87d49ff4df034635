"""`localedge init`: a new project."""

from __future__ import annotations

import json
import os
import shlex
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from localedge.cli.agent import library_folder
from localedge.errors import Exit, OperatorError
from localedge.port.scaffold import Created, Library, create

app = typer.Typer(add_completion=False)


class Extra(StrEnum):
    """What a new project can begin with."""

    EDGESTATE = "edgestate"


@app.command()
def init(
    directory: Annotated[
        str, typer.Argument(help="The folder of the project, made when it is absent.")
    ] = ".",
    extra: Annotated[
        Extra | None,
        typer.Option("--with", help="Begin with an agent whose state is durable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was made as JSON.")] = False,
) -> None:
    """Make a new project that localedge and pywrangler both run.

    It has a worker, migrations and tests. Nothing that is there is changed. With `--with
    edgestate` the worker is an agent, and the library and its tables come along; a project that
    exists gets them by `localedge agent vendor`.

    Examples: localedge init · localedge init notes · localedge init notes --with edgestate
    """
    if not directory:
        # Path("") is the folder that one is in, which nobody means who writes "$NAME".
        raise OperatorError(
            "init/no-folder",
            "the folder's name is empty.",
            "Name one, or none for this folder.",
            exit=Exit.USAGE,
        )
    library = Library(library_folder(), version("localedge")) if extra else None
    created = create(Path(directory), library=library)
    typer.echo(_as_json(created) if as_json else _as_text(created))


def _as_text(created: Created) -> str:
    where = (
        ""
        if created.folder.resolve() == Path.cwd()
        else f"cd {shlex.quote(str(created.folder))} && "
    )
    return (
        f"Created {created.name} with {len(created.files)} files.\n"
        f"Next: {where}localedge d1 migrations apply DB && localedge dev"
    )


def _as_json(created: Created) -> str:
    folder = os.path.abspath(created.folder)
    told = {"name": created.name, "folder": folder, "files": list(created.files)}
    return json.dumps(told, indent=2, ensure_ascii=False)
