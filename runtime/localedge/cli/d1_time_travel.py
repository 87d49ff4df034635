"""`localedge d1 time-travel`: back to an earlier state of a local database, and back again.

Source: wrangler 4 packages/wrangler/src/d1/timeTravel, read 2026-12-01. There it acts on remote
databases only.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

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
    Yes,
    local_flags,
)
from localedge.cli.d1_moment import moment_ms, shown_moment
from localedge.cli.d1_target import Target, is_interactive, require_project, target, used_file
from localedge.cli.progress import progress
from localedge.cli.server_clock import its_clock
from localedge.d1.copies import Copy, at, budget_of, is_bookmark
from localedge.d1.time_travel import Restored, TimeTravel
from localedge.errors import Exit, OperatorError
from localedge.supervisor.state import read_run

app = typer.Typer(no_args_is_help=True, help="Go back to an earlier state of a database.")

Timestamp = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Unix seconds, or like 2026-12-24T18:00:00Z."),
]


@app.command()
def info(
    database: Database,
    timestamp: Timestamp = None,
    remote: Remote = False,
    persist_to: PersistTo = "",
    config: Config = None,
    env: Env = None,
    cwd: Cwd = None,
    json: Json = False,
) -> None:
    """Say which bookmark the database has now, or had at a moment, and which copies are kept.

    Examples: localedge d1 time-travel info DB
    · localedge d1 time-travel info DB --timestamp 2026-12-24T18:00:00Z
    """
    with output.failing_as_json(json):
        flags = local_flags(cwd, config, env, persist_to, remote)
        found = target(flags, require_project(flags), database)
        travel = travel_of(found)
        with its_clock(read_run(found.state)):
            copy = _at(travel, timestamp) if timestamp else _kept(travel, database)
    copies = travel.copies()
    if json:
        shown = [_shown(one) for one in copies]
        output.print_json({**_shown(copy), "copies": shown})
        return
    if timestamp:
        typer.echo(
            f"Timestamp '{timestamp}' corresponds with bookmark '{copy.bookmark}', "
            f"of {shown_moment(copy.taken_ms)}."
        )
    else:
        typer.echo(f"The current bookmark is '{copy.bookmark}'")
    output.tell("To restore to this specific bookmark, run:")
    output.tell(f" `localedge d1 time-travel restore {database} --bookmark={copy.bookmark}`")
    size_mb = sum(one.size_bytes for one in copies) / 1e6
    output.tell(
        f"Kept are {len(copies)} copies from {shown_moment(copies[0].taken_ms)} on, with "
        f"{size_mb:.1f} of {travel.budget.size_bytes / 1e6:.0f} MB."
    )


@app.command()
def restore(
    database: Database,
    bookmark: Annotated[
        str | None, typer.Option(metavar="BOOKMARK", help="Bookmark to use for time travel.")
    ] = None,
    timestamp: Timestamp = None,
    remote: Remote = False,
    persist_to: PersistTo = "",
    config: Config = None,
    env: Env = None,
    cwd: Cwd = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Restore a database back to a specific point in time, while a server runs too.

    Examples: localedge d1 time-travel restore DB --timestamp 2026-12-24T18:00:00Z
    · localedge d1 time-travel restore DB --bookmark=00000000-0000002a-00000000-…
    """
    with output.failing_as_json(json):
        if bookmark and timestamp:
            raise _usage("Provide either a timestamp, or a bookmark - not both.")
        if not bookmark and not timestamp:
            raise _usage("Provide either a timestamp or a bookmark")
        flags = local_flags(cwd, config, env, persist_to, remote)
        found = target(flags, require_project(flags), database)
        travel = travel_of(found)
        with its_clock(read_run(found.state)):
            copy = _named(travel, bookmark) if bookmark else _at(travel, timestamp or "")
            if not json and not _may_restore(database, copy, yes):
                return
            restored = _restored(travel, copy, database)
    if json:
        told = {"message": "Database restored", "previous_bookmark": restored.before.bookmark}
        output.print_json({"bookmark": restored.now.bookmark, **told})
        return
    typer.echo(f"Database {database} restored back to bookmark {copy.bookmark}")
    typer.echo(
        "To undo this operation, you can restore to the previous bookmark: "
        f"{restored.before.bookmark}"
    )


def travel_of(found: Target) -> TimeTravel:
    """The kept copies of a database. Errors: OperatorError (exit 4) when it was never used."""
    local = found.project.local
    budget = budget_of(local.time_travel_mb, local.time_travel_copies)
    return TimeTravel(used_file(found), budget, durability=local.durability)


async def keep_before(found: Target) -> None:
    """There is a way back to the database as it is before a command writes to it.

    Shape: not for one that does not exist yet or is larger than the budget.
    """
    if found.file.exists() and (travel := travel_of(found)).has_room():
        await travel.keep("before")


def _may_restore(database: str, copy: Copy, is_yes: bool) -> bool:
    output.tell(f"Restoring database {database} from bookmark {copy.bookmark}")
    output.tell(
        f"This will overwrite all data in database {database}.\nWrites wait until it is done."
    )
    if is_yes or not is_interactive():
        return True
    return typer.confirm("OK to proceed", default=False, err=True)


def _kept(travel: TimeTravel, database: str) -> Copy:
    with progress(f"Copying {database}"):
        return asyncio.run(travel.keep("asked"))


def _restored(travel: TimeTravel, copy: Copy, database: str) -> Restored:
    with progress(f"Restoring {database}", 100) as advance:
        return asyncio.run(
            travel.restore(copy, lambda done, total: advance(100 * done // max(1, total)))
        )


def _named(travel: TimeTravel, bookmark: str) -> Copy:
    copies = travel.copies()
    for copy in copies:
        if copy.bookmark == bookmark:
            return copy
    if not is_bookmark(bookmark):
        raise OperatorError(
            "d1/bookmark",
            f"'{bookmark}' is no bookmark.",
            "Bookmarks look like 00000000-0000002a-00000000-… with 32 more hexadecimal digits; "
            "`localedge d1 time-travel info` prints them.",
            exit=Exit.USAGE,
        )
    raise OperatorError(
        "d1/no-copy", f"No copy is kept for the bookmark {bookmark}.", _known(copies)
    )


def _at(travel: TimeTravel, timestamp: str) -> Copy:
    moment = moment_ms(timestamp)
    copies = travel.copies()
    copy = at(copies, moment)
    if copy is None:
        raise OperatorError(
            "d1/no-copy", f"No copy is kept from {timestamp} or before.", _known(copies)
        )
    return copy


def _known(copies: list[Copy]) -> str:
    if not copies:
        return (
            "There are none yet: `localedge dev` keeps one a minute of what has changed, "
            "`localedge d1 time-travel info` keeps one now."
        )
    first, last = shown_moment(copies[0].taken_ms), shown_moment(copies[-1].taken_ms)
    return f"There are {len(copies)}, from {first} to {last}."


def _shown(copy: Copy) -> dict[str, object]:
    return {
        "bookmark": copy.bookmark,
        "timestamp": shown_moment(copy.taken_ms),
        "cause": copy.cause,
        "size": copy.size_bytes,
    }


def _usage(message: str) -> OperatorError:
    return OperatorError(
        "d1/flags", message, "localedge d1 time-travel info DB prints bookmarks.", exit=Exit.USAGE
    )
