"""The way from a command line to an agent's state, and the flags of the commands that go it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from edgestate.errors import StateError, StepNotFound, TaskNotFound
from localedge.binding import BindingWrapper
from localedge.cli.d1_target import Flags, Target, require_project, target, used_file
from localedge.cli.server_clock import its_clock
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.errors import Exit, OperatorError
from localedge.inspector.agents_data import without_tables
from localedge.probe import Probe
from localedge.project.models import Project
from localedge.supervisor.state import read_run

TaskId = Annotated[str, typer.Argument(metavar="TASK", help="The task's id.")]
Db = Annotated[str | None, typer.Option(help="The database; needed if there are several.")]
Config = Annotated[Path | None, typer.Option("--config", "-c", help="The config file.")]
Env = Annotated[str | None, typer.Option("--env", "-e", help="The environment to use.")]
PersistTo = Annotated[Path | None, typer.Option(help="The folder of the local state.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_HINTS: Final[dict[str, str]] = {
    TaskNotFound.code: "localedge agent list shows the tasks that there are, localedge trace ID "
    "those of a team.",
    StepNotFound.code: "localedge agent show TASK shows its steps.",
    "step_not_waiting": "localedge agent show TASK shows what it asks.",
    "decision_conflict": "localedge agent show TASK shows what was decided.",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the state is, as the command line says."""

    db: str | None
    config: Path | None
    env: str | None
    persist_to: Path | None

    def target(self) -> Target:
        """The database. Errors: OperatorError when there is none, or more than one."""
        flags = Flags(
            Path.cwd(),
            [self.config] if self.config else [],
            self.env,
            is_local=self.persist_to is not None,
            persist_to=str(self.persist_to or ""),
        )
        project = require_project(flags)
        return target(flags, project, self.db or _only_database(project))


@asynccontextmanager
async def agent_state(found: Target) -> AsyncIterator[Any]:
    """The database as a worker has it, at the time of the server that runs on it.

    Errors: OperatorError, also for what edgestate refuses inside.
    """
    file = used_file(found)
    with its_clock(read_run(found.state)):
        async with open_engine(file, durability=found.project.local.durability) as engine:
            try:
                yield BindingWrapper(D1Database(engine), found.entry.binding, Probe())
            except StateError as error:
                raise without_tables(error) or OperatorError(
                    f"agent/{error.code.replace('_', '-')}", str(error), _HINTS.get(error.code, "")
                ) from error


def _only_database(found: Project) -> str:
    names = [entry.binding for entry in found.d1_databases]
    if len(names) == 1:
        return names[0]
    if not names:
        raise OperatorError(
            "agent/no-database",
            f"{found.file.name} has no D1 database to keep state in.",
            "Add one under `d1_databases`.",
            exit=Exit.CONFIG,
        )
    raise OperatorError(
        "agent/which-database",
        f"{found.file.name} has {len(names)} D1 databases: {', '.join(names)}.",
        f"Name one: --db {names[0]}",
        exit=Exit.USAGE,
    )
