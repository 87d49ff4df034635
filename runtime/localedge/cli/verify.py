"""`localedge verify`: the same requests to our server and to the real parts, compared."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from localedge.cli import recording
from localedge.cli.output import Printer
from localedge.cli.progress import progress
from localedge.errors import Exit, OperatorError
from localedge.port.verify.report import as_json, as_text
from localedge.port.verify.sources import read_plan
from localedge.port.verify.verifying import PATIENCE_S, Wishes
from localedge.port.verify.verifying import verify as verified
from localedge.project import load
from localedge.project.options import load_arguments
from localedge.supervisor.forks import Record

app = typer.Typer(add_completion=False)


@app.command()
def verify(
    source: Annotated[
        Path | None,
        typer.Argument(help="A recorded session, a scenario (.toml), or an OpenAPI document."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="The config file of the project.")
    ] = None,
    env: Annotated[str | None, typer.Option("--env", "-e", help="The environment to use.")] = None,
    env_file: Annotated[
        list[Path] | None, typer.Option(help="Read this file instead of .dev.vars and .env.")
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(help="Compare with the worker that answers there, such as a deployed one."),
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option(help='Send "Name: value" to that URL with each request.')
    ] = None,
    match: Annotated[
        list[str] | None,
        typer.Option(help="NAME=REGEX: what it fits must differ, and is not compared."),
    ] = None,
    package: Annotated[
        list[str] | None,
        typer.Option(help="A package for the edge, in the place of the project's."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a side may take for one step.")
    ] = PATIENCE_S,
    record_vectors: Annotated[
        Path | None,
        typer.Option(help="Record kv.json, d1.json and sdk.json in this folder, and compare them."),
    ] = None,
    vectors: Annotated[
        Path, typer.Option(help="The stored vectors that --record-vectors begins from.")
    ] = Path("tests/vectors"),
    as_json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    verbose: Annotated[
        bool, typer.Option(help="Show what the worker prints on each side.")
    ] = False,
) -> None:
    """Send the same requests to this machine's server and to the real parts, and compare.

    The real parts are Pyodide with Cloudflare's SDK and the KV and D1 of workerd; they run here,
    without an account. The first run fetches them into a cache. Without SOURCE, GET / is sent.

    Examples: localedge verify · localedge verify session.jsonl · localedge verify trips.toml --json
    · localedge verify session.jsonl --url https://trips.ada.workers.dev
    · localedge verify --record-vectors fresh

    Exit code: 0 when all is the same, 1 for differences, 4 when the other side cannot be had.
    """
    if record_vectors is not None:
        raise SystemExit(recording.record_vectors(record_vectors, vectors))
    printer = Printer(sys.stderr)
    printer.install(logging.INFO if verbose else logging.CRITICAL)
    wishes = Wishes(
        patterns=_pairs(match, "=", "--match", "NAME=REGEX"),
        url=url,
        headers=_pairs(header, ":", "--header", '"Name: value"'),
        requirements=package or None,
        patience_s=timeout,
        shows_output=verbose,
    )
    (arguments,) = load_arguments(
        cwd=Path.cwd(),
        process_env=os.environ,
        configs=[config] if config else None,
        env=env,
        env_files=env_file,
    )
    project = load(**arguments)
    plan = read_plan(source)
    with (
        progress("Comparing both sides"),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        said = printer.record if verbose else _nothing
        report = runner.run(verified(project, plan, wishes, on_record=said, say=printer.say))
    typer.echo(as_json(report) if as_json_ else as_text(report, shutil.get_terminal_size().columns))
    raise SystemExit(Exit.FAILED if report.count else Exit.DONE)


def _nothing(_record: Record) -> None:
    return


def _pairs(given: list[str] | None, mark: str, option: str, form: str) -> dict[str, str]:
    found = {}
    for one in given or []:
        name, between, value = one.partition(mark)
        if not between or not name.strip():
            raise OperatorError(
                "verify/bad-option",
                f"{option} {one!r} is not {form}.",
                "localedge verify --help shows what it takes.",
                exit=Exit.USAGE,
            )
        found[name.strip()] = value.strip()
    return found
