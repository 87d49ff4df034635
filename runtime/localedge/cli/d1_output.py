"""What `d1` commands print: results on standard output, the rest on standard error."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from localedge.cli.table import fitted
from localedge.coercion import js_number_text, js_string
from localedge.d1.migrations import Applied, StatementResult
from localedge.errors import OperatorError

_SURROGATE = re.compile("[\ud800-\udfff]")


@contextmanager
def failing_as_json(is_json: bool, applied: Sequence[Applied] | None = None) -> Iterator[None]:
    """With `is_json` an OperatorError inside is printed as JSON and ends the command.

    Shape: beside the error stands what was `applied` before it, where that has a meaning.
    """
    try:
        yield
    except OperatorError as error:
        if not is_json:
            raise
        print_json({"error": {"text": error.message}, **shown_as_json(applied)})
        raise typer.Exit(int(error.exit)) from error


def tell(text: str) -> None:
    """Say `text` on standard error."""
    typer.echo(text, err=True)


def print_json(value: object) -> None:
    """`value` on standard output the way JSON.stringify shows it."""
    text = json.dumps(_as_number_of_js(value), indent=2, ensure_ascii=False)
    typer.echo(_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _as_number_of_js(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_number_of_js(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_number_of_js(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
        if not math.isfinite(number):
            return None
        text = js_number_text(number)
        return int(text) if re.fullmatch("-?[0-9]+", text) else number
    return value


def shown_as_json(applied: Sequence[Applied] | None) -> dict[str, object]:
    """`applied` for `print_json`; nothing for None."""
    if applied is None:
        return {}
    return {"applied": [{"name": done.name, "commands": done.commands} for done in applied]}


def print_pending(names: Sequence[str], *, title: str = "name") -> None:
    """The table of what is to be applied, under `title`, or that there is nothing."""
    if names:
        typer.echo("Migrations to be applied:")
        typer.echo(fitted([title], [[name] for name in names]))
    else:
        typer.echo("No migrations to apply!")


def print_outcome(
    database: str, names: Sequence[str], applied: Sequence[Applied], took_ms: float
) -> None:
    """What has become of `names`: a table, and a sentence about those that were applied."""
    done = len(applied)
    if names:
        states = ["applied"] * done + ["failed"] * (done < len(names)) + ["pending"] * len(names)
        typer.echo(fitted(["name", "status"], list(zip(names, states, strict=False))))
    if applied:
        migrations = "migration" if done == 1 else "migrations"
        listed = ", ".join(each.name for each in applied)
        typer.echo(f"Applied {done} {migrations} to {database} ({listed}) in {took_ms:.0f} ms.")


def executed(count: int) -> str:
    """How many statements have run, in wrangler's words."""
    return f"{count} command{'' if count == 1 else 's'} executed successfully."


def plain_results(results: Sequence[StatementResult]) -> list[dict[str, Any]]:
    """`results` the way wrangler shows them: a BLOB is the text of its list, and of `meta` the
    duration."""
    return [
        {
            "results": [_plain_row(row) for row in result["results"]],
            "success": result["success"],
            "meta": {"duration": result["meta"].get("duration", 0)},
        }
        for result in results
    ]


def _plain_row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        column: f"[{', '.join(map(str, value))}]" if isinstance(value, list) else value
        for column, value in row.items()
    }


def print_rows(results: Sequence[dict[str, Any]]) -> None:
    """Each result that has rows as a table."""
    for result in results:
        if rows := result["results"]:
            columns = list(rows[0])
            typer.echo(fitted(columns, [[js_string(row[c]) for c in columns] for row in rows]))
