"""`localedge clock`: move the clock of a running server: isolates, KV expiry, SQL time, crons."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from localedge.cli.server import order, running_server
from localedge.errors import Exit, OperatorError

app = typer.Typer(add_completion=False, no_args_is_help=True)

Config = Annotated[Path | None, typer.Option("--config", "-c", help="The config file.")]
PersistTo = Annotated[Path | None, typer.Option(help="The folder of the local state.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[smhdw])+")
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")


@app.callback()
def clock() -> None:
    """Move the clock of a running server."""


@app.command()
def advance(
    duration: Annotated[str, typer.Argument(help="Like 90s, 25h or 1d12h; a number is seconds.")],
    config: Config = None,
    persist_to: PersistTo = None,
    as_json: AsJson = False,
) -> None:
    """Move the clock forward. Crons that are jumped over do not fire.

    Examples: localedge clock advance 25h · localedge clock advance 90
    """
    _move(config, persist_to, as_json, advance=seconds(duration))


@app.command("set")
def set_(
    moment: Annotated[str, typer.Argument(help="Like 2026-12-24T18:00:00Z, or epoch seconds.")],
    config: Config = None,
    persist_to: PersistTo = None,
    as_json: AsJson = False,
) -> None:
    """Set the clock; it runs on from there.

    Examples: localedge clock set 2027-01-01T00:00:00Z
    """
    _move(config, persist_to, as_json, set=epoch_s(moment))


@app.command()
def reset(config: Config = None, persist_to: PersistTo = None, as_json: AsJson = False) -> None:
    """Set the clock to the machine's own.

    Examples: localedge clock reset
    """
    _move(config, persist_to, as_json, reset="")


def _move(config: Path | None, persist_to: Path | None, as_json: bool, **how: Any) -> None:
    answer = order(running_server(config, persist_to), "clock", **how)
    if as_json:
        typer.echo(json.dumps(answer))
        return
    now = datetime.fromtimestamp(float(str(answer["now"])), UTC)
    typer.echo(f"Moved the clock to {now:%Y-%m-%d %H:%M:%S} UTC ({answer['offset_s']:+.0f} s).")


def seconds(text: str) -> float:
    """The seconds that "25h", "1d12h" or "90" stands for. Errors: OperatorError, exit 2."""
    if _DURATION.fullmatch(text):
        return sum(float(n) * _UNITS_S[unit] for n, unit in _PART.findall(text))
    try:
        return float(text)
    except ValueError:
        raise OperatorError(
            "clock/duration",
            f'"{text}" is no duration.',
            "Give seconds, or a number with a unit: 90s, 15m, 25h, 7d, 1w.",
            exit=Exit.USAGE,
        ) from None


def epoch_s(text: str) -> float:
    """The epoch seconds of an ISO date or number; without a zone it is UTC.

    Errors: OperatorError, exit 2.
    """
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise OperatorError(
            "clock/moment",
            f'"{text}" is no date.',
            "Give one like 2026-12-24T18:00:00Z, or seconds since the epoch.",
            exit=Exit.USAGE,
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp()
