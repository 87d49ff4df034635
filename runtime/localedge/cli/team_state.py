"""The way from a command line to a team's state: the project's database, and its cache."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from edgestate.errors import StateError
from edgestate.team import D1Record, Deadlines
from localedge.binding import BindingWrapper
from localedge.cli.d1_target import Flags, require_project, target
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.errors import Exit, OperatorError
from localedge.probe import Probe

_PATIENT = Deadlines(read_s=30.0, write_s=30.0)


@asynccontextmanager
async def team_record(
    db: str | None, config: Path | None, env: str | None, persist_to: Path | None
) -> AsyncIterator[D1Record]:
    """The team's state in the project's database `db`, or in its only one.

    Errors: OperatorError when there is no such database, it has never been used (exit 4), or it
    has not the team's tables.
    """
    flags = Flags(
        Path.cwd(),
        [config] if config else [],
        env,
        is_local=persist_to is not None,
        persist_to=str(persist_to or ""),
    )
    project = require_project(flags)
    found = target(flags, project, db or _only(project.d1_databases))
    if not found.file.exists():
        raise OperatorError(
            "team/no-database",
            f"the database {found.name} has never been used: {found.file} does not exist.",
            "Apply the migrations, and let the team work first.",
            exit=Exit.UNREACHABLE,
        )
    async with open_engine(found.file) as engine:
        try:
            yield D1Record(BindingWrapper(D1Database(engine), "DB", Probe()), deadlines=_PATIENT)
        except StateError as error:
            if "no such table" not in str(error):
                raise
            raise OperatorError(
                "team/no-tables",
                f"the database {found.name} has no tables of edgestate.team.",
                f"Apply the library's migrations: localedge d1 migrations apply {found.name}.",
            ) from error


def _only(databases: object) -> str:
    entries = tuple(databases) if isinstance(databases, tuple | list) else ()
    if len(entries) != 1:
        raise OperatorError(
            "team/which-database",
            f"the project has {len(entries)} databases.",
            "Say which one: --db NAME.",
            exit=Exit.USAGE,
        )
    return str(entries[0].binding)
