"""`localedge doctor team`: the five symptoms of shared state, looked for in the data."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from edgestate.team import Symptom, examine
from localedge.binding import BindingWrapper
from localedge.cli import kv_target
from localedge.cli.table import plain
from localedge.cli.team_state import team_record
from localedge.errors import Exit
from localedge.kv.namespace import KvNamespace
from localedge.probe import Probe

_INDENT = " " * 6


def team(
    db: Annotated[
        str | None, typer.Option(help="The database; needed if there are several.")
    ] = None,
    kv: Annotated[str | None, typer.Option(help="The KV binding that the team caches in.")] = None,
    config: Annotated[Path | None, typer.Option("--config", "-c", help="The config file.")] = None,
    env: Annotated[str | None, typer.Option("--env", "-e", help="The environment to use.")] = None,
    persist_to: Annotated[Path | None, typer.Option(help="The folder of the local state.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look for the five symptoms of shared state gone wrong: state, then history, then data.

    Examples: localedge doctor team --db DB · localedge doctor team --db DB --kv CACHE --json

    Exit code: 0 when none is found, else 1.
    """
    symptoms = asyncio.run(_examine(db, kv, config, env, persist_to))
    if as_json:
        typer.echo(json.dumps([_as_json(s) for s in symptoms], indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(as_lines(symptoms)))
    raise typer.Exit(int(Exit.FAILED) if any(s.is_found for s in symptoms) else 0)


async def _examine(
    db: str | None, kv: str | None, config: Path | None, env: str | None, persist_to: Path | None
) -> list[Symptom]:
    async with AsyncExitStack() as stack:
        record = await stack.enter_async_context(team_record(db, config, env, persist_to))
        cache = None
        if kv is not None:
            flags = kv_target.Flags(Path.cwd(), config, env, binding=kv, persist_to=persist_to)
            store = await stack.enter_async_context(kv_target.target(flags).open())
            cache = BindingWrapper(KvNamespace(store), kv, Probe())
        return await examine(record, kv=cache)


def _as_json(symptom: Symptom) -> dict[str, Any]:
    return {
        "symptom": symptom.key,
        "title": symptom.title,
        "found": symptom.is_found,
        "evidence": [{"says": e.says, "rows": e.rows} for e in symptom.evidence],
        "advice": symptom.advice if symptom.is_found else None,
    }


def as_lines(symptoms: Sequence[Symptom]) -> list[str]:
    """The symptoms for a person, each with its rows and what to do."""
    lines: list[str] = []
    for symptom in symptoms:
        lines.append(("FOUND " if symptom.is_found else "no    ") + symptom.title)
        for evidence in symptom.evidence:
            lines.append(f"{_INDENT}{evidence.says}:")
            for row in evidence.rows:
                facts = ", ".join(f"{name} {value}" for name, value in row.items())
                lines.append(plain(f"{_INDENT}  {facts}"))
        if symptom.is_found:
            lines.append(_INDENT + symptom.advice)
    found = sum(symptom.is_found for symptom in symptoms)
    return [*lines, "", f"Looked for {len(symptoms)} symptoms: found {found}."]
