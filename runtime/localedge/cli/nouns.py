"""All nouns of the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from localedge.cli.help_text import polished
from localedge.cli.overview import SUMMARIES, overview
from localedge.errors import Exit, OperatorError
from localedge.isolate.lean import without_plugins
from localedge.supervisor.launch import Launched

# A noun's module is imported when it is named, so that `dev` does not pay for all the others.
NOUNS = {
    "dev": "localedge.cli.dev",
    "kill": "localedge.cli.kill",
    "clock": "localedge.cli.clock",
    "kv": "localedge.cli.kv",
    "d1": "localedge.cli.d1",
    "agent": "localedge.cli.agent",
    "doctor": "localedge.cli.doctor",
    "check": "localedge.cli.check",
    "init": "localedge.cli.init",
    "export": "localedge.cli.export",
    "trace": "localedge.cli.trace",
    "tail": "localedge.cli.tail",
    "logs": "localedge.cli.logs",
    "explore": "localedge.cli.explore",
    "verify": "localedge.cli.verify",
    "completion": "localedge.cli.completion",
}
_COMPLETION = {"install_completion", "show_completion"}


class Nouns(TyperGroup):
    """The group of all nouns."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # typer's own subclass
        """The nouns, in the order in which help shows them."""
        nouns = sorted(NOUNS, key=[*SUMMARIES, *NOUNS].index)
        return [noun for noun in nouns if find_spec(NOUNS[noun]) is not None]

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """One line for each noun: none is imported for it."""
        formatter.write(overview(self.list_commands(ctx)))

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """The noun that `args` begin with. Errors: OperatorError with the one that is meant."""
        if args and args[0] not in NOUNS and not args[0].startswith("-"):
            near = get_close_matches(args[0], NOUNS, n=1)
            meant = f'Did you mean "{near[0]}"?  ' if near else ""
            raise OperatorError(
                "usage/command",
                f'there is no command "{args[0]}".',
                f"{meant}localedge --help lists them.",
                exit=Exit.USAGE,
            )
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> TyperCommand | TyperGroup | None:  # type: ignore[override]
        """The noun's command, or group of verbs."""
        module = NOUNS.get(cmd_name)
        if module is None or find_spec(module) is None:
            return None
        with without_plugins():
            noun = import_module(module)
        command = typer.main.get_command(noun.app)
        command.name = cmd_name
        command.params = [p for p in command.params if p.name not in _COMPLETION]
        assert isinstance(command, TyperCommand | TyperGroup)
        polished(command)
        return command


app = typer.Typer(cls=Nouns, no_args_is_help=True, rich_markup_mode="rich")


@app.callback()
def localedge() -> None:
    """Run, break and trust Cloudflare-style Python Workers on plain CPython."""


def run(args: Sequence[str], launched: Launched | None = None) -> int:
    """The exit code of the command line `args`, run.

    Shape: `launched` is a fork server for the command that wants one.
    Errors: SystemExit for what typer itself answers (help, usage).
    """
    command = typer.main.get_command(app)
    try:
        command.main(args or ["--help"], prog_name="localedge", obj=launched)
    except OperatorError as error:
        return _say(error)
    except ExceptionGroup as group:
        # What failed inside a task group: its reader is still the person at the keyboard.
        found = group.subgroup(OperatorError)
        if found is None:
            raise
        return _say(_first(found))
    except KeyboardInterrupt:
        return int(Exit.FAILED)
    return int(Exit.DONE)


def _say(error: OperatorError) -> int:
    print(error, file=sys.stderr)  # noqa: T201  (stderr is where a command speaks)
    return int(error.exit)


def _first(group: BaseExceptionGroup[OperatorError]) -> OperatorError:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
