"""`localedge completion`: what a shell needs to complete `localedge` command lines."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import typer
from typer import completion

from localedge.errors import Exit, OperatorError

app = typer.Typer(no_args_is_help=True, help="Completion for bash, zsh and fish.")

Name = Literal["bash", "zsh", "fish"]
_NAMES: Final = get_args(Name)
Shell = Annotated[Name | None, typer.Argument(help="The shell; without it the one of $SHELL.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def show(shell: Shell = None, as_json: AsJson = False) -> None:
    """Print the script that completes `localedge` in that shell.

    Examples: localedge completion show · localedge completion show zsh
    """
    name = shell or _shell()
    script = completion.get_completion_script(  # type: ignore[attr-defined]  # not exported
        prog_name="localedge", complete_var="_LOCALEDGE_COMPLETE", shell=name
    )
    typer.echo(json.dumps({"shell": name, "script": script}) if as_json else script)


@app.command()
def install(shell: Shell = None, as_json: AsJson = False) -> None:
    """Install completion for that shell, as `localedge --install-completion` does.

    Examples: localedge completion install · localedge completion install fish
    """
    try:
        name, path = completion.install(  # type: ignore[attr-defined]  # not exported
            shell=shell or _shell(), prog_name="localedge", complete_var="_LOCALEDGE_COMPLETE"
        )
    except OSError as exc:
        raise OperatorError(
            "completion/cannot-write",
            f"{exc.filename or Path.home()}: {exc.strerror}.",
            "Put it where your shell looks: localedge completion show.",
        ) from exc
    if as_json:
        typer.echo(json.dumps({"shell": name, "file": str(path)}))
        return
    typer.echo(f"Installed completion for {name} in {path}.")
    typer.echo("It works in terminals that are opened from now on.", err=True)


def _shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in _NAMES:
        raise OperatorError(
            "completion/shell",
            f'there is no completion for the shell "{name}".' if name else "$SHELL names no shell.",
            f"Name one: localedge completion show {'|'.join(_NAMES)}.",
            exit=Exit.USAGE,
        )
    return name
