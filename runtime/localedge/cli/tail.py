"""`localedge tail`: requests and what was logged for them, as they come.

Source: wrangler 4 packages/wrangler/src/tail, read 2026-12-01.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Annotated, Final, Literal, cast, get_args

import typer

from localedge.cli.event_stream import happenings, ticking
from localedge.cli.server import running_server, workers_of
from localedge.cli.tail_events import GRACE_S, Assembly, Filters, Status, as_json, as_text
from localedge.errors import Exit, OperatorError
from localedge.supervisor.state import Run

app = typer.Typer(add_completion=False)
_STATUSES: Final = get_args(Status)

Format = Literal["json", "pretty"]


@app.command()
def tail(
    worker: Annotated[
        str | None, typer.Argument(help="The worker's name; without it the one on the port.")
    ] = None,
    format_: Annotated[
        Format | None,
        typer.Option("--format", help="The format of events.", show_default="pretty on a terminal"),
    ] = None,
    status: Annotated[
        list[str] | None, typer.Option(help=f"Only these: {', '.join(_STATUSES)}.")
    ] = None,
    header: Annotated[
        str | None, typer.Option(metavar="NAME[:VALUE]", help="Only with this HTTP header.")
    ] = None,
    method: Annotated[list[str] | None, typer.Option(help="Only with this HTTP method.")] = None,
    sampling_rate: Annotated[
        float | None, typer.Option(metavar="RATE", help="Only this part of all: 0.25 is a quarter.")
    ] = None,
    search: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only with this text in a log message.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", "-c", help="The config file.")] = None,
    persist_to: Annotated[Path | None, typer.Option(help="The folder of the local state.")] = None,
    as_json_: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Follow requests and their logs until Ctrl-C, like `wrangler tail`; JSON is one event a line.

    Examples: localedge tail --status error · localedge tail --method POST --search paid --json
    """
    filters = Filters(
        statuses=[cast(Status, _known(one)) for one in status or ()],
        methods=[one.upper() for one in method or ()],
        header=_header(header),
        search=search or "",
        rate=_rate(sampling_rate),
    )
    run = running_server(config, persist_to)
    name = _name(worker, workers_of(run))
    wants_json = as_json_ or format_ == "json" or (format_ is None and not sys.stdout.isatty())
    try:
        _follow(run, filters, name, wants_json)
    except KeyboardInterrupt:
        return
    except BrokenPipeError:
        # Whoever read has seen enough. Python would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    typer.echo("The server has stopped.", err=True)


def _follow(run: Run, filters: Filters, worker: str, wants_json: bool) -> None:
    def connected() -> None:
        typer.echo(f"Connected to {worker} on {run.url}, waiting for logs...", err=True)

    assembly = Assembly(time.time() * 1000)
    coming = happenings(run, after=None, on_connected=connected)
    for one in ticking(coming, every_s=GRACE_S / 2):
        if one is not None:
            assembly.feed(one, time.monotonic())
        for invocation in assembly.taken(time.monotonic()):
            if filters.let(invocation, random.random):
                shown = json.dumps(as_json(invocation, worker), ensure_ascii=False)
                typer.echo(shown if wants_json else as_text(invocation))
                sys.stdout.flush()


def _name(wanted: str | None, names: list[str]) -> str:
    """The worker whose requests come over the port: what others do for them is part of them."""
    if wanted is not None and wanted not in names:
        raise _usage(f'the server runs no worker "{wanted}".', f"It runs {', '.join(names)}.")
    if wanted not in (None, names[0]):
        raise _usage(
            f"requests come to {names[0]}, not to {wanted}.",
            f"What {wanted} does for them is shown with them: localedge tail.",
        )
    return names[0]


def _known(status: str) -> str:
    if status not in _STATUSES:
        raise _usage(f'there is no status "{status}".', f"There are {', '.join(_STATUSES)}.")
    return status


def _header(text: str | None) -> tuple[str, str | None] | None:
    if text is None:
        return None
    name, colon, value = text.partition(":")
    if not name.strip():
        raise _usage(f'"{text}" names no header.', "Give a name, or a name and a value: X-A:b.")
    return name.strip().lower(), value.strip() if colon else None


def _rate(rate: float | None) -> float | None:
    if rate is not None and not 0 < rate < 1:
        raise _usage(
            "A sampling rate must be between 0 and 1 in order to have any effect.",
            "For example, a sampling rate of 0.25 means 25% of events will be logged.",
        )
    return rate


def _usage(message: str, hint: str) -> OperatorError:
    return OperatorError("tail/flags", message, hint, exit=Exit.USAGE)
