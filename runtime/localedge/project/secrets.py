"""A worker's secrets and local variables: which files give them, and which names are let through.

Source: reference page of KV and D1, section 4; recorded cases `devvars_*`, `dotenv_*`,
`envfile_*`, `include_process_env*` and `secrets_*`; workers-sdk
packages/wrangler/src/dev/dev-vars.ts and config/dot-env.ts, read 2026-12-01.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from localedge.project import dotenv
from localedge.project.document import Json, members
from localedge.project.reading import refusal

PROCESS = "process.env"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The values, and where they come from: files relative to the configuration, PROCESS."""

    values: Mapping[str, str]
    sources: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """What decides on the secrets of one worker.

    Shape: `root` is the folder of the configuration, `start` the one the command was given in;
    `environment` is the name given on the command line, "" included, None when none was:
    a name that comes from CLOUDFLARE_ENV chooses no files.
    """

    root: Path
    start: Path
    environment: str | None
    env_files: Sequence[Path]
    variables: Mapping[str, Json]
    declared: Json
    process_env: Mapping[str, str] = field(default_factory=dict)


def process_env_with_files(
    start: Path,
    environment: str | None,
    env_files: Sequence[Path],
    process_env: Mapping[str, str],
) -> dict[str, str]:
    """The process environment as commands see it: what .env files in `start` say is added to it."""
    files = env_files or _default_files(environment)
    merged, _ = _read_files([start / file for file in files])
    return {**process_env, **dotenv.expand(merged, process_env)}


def load(request: Request) -> Loaded:
    """Return the secrets of a worker.

    Errors: OperatorError when a .dev.vars is there and cannot be read.
    """
    is_declared = isinstance(request.declared, dict)
    loaded = _load_all(request, with_process=is_declared)
    if not is_declared:
        return loaded
    required = members(request.declared).get("required")
    names = [n for n in required if isinstance(n, str)] if isinstance(required, list) else []
    values = {
        name: value
        for name, value in loaded.values.items()
        if name in request.variables or name in names
    }
    missing = [name for name in names if name not in loaded.values]
    if not missing:
        return Loaded(values, loaded.sources)
    warning = (
        f"Missing required secrets: {', '.join(missing)}. "
        "Add them to .dev.vars, .env, or set as environment variables."
    )
    return Loaded(values, loaded.sources, (warning,))


def _load_all(request: Request, *, with_process: bool) -> Loaded:
    if not request.env_files:
        for name in _dev_vars(request.environment):
            if (text := _read_dev_vars(request.root / name, request.start)) is not None:
                return Loaded(dotenv.parse(text), (name,))
    if not _switch("CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV", request.process_env, default=True):
        return Loaded({})
    files = [Path(file) for file in request.env_files or _default_files(request.environment)]
    merged, read = _read_files([request.root / file for file in files])
    with_process = with_process or _switch(
        "CLOUDFLARE_INCLUDE_PROCESS_ENV", request.process_env, default=False
    )
    included = request.process_env if with_process else {}
    values = {**included, **dotenv.expand(merged, included)}
    sources = [os.path.relpath(file, request.root) for file in read]
    return Loaded(values, (*sources, *([PROCESS] if with_process else [])))


def _dev_vars(environment: str | None) -> tuple[str, ...]:
    return (".dev.vars",) if environment is None else (f".dev.vars.{environment}", ".dev.vars")


def _default_files(environment: str | None) -> list[Path]:
    names = [".env", ".env.local"]
    if environment is not None:
        names += [f".env.{environment}", f".env.{environment}.local"]
    return [Path(name) for name in names]


def _read_dev_vars(file: Path, start: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise refusal(
            "config/dev-vars",
            f'Failed to load local dev variables file "{os.path.relpath(file, start)}": '
            f"{exc.strerror or type(exc).__name__}",
            "It has to be a file of NAME=value lines that can be read.",
        ) from exc


def _read_files(files: Sequence[Path]) -> tuple[dict[str, str], list[Path]]:
    """The values of all `files`, the later winning, and which of them could be read."""
    merged: dict[str, str] = {}
    read: list[Path] = []
    for file in files:
        try:
            text = file.read_bytes().decode("utf-8", "replace")
        except OSError:
            # wrangler passes over a .env file that is missing, or cannot be read, in silence.
            continue
        merged |= dotenv.parse(text)
        read.append(file)
    return merged, read


def _switch(name: str, process_env: Mapping[str, str], *, default: bool) -> bool:
    """The value of a switch in the environment."""
    text = process_env.get(name)
    if text is None:
        return default
    if text.lower() not in ("true", "false"):
        raise refusal("config/switch", f'Expected {name} to be "true" or "false", but got "{text}"')
    return text.lower() == "true"
