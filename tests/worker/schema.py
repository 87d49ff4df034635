"""The tables of the reference worker, made from the repo's own migrations."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

MIGRATIONS = Path(__file__).parents[2] / "migrations"


def create_tables(database: Path) -> None:
    """Every migration is applied to the new file `database`."""
    with closing(sqlite3.connect(database)) as connection:
        # A file that no test has seen yet need not survive a power cut.
        connection.execute("PRAGMA synchronous=OFF")
        for migration in sorted(MIGRATIONS.glob("*.sql")):
            connection.executescript(migration.read_text("utf-8"))


def rows(database: Path, sql: str) -> list[tuple[object, ...]]:
    """What `sql` selects, read past the worker."""
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(sql).fetchall()
