"""From a folder, and what the command line says, to a Project."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from localedge.project import compatibility, secrets, starting
from localedge.project.attached import Attached
from localedge.project.attaching import attached, check_assets
from localedge.project.document import Document, Json, members
from localedge.project.local import read_local
from localedge.project.models import D1Database, KVNamespace, Limits, Project
from localedge.project.placeholders import not_run, placeholders
from localedge.project.reading import read, refusal
from localedge.project.resolution import Resolved, resolve
from localedge.project.search import OWN_NAME, Found, find

DEFAULT_NAME = "worker"
Entry = TypeVar("Entry", bound=BaseModel)


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

    `config` counts from `start`, `env_files` from the configuration's folder. An `environment` of
    "" is the top level, whatever CLOUDFLARE_ENV says. With `to_run` False nothing is asked of what
    only a running worker needs (`main` may be missing, no secrets are read), as wrangler's `d1`
    and `kv` commands have it.

    Errors: OperatorError with Exit.CONFIG.
    Source: reference page of KV and D1, section 4; recorded cases of config.json.
    """
    start = Path(os.path.abspath(start))
    seen_env = secrets.process_env_with_files(start, environment, env_files, process_env)
    selected = seen_env.get("CLOUDFLARE_ENV") if environment is None else environment
    found = locate(start, config)
    if found is None and not to_run:
        raise refusal(
            "config/not-found",
            f"There is no configuration in {start} or above it.",
            f"Create {OWN_NAME} or wrangler.jsonc, or name a file with --config.",
        )
    resolved = resolve_file(found, selected, start=start, config=config)
    project = _project(resolved, found, start, seen_env)
    if not to_run:
        return project
    return _ready(project, resolved, start, environment, env_files, seen_env)


def locate(start: Path, config: Path | None) -> Found | None:
    """The configuration file that `config` names, else the one that is found from `start`."""
    if config is not None:
        return Found(Path(os.path.abspath(start / config)))
    return find(start)


def resolve_file(
    found: Found | None, environment: str | None, *, start: Path, config: Path | None = None
) -> Resolved:
    """Read what was found and resolve it for `environment`; no file is an empty configuration."""
    if found is None:
        return resolve(Document(start / OWN_NAME, {}), environment, shown=OWN_NAME)
    shown = str(config) if config is not None else os.path.relpath(found.file, start)
    return resolve(read(found.file, shown=shown), environment, shown=shown)


def _project(
    resolved: Resolved, found: Found | None, start: Path, seen_env: Mapping[str, str]
) -> Project:
    file = resolved.document.file
    root = file.parent
    shown = os.path.relpath(file, start)
    main = resolved.get("main")
    name = resolved.get("name")
    given = resolved.get("compatibility_date")
    date = given if isinstance(given, str) else compatibility.default_date()
    more = attached(resolved.values, root=root, date=date, process_env=seen_env)
    kv = tuple(_entry(KVNamespace, item) for item in _entries(resolved, "kv_namespaces"))
    d1 = tuple(_entry(D1Database, item) for item in _entries(resolved, "d1_databases"))
    return Project(
        root=root,
        file=file,
        name=name if isinstance(name, str) else DEFAULT_NAME,
        main=Path(os.path.abspath(root / main)) if isinstance(main, str) else None,
        environment=resolved.environment,
        compatibility_date=date,
        compatibility_flags=_texts(resolved.get("compatibility_flags")),
        vars=dict(members(resolved.get("vars"))),
        kv_namespaces=kv,
        d1_databases=d1,
        crons=_texts(members(resolved.get("triggers")).get("crons")),
        limits=_limits(resolved.get("limits")),
        local=read_local(resolved.document, resolved.local, dev=resolved.get("dev"), shown=shown),
        attached=more,
        placeholders=placeholders(resolved.values, more.classes()),
        warnings=(*_warnings(resolved, found, start, more), *resolved.warnings),
    )


def _ready(
    project: Project,
    resolved: Resolved,
    start: Path,
    environment: str | None,
    env_files: tuple[Path, ...],
    seen_env: Mapping[str, str],
) -> Project:
    """`project` with its secrets, once all that a running worker needs is there."""
    shown = os.path.relpath(project.file, start)
    starting.check_entry(project.main, root=project.root, file=project.file, shown=shown)
    check_assets(project.attached.assets, resolved.get("assets"), shown=shown)
    loaded = secrets.load(
        secrets.Request(
            root=project.root,
            start=start,
            environment=environment,
            env_files=env_files,
            variables=project.vars,
            declared=resolved.get("secrets"),
            process_env=seen_env,
        )
    )
    taken = _names_of_bindings(project)
    values = {name: value for name, value in loaded.values.items() if name not in taken}
    date = project.compatibility_date or compatibility.default_date()
    starting.check_compatibility(date, project.compatibility_flags)
    starting.check_numbers({n: v for n, v in project.vars.items() if n not in values})
    warnings = [*project.warnings, *loaded.warnings]
    if resolved.get("compatibility_date") is None:
        warnings.append(
            "No compatibility_date was specified. Using the default compatibility date: "
            f"{date}.\nAdd compatibility_date to {shown}: the edge demands one."
        )
    found = {"secrets": values, "secrets_from": loaded.sources, "warnings": tuple(warnings)}
    return project.model_copy(update=found)


def _names_of_bindings(project: Project) -> set[str]:
    """Names in `env` that no secret can take."""
    return {
        *(namespace.binding for namespace in project.kv_namespaces),
        *(database.binding for database in project.d1_databases),
        *project.attached.classes(),
        *project.placeholders,
    }


def _warnings(resolved: Resolved, found: Found | None, start: Path, more: Attached) -> list[str]:
    warnings: list[str] = []
    if found and found.hidden:
        others = ", ".join(file.name for file in found.hidden)
        warnings.append(
            f"{os.path.relpath(found.file, start)} is used; {others} beside it "
            f"{'is' if len(found.hidden) == 1 else 'are'} not read."
        )
    for key in ("kv_namespaces", "d1_databases"):
        for entry in _entries(resolved, key):
            if members(entry).get("remote") is True:
                binding = members(entry).get("binding")
                warnings.append(f'"remote" of {binding} has no effect: localedge is local only.')
    return warnings + not_run(resolved.values, more.classes())


def _entries(resolved: Resolved, key: str) -> list[Json]:
    value = resolved.get(key)
    return value if isinstance(value, list) else []


def _entry(model: type[Entry], value: Json) -> Entry:
    """The entry's members that count here; unknown ones have been warned of."""
    return model.model_validate(
        {k: v for k, v in members(value).items() if k in model.model_fields}
    )


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _limits(value: Json) -> Limits:
    numbers = {key: item for key, item in members(value).items() if isinstance(item, int | float)}
    return Limits.model_validate(
        {k: int(v) for k, v in numbers.items() if k in Limits.model_fields}
    )
