"""`localedge kill`: end an isolate of the running server, as SIGKILL from outside would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from localedge.cli.server import order, running_server

app = typer.Typer(add_completion=False)


@app.command()
def kill(
    pid: Annotated[
        int | None, typer.Argument(help="The isolate; without it the busiest one that serves.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", "-c", help="The config file.")] = None,
    persist_to: Annotated[Path | None, typer.Option(help="The folder of the local state.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Kill an isolate; its requests in flight get a 500, the standby takes its place.

    Examples: localedge kill · localedge kill 4711
    """
    killed = order(running_server(config, persist_to), "kill", pid=pid)["killed"]
    typer.echo(json.dumps({"killed": killed}) if as_json else f"Killed isolate {killed}.")
