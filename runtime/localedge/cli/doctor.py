"""`localedge doctor`: what this machine and this project have, and what to do about the rest."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from localedge.cli.doctor_checks import (
    Finding,
    Status,
    check_edge,
    check_kv,
    check_port,
    check_python,
    check_sqlite,
    check_state,
)
from localedge.cli.doctor_team import team
from localedge.cli.progress import progress
from localedge.errors import Exit, OperatorError
from localedge.project import load
from localedge.project.loading import locate
from localedge.project.models import Local, Project
from localedge.project.options import LoadArguments, load_arguments

app = typer.Typer(add_completion=False)
app.command()(team)

_RANK: Final[dict[Status, int]] = {"ok": 0, "warn": 1, "fail": 2}
_COLOURS: Final = {"ok": typer.colors.GREEN, "warn": typer.colors.YELLOW, "fail": typer.colors.RED}
_INDENT: Final = " " * 6


@app.callback(invoke_without_command=True)
def doctor(
    ctx: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="The config file to look at.")
    ] = None,
    env: Annotated[str | None, typer.Option("--env", "-e", help="The environment to use.")] = None,
    port: Annotated[int | None, typer.Option(help="The port that dev would listen on.")] = None,
    persist_to: Annotated[
        Path | None, typer.Option(help="The folder that dev would keep local state in.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check Python, SQLite, Valkey, the port, the state folder and the project.

    Examples: localedge doctor · localedge doctor --json · localedge doctor --env staging

    Exit code: 0 when nothing failed, 3 for the project's configuration, 4 for Valkey, the port or
    the state folder, else 1.
    """
    if ctx.invoked_subcommand is not None:
        return
    configs = [config] if config else None
    (arguments,) = load_arguments(cwd=Path.cwd(), process_env=os.environ, configs=configs, env=env)
    project, first = _look_for_project(arguments)
    state = persist_to.resolve() if persist_to else project.state if project else None
    with progress("Examining this machine"):
        findings = asyncio.run(_examine(first, project, port, state))
    typer.echo(as_text(findings) if not as_json else as_json_text(findings))
    failed = [finding for finding in findings if finding.status == "fail"]
    raise typer.Exit(int(min((f.exit for f in failed), key=_ORDER.index)) if failed else 0)


def _look_for_project(arguments: LoadArguments) -> tuple[Project | None, Finding]:
    if locate(arguments["start"], arguments["config"]) is None:
        advice = "In a project's folder doctor also looks at its configuration."
        return None, Finding("project", "warn", "There is no project here", advice)
    try:
        project = load(**arguments)
    except OperatorError as error:
        return None, refused_project(error)
    return project, found_project(project)


_ORDER: Final = [Exit.CONFIG, Exit.UNREACHABLE, Exit.FAILED]


async def _examine(
    first: Finding, project: Project | None, port: int | None, state: Path | None
) -> list[Finding]:
    local = project.local if project else Local()
    findings = [
        check_python(),
        await check_sqlite(),
        await check_kv(local.redis_url),
        check_port(local.port if port is None else port, state),
    ]
    if state is not None:
        findings.append(check_state(state))
    findings.append(first)
    if project is not None:
        findings.append(check_edge(project))
    return findings


def found_project(project: Project) -> Finding:
    """A project that can be run, with what is said about its configuration."""
    facts = {
        "file": str(project.file),
        "name": project.name,
        "environment": project.environment,
        "bindings": [entry.binding for entry in project.kv_namespaces]
        + [entry.binding for entry in project.d1_databases],
        "placeholders": project.placeholders,
        "warnings": list(project.warnings),
    }
    message = f"{project.file.name}: {project.name}"
    if not project.warnings:
        return Finding("project", "ok", message, facts=facts)
    count = len(project.warnings)
    said = f"{message}, {count} warning{'s' if count > 1 else ''}"
    return Finding("project", "warn", said, "\n".join(project.warnings), facts)


def refused_project(error: OperatorError) -> Finding:
    """A project that cannot be run."""
    facts = {"code": error.code}
    return Finding("project", "fail", error.message, error.hint, facts, exit=error.exit)


def as_text(findings: list[Finding]) -> str:
    """The findings for a person: a word, a sentence, and what to do below it."""
    is_coloured = sys.stdout.isatty()
    lines: list[str] = []
    for finding in findings:
        word = finding.status.ljust(len(_INDENT))
        if is_coloured:
            word = typer.style(word, fg=_COLOURS[finding.status])
        lines.append(word + _indented(finding.message))
        if finding.advice:
            lines.append(_INDENT + _indented(finding.advice))
    counts = [f"{sum(f.status == s for f in findings)} {s}" for s in ("ok", "warn", "fail")]
    return "\n".join([*lines, "", f"Checked {len(findings)} things: {', '.join(counts)}."])


def _indented(text: str) -> str:
    return text.replace("\n", f"\n{_INDENT}")


def as_json_text(findings: list[Finding]) -> str:
    """The findings for a program."""
    worst = max((finding.status for finding in findings), key=_RANK.__getitem__)
    checks = [
        {name: value for name, value in asdict(finding).items() if name != "exit"}
        for finding in findings
    ]
    return json.dumps({"status": worst, "checks": checks}, indent=2, ensure_ascii=False)
