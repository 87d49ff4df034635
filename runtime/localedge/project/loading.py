"""From a folder to a Project."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from localedge.errors import Exit, OperatorError
from localedge.project import jsonc
from localedge.project.models import D1Database, KVNamespace, Limits, Local, Project

NAMES = ("wrangler.json", "wrangler.jsonc", "wrangler.toml")
OWN_NAME = "wrangler_like.toml"


def load(
    *,
    start: Path,
    config: Path | None = None,
    environment: str | None = None,
    env_files: tuple[Path, ...] = (),
    process_env: Mapping[str, str],
    to_run: bool = True,
) -> Project:
    """Return the project that `start` lies in, or that `config` describes.

    Shape: with `to_run` False nothing is asked of what only a running worker needs (`main` may be
    missing), as wrangler's `d1` and `kv` commands have it.
    Errors: OperatorError with Exit.CONFIG.
    """
    file = (start / config).resolve() if config else _find(start.resolve())
    if file is None:
        raise _error("config/not-found", f"no {OWN_NAME} or wrangler.jsonc in {start} or above it")
    raw = _read(file)
    environment = environment or process_env.get("CLOUDFLARE_ENV") or None
    try:
        return _project(file, raw, environment, to_run)
    except ValidationError as exc:
        raise _error("config/invalid", f"{file.name}: {exc}") from exc


def _error(code: str, message: str, hint: str = "") -> OperatorError:
    return OperatorError(code, message, hint, exit=Exit.CONFIG)


def _find(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        if (folder / OWN_NAME).is_file():
            return folder / OWN_NAME
        for name in NAMES:
            if (folder / name).is_file():
                return folder / name
    return None


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text("utf-8-sig")
        if file.suffix == ".toml":
            return tomllib.loads(text)
        value, _ = jsonc.parse(text)
    except OSError as exc:
        raise _error("config/unreadable", f"Could not read file: {file.name}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise _error("config/syntax", f"{file.name}: {exc}") from exc
    except jsonc.JsoncError as exc:
        raise _error("config/syntax", f"{file.name}: {exc.name}") from exc
    if not isinstance(value, dict):
        raise _error("config/syntax", f"{file.name}: an object was expected")
    return value


def _project(file: Path, raw: dict[str, Any], environment: str | None, to_run: bool) -> Project:
    own = raw.get("env", {}).get(environment, {}) if environment else {}
    inherited = {**raw, **own} if environment else raw
    alone = own if environment else raw
    name = inherited.get("name", "worker")
    if environment and "name" not in own:
        name = f"{name}-{environment}"
    main = inherited.get("main")
    if main is None and to_run:
        raise _error("config/main", "Missing entry-point to Worker script", "Add `main`.")
    path = (file.parent / main).resolve() if main else None
    if to_run and path and not path.is_file():
        raise _error("config/main", f'The entry-point file at "{main}" was not found.')
    return Project(
        root=file.parent,
        file=file,
        name=name,
        main=path,
        environment=environment,
        compatibility_date=inherited.get("compatibility_date"),
        compatibility_flags=tuple(inherited.get("compatibility_flags", ())),
        vars=alone.get("vars", {}),
        kv_namespaces=tuple(KVNamespace(**entry) for entry in alone.get("kv_namespaces", ())),
        d1_databases=tuple(D1Database(**entry) for entry in alone.get("d1_databases", ())),
        crons=tuple(inherited.get("triggers", {}).get("crons", ())),
        limits=Limits(**inherited.get("limits", {})),
        local=Local(**raw.get("localedge", {})),
    )
