"""`localedge logs`: what workers have printed and raised in the running server."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

import typer

from localedge.cli.event_stream import happenings
from localedge.cli.server import running_server
from localedge.errors import Exit, OperatorError

app = typer.Typer(add_completion=False)

Level = Literal["debug", "log", "info", "warning", "error"]
_LEVELS: Final = get_args(Level)


@app.command()
def logs(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
    level: Annotated[Level | None, typer.Option(help="Only lines of this level or above.")] = None,
    search: Annotated[str | None, typer.Option(metavar="TEXT", help="Only with this text.")] = None,
    ray: Annotated[
        str | None, typer.Option(help="Only of this request; its first digits will do.")
    ] = None,
    isolate: Annotated[
        int | None, typer.Option(metavar="PID", help="Only of this isolate.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", "-c", help="The config file.")] = None,
    persist_to: Annotated[Path | None, typer.Option(help="The folder of the local state.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")] = False,
) -> None:
    """Print what workers have printed and raised, as far back as the server keeps it.

    Examples: localedge logs --level warning · localedge logs --follow --ray 8c92c536 --json
    """
    if ray is not None and not set(ray) <= set("0123456789abcdef"):
        raise OperatorError(
            "logs/ray",
            f'"{ray}" is no ray.',
            "It is the number in brackets before each request in the log of `localedge dev`.",
            exit=Exit.USAGE,
        )
    run = running_server(config, persist_to)

    def connected() -> None:
        if follow:
            typer.echo(f"Connected to {run.url}, waiting for logs...", err=True)

    try:
        for one in happenings(run, after=0, follow=follow, on_connected=connected):
            line = _line(one)
            if line is not None and _is_wanted(line, level, search, ray, isolate):
                typer.echo(json.dumps(line, ensure_ascii=False) if as_json else _text(line))
                sys.stdout.flush()
    except KeyboardInterrupt:
        return


def _line(one: Mapping[str, Any]) -> dict[str, Any] | None:
    """A line of the log, None for what is none."""
    if one["kind"] == "console":
        level, text = one["level"], one["text"]
    elif one["kind"] == "exception":
        level, text = "error", one["traceback"] or f"{one['error']}: {one['message']}"
    else:
        return None
    moment = datetime.fromtimestamp(one["at"] / 1000, UTC).isoformat(timespec="milliseconds")
    return {
        "at": moment.replace("+00:00", "Z"),
        "ray": one["ray"],
        "pid": one["pid"],
        "level": level,
        "text": text.rstrip("\n"),
    }


def _is_wanted(
    line: Mapping[str, Any],
    level: Level | None,
    search: str | None,
    ray: str | None,
    isolate: int | None,
) -> bool:
    if level is not None and _rank(line["level"]) < _rank(level):
        return False
    if ray is not None and not line["ray"].startswith(ray):
        return False
    if isolate is not None and line["pid"] != isolate:
        return False
    return search is None or search in line["text"]


def _rank(level: str) -> int:
    return _LEVELS.index(level) if level in _LEVELS else _LEVELS.index("log")


def _text(line: Mapping[str, Any]) -> str:
    origin = f"[{line['ray'][:8]}]" if line["ray"] else f"[pid {line['pid']}]"
    mark = "" if line["level"] in ("log", "info") else f"{line['level']}: "
    return f"{line['at']} {origin} {mark}{line['text']}"
