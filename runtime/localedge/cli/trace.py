"""`localedge trace`: the whole life of a task, in order, across agents."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from edgestate.team import Event, life_of, states
from localedge.cli.table import plain
from localedge.cli.team_state import team_record
from localedge.errors import OperatorError

app = typer.Typer(add_completion=False)


@app.command()
def trace(
    id_: Annotated[
        str, typer.Argument(metavar="ID", help="A trace, goal, subtask, saga or chain.")
    ],
    db: Annotated[
        str | None, typer.Option(help="The database; needed if there are several.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", "-c", help="The config file.")] = None,
    env: Annotated[str | None, typer.Option("--env", "-e", help="The environment to use.")] = None,
    persist_to: Annotated[Path | None, typer.Option(help="The folder of the local state.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print what happened to a task: its state first, then everything in order.

    Examples: localedge trace goal-1 · localedge trace trace-5f0c --json
    """
    state, events = asyncio.run(_look(id_, db, config, env, persist_to))
    if not events:
        raise OperatorError(
            "trace/unknown",
            f"nothing is known of {plain(id_)}.",
            "Give the id of a trace, a goal, a subtask, a saga, or a correlation id.",
        )
    if as_json:
        document = {"id": id_, "state": state, "events": [asdict(event) for event in events]}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    typer.echo("\n".join(as_lines(id_, state, events)))


async def _look(
    id_: str, db: str | None, config: Path | None, env: str | None, persist_to: Path | None
) -> tuple[dict[str, Any] | None, list[Event]]:
    async with team_record(db, config, env, persist_to) as record:
        found = (await states(record, id_)).get(id_)
        return (asdict(found) if found else None), await life_of(record, id_)


def as_lines(id_: str, state: dict[str, Any] | None, events: list[Event]) -> list[str]:
    """The life for a person: state, then what happened, then how much it was."""
    lines = []
    if state is not None:
        lines += [
            f"{plain(id_)} is {state['status']}, review {state['review']}, "
            f"attempt {state['attempt']}, version {state['version']}, fence {state['fence']}, "
            f"context {state['context_version']}.",
            "",
        ]
    width = max(len(event.kind) for event in events)
    who = max(len(plain(event.agent_id or "-")) for event in events)
    for event in events:
        moment = datetime.fromtimestamp(event.created_at / 1000, UTC)
        detail = " ".join(
            f"{name}={value}" for name, value in event.detail.items() if value not in (None, "")
        )
        line = (
            f"{event.seq:>6}  {moment:%Y-%m-%d %H:%M:%S}.{event.created_at % 1000:03d}  "
            f"{plain(event.agent_id or '-'):<{who}}  {event.kind:<{width}}  {event.ref}  {detail}"
        )
        lines.append(plain(line).rstrip())
    agents = {event.agent_id for event in events if event.agent_id}
    traces = sorted({event.trace_id for event in events})
    lines += [
        "",
        f"Listed {len(events)} events of {len(agents)} agents, {plain(', '.join(traces))}.",
    ]
    return lines
