"""The flags that `d1` commands share, as wrangler has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from localedge.cli.d1_target import Flags


def switch(names: str, help_text: str) -> Any:
    """An option without a value whose default help does not repeat."""
    return typer.Option(*names.split(), help=help_text, show_default=False)


Database = Annotated[str, typer.Argument(help="The name or binding of the DB.")]
Local = Annotated[bool, switch("--local/--no-local", "Use the local database (the default).")]
Remote = Annotated[bool, switch("--remote/--no-remote", "Refused: databases here are local.")]
Preview = Annotated[bool, switch("--preview/--no-preview", "Refused: it needs --remote.")]
PersistTo = Annotated[
    str, typer.Option("--persist-to", "--persistTo", help="Folder of local state, with --local.")
]
Config = Annotated[
    list[Path] | None, typer.Option("--config", "-c", help="The config file; the first one counts.")
]
Env = Annotated[str | None, typer.Option("--env", "-e", help="The environment to use.")]
EnvFile = Annotated[list[Path] | None, typer.Option("--env-file", help="Read instead of .env.")]
Cwd = Annotated[Path | None, typer.Option("--cwd", help="Run as if started in this folder.")]
Command = Annotated[list[str] | None, typer.Option(metavar="SQL", help="Statements, apart by `;`.")]
File = Annotated[list[str] | None, typer.Option(metavar="FILE", help="A .sql file to run.")]
Yes = Annotated[bool, switch("--yes/--no-yes -y", 'Answer "yes" to any question.')]
Json = Annotated[bool, switch("--json/--no-json", "Print the result as JSON.")]


def folder(cwd: Path | None) -> Path:
    """Where a relative path starts."""
    return Path.cwd() / cwd if cwd else Path.cwd()


def local_flags(
    cwd: Path | None,
    config: Sequence[Path] | None,
    env: str | None,
    persist_to: str,
    is_remote: bool,
) -> Flags:
    """The flags of a command that wrangler has no --local for.

    Errors: OperatorError for --remote.
    """
    flags = Flags(
        folder(cwd),
        config or (),
        env,
        is_local=bool(persist_to),
        is_remote=is_remote,
        persist_to=persist_to,
    )
    if is_remote:
        Flags(flags.cwd, flags.configs, env, is_remote=True).check()
    return flags
