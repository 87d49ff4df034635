"""D1 migrations: numbered SQL files, applied once each, recorded in the database."""

from localedge.d1.migrations.applying import (
    DEFAULT_TABLE,
    Applied,
    MigrationError,
    Migrations,
    StatementResult,
    apply_migrations,
    run_batch,
)
from localedge.d1.migrations.folder import MigrationFolder, migration_folder
from localedge.d1.migrations.splitting import split

__all__ = [
    "DEFAULT_TABLE",
    "Applied",
    "MigrationError",
    "MigrationFolder",
    "Migrations",
    "StatementResult",
    "apply_migrations",
    "migration_folder",
    "run_batch",
    "split",
]
