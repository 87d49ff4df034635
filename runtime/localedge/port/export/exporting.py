"""From a project to a folder that pywrangler deploys."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from localedge.d1.migrations import migration_folder
from localedge.errors import OperatorError
from localedge.port.check.checking import check_project
from localedge.port.check.finding import Finding
from localedge.port.export import bundle, config
from localedge.port.export.commands import Command, commands
from localedge.port.export.describing import describe
from localedge.port.export.gathering import Library, bring_library, gather
from localedge.port.export.target import recorded, refuse_existing, refuse_place, replace, write
from localedge.project import load
from localedge.project.document import Json
from localedge.project.loading import locate, resolve_file
from localedge.project.models import D1Database, KVNamespace, Project
from localedge.project.reading import read


@dataclass(frozen=True, slots=True)
class Done:
    """An export: its folder, its files relative to it, what to do next, and what to know."""

    folder: Path
    files: tuple[str, ...]
    removed: tuple[str, ...]
    commands: tuple[Command, ...]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]


def export(
    project: Project, value: Json, folder: Path, *, library: Library, force: bool = False
) -> Done:
    """`folder` has all that the edge needs of `project`, whose configuration says `value`.

    Shape: files that an earlier export wrote there are replaced with `force`, and ids that it was
    given on the edge stay; other files are left alone.
    Errors: OperatorError, and nothing was changed.
    """
    refuse_place(project, folder)
    if not force:
        refuse_existing(folder)
    exported = config.convert(value, project.root, project.file.name)
    if (folder / config.NAME).is_file() and force:
        config.keep_ids(exported.value, read(folder / config.NAME, shown=config.NAME).value)
    files = gather(project, exported)
    with tempfile.TemporaryDirectory(prefix="localedge-export-") as made:
        staged = Path(made)
        write(staged, files.contents)
        bring_library(staged, exported, library, files)
        describe(staged, project, exported, files)
        bundle.refuse_secrets(files.contents, project.secrets)
        findings = _check(staged, project.environment or "")
    removed = replace(folder, files.contents, was=recorded(folder) if force else ())
    return Done(
        folder,
        tuple(sorted(files.contents)),
        removed,
        tuple(_commands(folder, project, exported, files.contents)),
        tuple(files.notes),
        tuple(findings),
    )


def _check(staged: Path, environment: str) -> list[Finding]:
    """What the check says of the export.

    Errors: OperatorError when a package has no build for the edge.
    """
    found = locate(staged, staged / config.NAME)
    resolved = resolve_file(found, environment, start=staged)
    file = staged / config.NAME
    project = load(start=staged, config=file, environment=environment, process_env={}, to_run=False)
    findings = check_project(project, resolved)
    lacking = [one.text(staged) for one in findings if one.rule.id == "no-edge-build"]
    if lacking:
        raise OperatorError("export/no-edge-build", "\n".join(lacking), "Nothing was written.")
    return findings


def _commands(
    folder: Path, project: Project, exported: config.Exported, contents: Mapping[str, bytes]
) -> list[Command]:
    shared = [*_shared(project.kv_namespaces), *_shared(project.d1_databases)]
    places = {migrations.directory: place for migrations, place in exported.migrations}
    migrated = []
    for entry in project.d1_databases:
        directory = migration_folder(project.root, project.file.name, entry).directory
        place = places.get(directory, directory)
        if any(name.startswith(f"{place}/") and name.endswith(".sql") for name in contents):
            migrated.append(entry.binding)
    return commands(
        folder,
        exported.value,
        project.environment,
        shared=shared,
        secrets=sorted(project.secrets),
        migrated=migrated,
    )


def _shared(
    entries: tuple[KVNamespace, ...] | tuple[D1Database, ...],
) -> list[tuple[str, str]]:
    first: dict[str, str] = {}
    found = []
    for entry in entries:
        if entry.storage_id in first:
            found.append((entry.binding, first[entry.storage_id]))
        first.setdefault(entry.storage_id, entry.binding)
    return found
