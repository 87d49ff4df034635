"""`localedge dev`: the project's worker on this machine, until Ctrl-C."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer
import uvloop

from localedge.cli.brief import checked
from localedge.cli.edge_release import edge_release, local_surprises
from localedge.cli.output import Printer
from localedge.gateway.port import bind
from localedge.project import load
from localedge.project.local import strictly
from localedge.project.models import Project
from localedge.project.options import LoadArguments, load_arguments
from localedge.supervisor.launch import Launched
from localedge.supervisor.supervisor import supervised

app = typer.Typer(add_completion=False)
HOST = "127.0.0.1"
_GATEWAY: Final = ("uvicorn.protocols.http.httptools_impl", "localedge.gateway.application")


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asks for."""

    configs: tuple[Path, ...]
    environment: str | None
    env_files: tuple[Path, ...]
    port: int | None
    persist_to: Path | None
    tests_scheduled: bool
    is_strict: bool
    record: Path | None


@app.command()
def dev(
    ctx: typer.Context,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Listen on this port; 0 takes any.")
    ] = None,
    config: Annotated[
        list[Path] | None,
        typer.Option("--config", "-c", help="The config file; several start several workers."),
    ] = None,
    env: Annotated[str | None, typer.Option("--env", "-e", help="The environment to use.")] = None,
    env_file: Annotated[
        list[Path] | None,
        typer.Option(help="Read this file instead of .dev.vars and .env; the later one wins."),
    ] = None,
    persist_to: Annotated[
        Path | None, typer.Option(help="Keep the local state in this folder.")
    ] = None,
    test_scheduled: Annotated[
        bool, typer.Option(help="Serve the older path /__scheduled?cron=… too.")
    ] = False,
    strict: Annotated[
        bool, typer.Option(help="Enforce all that the edge enforces and a laptop does not.")
    ] = False,
    record: Annotated[
        Path | None,
        typer.Option(help="Write each request and its answer to this new file, for verify."),
    ] = None,
    verbose: Annotated[bool, typer.Option(help="Log what the runtime itself does.")] = False,
) -> None:
    """Run the worker on this machine until Ctrl-C.

    Of several workers the first gets the port; /cdn-cgi/handler/scheduled?cron=…&worker=NAME calls
    the `scheduled` handler of another.

    Examples: localedge dev --port 8080 · localedge dev -c a.toml -c b.toml
    """
    printer = Printer(sys.stderr)
    printer.install(logging.DEBUG if verbose else logging.INFO)
    gc.freeze()
    gc.enable()
    files = tuple(config or ()), env, tuple(env_file or ())
    wishes = Wishes(*files, port, persist_to, test_scheduled, strict, record)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(wishes, printer, ctx.obj))


async def _serve(wishes: Wishes, printer: Printer, launched: Launched | None) -> None:
    all_arguments = load_arguments(
        cwd=Path.cwd(),
        process_env=os.environ,
        configs=wishes.configs,
        env=wishes.environment,
        env_files=wishes.env_files,
    )
    loaders = [partial(_loaded, arguments, wishes.is_strict) for arguments in all_arguments]
    projects = [loader() for loader in loaders]
    told = (text for one in projects for text in (*one.warnings, *local_surprises(one)))
    for warning in dict.fromkeys(told):
        printer.say(f"warning: {warning}")
    for said in dict.fromkeys(map(edge_release, projects)):
        printer.say(said)
    first = projects[0]
    state = wishes.persist_to.resolve() if wishes.persist_to else first.state
    asked = first.local.port if wishes.port is None else wishes.port
    with bind(HOST, asked) as listener:
        stop = _stop_signal()
        async with supervised(
            projects, state, on_record=printer.record, launched=launched
        ) as supervisor:
            for pool, loader in zip(supervisor.pools, loaders, strict=True):
                supervisor.follow(pool, loader)
            await _import_gateway()
            from localedge.cli.answering import answering

            await supervisor.has_kv()
            async with answering(
                supervisor,
                listener,
                state,
                tests_scheduled=wishes.tests_scheduled,
                say=printer.say,
                record=wishes.record,
            ) as run:
                await supervisor.pools[0].current.is_settled()
                printer.say(f"Ready on {run.url}")
                # What is written to a file may be read by others: the token is for the terminal.
                page = run.page if sys.stderr.isatty() else run.page.partition("#")[0]
                printer.say(f"Look at it on {page}")
                async with checked(all_arguments, printer.say):
                    await stop
    printer.say("Stopped.")


def _loaded(arguments: LoadArguments, is_strict: bool) -> Project:
    project = load(**arguments)
    return strictly(project) if is_strict else project


async def _import_gateway() -> None:
    """What only answers requests is imported, in steps: meanwhile the other processes start."""
    for name in _GATEWAY:
        await asyncio.sleep(0)
        import_module(name)
    await asyncio.sleep(0)


def _stop_signal() -> asyncio.Future[None]:
    """Done at the first Ctrl-C, SIGTERM or SIGHUP."""
    loop = asyncio.get_running_loop()
    stop: asyncio.Future[None] = loop.create_future()

    def stopped() -> None:
        if not stop.done():
            stop.set_result(None)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopped)
    return stop
