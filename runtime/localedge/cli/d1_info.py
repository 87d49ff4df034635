"""`localedge d1 info`: what there is to know of a local database.

Source: wrangler 4 packages/wrangler/src/d1/info.ts, read 2026-12-01.
"""

from __future__ import annotations

import typer

from localedge.cli import d1_output as output
from localedge.cli.d1_flags import (
    Config,
    Cwd,
    Database,
    Env,
    Json,
    PersistTo,
    Remote,
    local_flags,
)
from localedge.cli.d1_moment import shown_moment
from localedge.cli.d1_target import Target, require_project, target
from localedge.cli.d1_time_travel import travel_of
from localedge.cli.table import fitted
from localedge.d1.dump import table_count


def info(
    database: Database,
    remote: Remote = False,
    persist_to: PersistTo = "",
    config: Config = None,
    env: Env = None,
    cwd: Cwd = None,
    json: Json = False,
) -> None:
    """Get information about a D1 database: its size, its tables, and the copies kept of it.

    Examples: localedge d1 info DB · localedge d1 info DB --json
    """
    with output.failing_as_json(json):
        flags = local_flags(cwd, config, env, persist_to, remote)
        found = target(flags, require_project(flags), database)
        known = _known(found)
    if json:
        output.print_json(known)
        return
    known["database_size"] = _size(known["database_size"])
    known["time_travel_size"] = _size(known["time_travel_size"])
    rows = [(name, "" if value is None else str(value)) for name, value in known.items()]
    typer.echo(fitted([found.entry.binding, found.entry.storage_id], rows))


def _known(found: Target) -> dict[str, object]:
    travel = travel_of(found)
    copies = travel.copies()
    wal = found.file.with_name(f"{found.file.name}-wal")
    return {
        "name": found.entry.database_name or found.entry.binding,
        "file": str(found.file),
        "num_tables": table_count(found.file),
        "database_size": found.file.stat().st_size,
        "wal_size": wal.stat().st_size if wal.exists() else 0,
        "time_travel_copies": len(copies),
        "time_travel_size": sum(copy.size_bytes for copy in copies),
        "time_travel_from": shown_moment(copies[0].taken_ms) if copies else None,
        "time_travel_to": shown_moment(copies[-1].taken_ms) if copies else None,
    }


def _size(size_bytes: object) -> str:
    """Like 12.3 kB, in decimal units as wrangler has them."""
    size = float(str(size_bytes))
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
