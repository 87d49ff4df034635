"""`localedge d1 export`: a local database as a .sql file.

Source: wrangler 4 packages/wrangler/src/d1/export.ts, read 2026-12-01.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from localedge.cli import d1_output as output
from localedge.cli.d1_flags import (
    Config,
    Cwd,
    Database,
    Env,
    Json,
    Local,
    PersistTo,
    Remote,
    local_flags,
)
from localedge.cli.d1_target import Target, require_project, target, used_file
from localedge.cli.progress import progress
from localedge.d1.dump import Told, Wanted, count_rows, dumped
from localedge.errors import Exit, OperatorError


def export(
    database: Database,
    output_file: Annotated[
        Path, typer.Option("--output", metavar="FILE", help="Which .sql file to write.")
    ],
    table: Annotated[
        list[str] | None, typer.Option(help="Only this table; may be given several times.")
    ] = None,
    no_data: Annotated[bool, typer.Option("--no-data", help="Only the schema.")] = False,
    no_schema: Annotated[bool, typer.Option("--no-schema", help="Only the rows.")] = False,
    local: Local = False,
    remote: Remote = False,
    persist_to: PersistTo = "",
    config: Config = None,
    env: Env = None,
    cwd: Cwd = None,
    json: Json = False,
) -> None:
    """Export the contents or schema of your database as a .sql file.

    Examples: localedge d1 export DB --output backup.sql
    · localedge d1 export DB --output users.sql --table users --no-schema
    """
    with output.failing_as_json(json):
        if no_data and no_schema:
            raise OperatorError(
                "d1/flags",
                "You cannot specify both --no-schema and --no-data",
                "Leave one of them away: nothing would be exported.",
                exit=Exit.USAGE,
            )
        flags = local_flags(cwd, config, env, persist_to, remote)
        found = target(flags, require_project(flags), database)
        path = flags.cwd / output_file
        wanted = Wanted(tuple(table or ()), not no_schema, not no_data)
        if not json:
            output.tell(f"Exporting local database {database} ({found.entry.storage_id}):")
        told = _write(found, wanted, path)
    if told.too_long and not json:
        output.tell(
            f"{told.too_long} rows make statements of more than 100,000 bytes, which D1 refuses."
        )
    if json:
        output.print_json({"output": str(path), "tables": told.tables, "rows": told.rows})
        return
    tables = f"{told.tables} table{'' if told.tables == 1 else 's'}"
    rows = f"{told.rows} row{'' if told.rows == 1 else 's'}"
    typer.echo(f"Exported {tables} with {rows} to {output_file}.")


def _write(found: Target, wanted: Wanted, path: Path) -> Told:
    """The file is whole or not there. Errors: OperatorError."""
    used_file(found)
    told = Told()
    draft = path.with_name(f".{path.name}.new")
    total = count_rows(found.file, wanted) if sys.stderr.isatty() else 0
    try:
        if path.is_dir():
            raise IsADirectoryError(21, os.strerror(21))
        with progress(f"Exporting {found.name}", total) as advance, draft.open("wb") as stream:
            # As wrangler: lines are apart, the last one has no end.
            between = ""
            for statement in dumped(found.file, wanted, told, advance):
                stream.write(f"{between}{statement}".encode())
                between = "\n"
        draft.replace(path)
    except OSError as exc:
        raise OperatorError(
            "d1/cannot-write",
            f"{path} cannot be written: {exc.strerror}.",
            "Name a file in a folder that exists and can be written: --output FILE.",
        ) from exc
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
    return told
