"""What a worker needs before it can be started, beyond a configuration that can be read."""

from __future__ import annotations

import math
import os
from pathlib import Path

from localedge.project import compatibility
from localedge.project.document import Json, members
from localedge.project.reading import refusal


def check_entry(main: Path | None, *, root: Path, file: Path, shown: str) -> None:
    """Pass when `main` is a Python file that is there.

    Messages name it as seen from `root`, the folder of the configuration `file`, which is
    called `shown`.
    Errors: OperatorError that says what is missing.
    Source: workers-sdk packages/wrangler/src/deployment-bundle/run-custom-build.ts and
    resolve-entry.ts, read 2026-12-01.
    """
    if main is None:
        raise refusal(
            "config/main-missing",
            "Missing entry-point to Worker script or to assets directory",
            f'Say which file is the worker: main = "src/entry.py" in {shown}.'
            if file.is_file()
            else f"There is no {file.name} here: localedge init makes a project.",
        )
    relative = os.path.relpath(main, root)
    if main.is_dir():
        raise refusal(
            "config/main-folder",
            f'The provided entry-point path, "{relative}", points to a directory, '
            "rather than a file.",
            f"Name the file in it that is the worker, in {shown}.",
        )
    if not main.exists():
        raise refusal(
            "config/main-not-found",
            f'The entry-point file at "{relative}" was not found.',
            f"Correct `main` in {shown}, or write that file.",
        )
    if main.suffix != ".py":
        raise refusal(
            "config/main-not-python",
            f'The entry-point file at "{relative}" is no Python file.',
            "localedge runs Python Workers; use wrangler for others.",
        )


def check_compatibility(date: str, flags: tuple[str, ...]) -> None:
    """Pass when the runtime would accept this date and these flags."""
    said = compatibility.refusals(date, flags)
    if said:
        raise refusal("config/compatibility", "\n".join(said), _remedy(said[0]))


def _remedy(said: str) -> str:
    """What to do about the runtime's first complaint."""
    if " date" in said:
        return f"Dates are YYYY-MM-DD and not later than {compatibility.today()} (UTC)."
    flag = said.rpartition(": ")[2]
    near = compatibility.nearest_flag(flag)
    if said.startswith("No such") and near is not None:
        return f'Did you mean "{near}"?'
    return "Correct compatibility_flags: each flag once, and not with its opposite."


def check_numbers(variables: dict[str, Json]) -> None:
    """Pass when every number in `variables` can be sent to a worker."""
    wrong = [place for name, value in variables.items() for place in _not_finite(name, value)]
    if wrong:
        raise refusal(
            "config/number",
            f"vars.{wrong[0]} is no finite number, which JSON cannot carry to a worker.",
            "Use a text instead.",
        )


def _not_finite(name: str, value: Json) -> list[str]:
    if isinstance(value, float):
        return [] if math.isfinite(value) else [name]
    if not isinstance(value, dict | list):
        return []
    inner = members(value).items()
    return [place for key, item in inner for place in _not_finite(f"{name}.{key}", item)]
