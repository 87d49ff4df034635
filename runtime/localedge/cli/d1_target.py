"""Which database a `d1` command is about.

Source: recorded answers of wrangler 4.164 (reference/kv-d1-contract.md section 3), read 2026-12-01.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from localedge import project
from localedge.d1.files import database_file
from localedge.d1.migrations import DEFAULT_TABLE, MigrationFolder, migration_folder
from localedge.errors import Exit, OperatorError
from localedge.project.models import D1Database, Project


@dataclass(frozen=True, slots=True)
class Flags:
    """What every `d1` command takes.

    Shape: `cwd` is where a relative path starts, `persist_to` "" when it is not given.
    """

    cwd: Path
    configs: Sequence[Path]
    environment: str | None
    env_files: Sequence[Path] = ()
    is_local: bool = False
    is_remote: bool = False
    is_preview: bool = False
    persist_to: str = ""

    def check(self) -> None:
        """Errors: OperatorError for flags that contradict each other or need the edge."""
        if self.is_local and self.is_remote:
            raise _refused("Error: can't use --local and --remote at the same time")
        if self.is_preview and not self.is_remote:
            raise _refused(
                "Cannot use --preview without --remote. The --preview flag targets a preview D1 "
                "database, which requires the --remote flag. Remove --preview or add --remote."
            )
        if self.persist_to and not self.is_local:
            raise _refused(
                "Cannot use --persist-to without --local. The --persist-to flag specifies a local "
                "persistence directory, which requires the --local flag. Remove --persist-to or "
                "add --local."
            )
        if self.is_remote:
            raise _refused(
                "Cannot use --remote: localedge has local databases only.",
                "Remove --remote, or use wrangler for the database at the edge.",
            )


def _refused(message: str, hint: str = "") -> OperatorError:
    return OperatorError("d1/flags", message, hint)


def load_project(flags: Flags) -> Project | None:
    """The project that `flags` point at, its warnings told; None when there is none.

    Errors: OperatorError for a config file that is wrong, or named and missing.
    """
    config = flags.configs[0] if flags.configs else None
    try:
        found = project.load(
            start=flags.cwd,
            config=config,
            environment=flags.environment,
            env_files=tuple(flags.env_files),
            process_env=os.environ,
            to_run=False,
        )
    except OperatorError as error:
        if error.code == "config/not-found" and config is None:
            return None
        raise
    for warning in found.warnings:
        typer.echo(warning, err=True)
    return found


# Differs: wrangler ends with 1 whatever went wrong; here usage is 2, configuration 3, storage 4.
def require_project(flags: Flags) -> Project:
    """The project that `flags` point at. Errors: OperatorError when there is none."""
    found = load_project(flags)
    if found is None:
        raise OperatorError(
            "config/not-found",
            "No configuration file found. Create a wrangler.jsonc file to define your D1 database.",
            exit=Exit.CONFIG,
        )
    return found


@dataclass(frozen=True, slots=True)
class Target:
    """One database of a project.

    Shape: `name` is what the user called it; `state` the folder of local state.
    """

    name: str
    project: Project
    entry: D1Database
    state: Path

    @property
    def file(self) -> Path:
        """The database's file."""
        return database_file(self.state, self.entry.storage_id)

    @property
    def table(self) -> str:
        """The ledger's table."""
        return self.entry.migrations_table or DEFAULT_TABLE


def find_entry(found: Project | None, name: str) -> D1Database | None:
    """The entry of `d1_databases` with `name` as its binding or database_name."""
    entries = found.d1_databases if found else ()
    return next((e for e in entries if name in (e.database_name, e.binding)), None)


def target(flags: Flags, found: Project | None, name: str) -> Target:
    """The database that `name` means.

    Errors: OperatorError when the config has none of that name.
    """
    entry = find_entry(found, name)
    if found is None or entry is None:
        file = found.file.name if found else "Wrangler configuration"
        raise OperatorError(
            "d1/unknown-database",
            f"Couldn't find a D1 DB with the name or binding '{name}' in your {file} file.",
            _known(found),
        )
    state = flags.cwd / flags.persist_to if flags.persist_to else found.state
    return Target(name, found, entry, state)


def used_file(found: Target) -> Path:
    """The file of the database. Errors: OperatorError (exit 4) when there is none yet."""
    if not found.file.exists():
        raise OperatorError(
            "d1/no-database",
            f"the database {found.name} has never been used: {found.file} does not exist.",
            f"Apply its migrations first: localedge d1 migrations apply {found.name}",
            exit=Exit.UNREACHABLE,
        )
    return found.file


def _known(found: Project | None) -> str:
    names = [entry.binding for entry in found.d1_databases] if found else []
    return f"It has {', '.join(names)}." if names else ""


def folder_of(found: Project, name: str) -> MigrationFolder:
    """The migrations of the database `name`; the default folder when there is no such database."""
    entry = find_entry(found, name) or D1Database(binding=name)
    return migration_folder(found.root, found.file.name, entry)


def is_interactive() -> bool:
    """Whether somebody is there to answer a question."""
    is_ci = os.environ.get("CI", "").lower() not in ("", "0", "false")
    return sys.stdin.isatty() and sys.stdout.isatty() and not is_ci
