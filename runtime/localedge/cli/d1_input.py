"""The SQL that `d1 execute` is given.

Source: recorded answers of wrangler 4.164 (reference/kv-d1-contract.md section 3), read 2026-12-01.
"""

from __future__ import annotations

from pathlib import Path

import typer

from localedge.errors import OperatorError

_SQLITE_MAGIC = b"SQLite format 3"
_BOM = "\ufeff"
# The longer marks first: UTF-32 LE begins like UTF-16 LE.
_FOREIGN_MARKS = {
    "UTF-32 BE": b"\x00\x00\xfe\xff",
    "UTF-32 LE": b"\xff\xfe\x00\x00",
    "UTF-16 BE": b"\xfe\xff",
    "UTF-16 LE": b"\xff\xfe",
}


def single(values: list[str] | None) -> str:
    """The only one of `values`, "" when there is none.

    Errors: BadParameter for an option that was given more than once.
    """
    if values and len(values) > 1:
        raise typer.BadParameter(f"expected a single value, but received multiple: {values}")
    return values[0] if values else ""


def check_input(command: str, file: str) -> None:
    """Errors: OperatorError unless exactly one of the two is given."""
    if command and file:
        raise OperatorError("d1/flags", "Error: can't provide both --command and --file.", "")
    if not command and not file:
        raise OperatorError(
            "d1/flags",
            "Missing required option --command or --file. Provide a SQL command inline with "
            '--command="<SQL>", or a path to a SQL file with --file=<path>.',
        )


def read_sql(folder: Path, file: str) -> str:
    """The text of `file`, which is relative to `folder`, without a byte order mark.

    Shape: bytes that are not UTF-8 become U+FFFD.
    Errors: OperatorError for what cannot be read, a SQLite database, and UTF-16 or UTF-32.
    """
    try:
        content = (folder / file).read_bytes()
    except (OSError, ValueError) as exc:
        raise OperatorError(
            "d1/cannot-read",
            f'Unable to read SQL text file "{file}". Please check the file path and try again.',
        ) from exc
    if content.startswith(_SQLITE_MAGIC):
        raise OperatorError(
            "d1/binary-file",
            "Provided file is a binary SQLite database file instead of an SQL text file. The "
            "execute command can only process SQL text files. Please export an SQL file from your "
            "SQLite database and try again.",
        )
    for encoding, mark in _FOREIGN_MARKS.items():
        if content.startswith(mark):
            raise OperatorError(
                "d1/encoding",
                f"Configuration file contains {encoding} byte order marker",
                f'Save "{file}" as UTF-8.',
            )
    return content.decode("utf-8", "replace").removeprefix(_BOM)


def argument_text(argument: str) -> str:
    """An argument of the command line as UTF-8 says it: other bytes become U+FFFD."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
