"""`localedge check`: what of the project would fail or differ on the edge."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from localedge.cli.progress import progress
from localedge.errors import Exit
from localedge.port.check.checking import check_project
from localedge.port.check.finding import Finding
from localedge.project import load
from localedge.project.loading import locate, resolve_file
from localedge.project.options import LoadArguments, load_arguments

app = typer.Typer(add_completion=False)
_COLOURS: Final = {"error": typer.colors.RED, "warning": typer.colors.YELLOW}


@app.command()
def check(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="The config file of the project.")
    ] = None,
    env: Annotated[str | None, typer.Option("--env", "-e", help="The environment to use.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Say what of the project would fail or differ on the edge, with line and fix.

    Examples: localedge check · localedge check --json · localedge check -e staging

    A comment silences a rule on its line: # localedge: ignore[rule] and the reason.

    Exit code: 0 when nothing or only warnings were found, 1 for errors, 3 when the configuration
    cannot be read.
    """
    configs = [config] if config else None
    (arguments,) = load_arguments(cwd=Path.cwd(), process_env=os.environ, configs=configs, env=env)
    with progress("Checking the project"):
        root, findings = examine(arguments)
    typer.echo(as_json_text(findings, root) if as_json else as_text(findings, root))
    has_failed = any(finding.rule.level == "error" for finding in findings)
    raise typer.Exit(int(Exit.FAILED if has_failed else Exit.DONE))


def examine(arguments: LoadArguments) -> tuple[Path, list[Finding]]:
    """The project's folder, and what the rules find in it.

    Errors: OperatorError when the configuration cannot be read.
    """
    project = load(**arguments)
    found = locate(arguments["start"], arguments["config"])
    # An environment that only a .env file names is known to `load` alone.
    resolved = resolve_file(
        found, project.environment, start=arguments["start"], config=arguments["config"]
    )
    return project.root, check_project(project, resolved if found else None)


def as_text(findings: Sequence[Finding], root: Path) -> str:
    """One line per finding, and a last one that counts them."""
    lines = []
    for finding in findings:
        line = finding.text(root)
        level = f" {finding.rule.level} "
        coloured = typer.style(level, fg=_COLOURS[finding.rule.level])
        lines.append(line.replace(level, coloured, 1) if _is_terminal() else line)
    return "\n".join([*lines, f"Found {counted(findings)}."])


def counted(findings: Sequence[Finding]) -> str:
    """How many errors and warnings there are, in words."""
    parts = []
    for level in ("error", "warning"):
        count = sum(finding.rule.level == level for finding in findings)
        parts.append(f"{count} {level}{'' if count == 1 else 's'}")
    return " and ".join(parts)


def as_json_text(findings: Sequence[Finding], root: Path) -> str:
    """The findings for a program."""
    told = [
        {
            "rule": finding.rule.id,
            "level": finding.rule.level,
            "file": finding.shown(root),
            "line": finding.line,
            "column": finding.column,
            "message": finding.message,
            "fix": finding.fix,
        }
        for finding in findings
    ]
    errors = sum(finding.rule.level == "error" for finding in findings)
    counts = {"errors": errors, "warnings": len(findings) - errors}
    return json.dumps({**counts, "findings": told}, indent=2, ensure_ascii=False)


def _is_terminal() -> bool:
    return typer.get_text_stream("stdout").isatty()
