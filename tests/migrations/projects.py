"""Small projects on disk for the tests of migrations."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from localedge.d1.files import database_file

STORAGE_ID = "d1-id"
BIG = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {count})\n"


def make_project(root: Path, migrations: dict[str, str], **keys: Any) -> Path:
    """A project in `root` with one database DB, `keys` in its entry, and `migrations`."""
    entry = {"binding": "DB", "database_name": "app", "database_id": STORAGE_ID, **keys}
    config = {"name": "shop", "compatibility_date": "2026-10-01", "d1_databases": [entry]}
    (root / "wrangler.jsonc").write_text(json.dumps(config))
    folder = root / "migrations"
    folder.mkdir()
    for name, text in migrations.items():
        (folder / name).write_text(text)
    return root


def database_of(root: Path) -> Path:
    """The database's file of the project in `root`."""
    return database_file(root / ".localedge", STORAGE_ID)


def query(root: Path, sql: str) -> list[tuple[Any, ...]]:
    """The rows of `sql`, read by a plain connection."""
    with closing(sqlite3.connect(database_of(root))) as connection:
        return connection.execute(sql).fetchall()


def ledger(root: Path) -> list[str]:
    """The names that are recorded as applied."""
    return [name for (name,) in query(root, "SELECT name FROM d1_migrations ORDER BY id")]


def has_applied(root: Path, name: str) -> bool:
    """Whether `name` is recorded as applied, in a database that may still be coming."""
    if not database_of(root).exists():
        return False
    try:
        return name in ledger(root)
    except sqlite3.OperationalError:
        return False
