"""Where a database's migrations lie, which there are, and how a new one is made.

Source: reference/kv-d1-contract.md section 3 and recorded answers of wrangler 4.164, read
2026-12-01.
"""

from __future__ import annotations

import json
import os
import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from localedge import clock
from localedge.d1.migrations.glob import Glob
from localedge.d1.migrations.naming import file_name, next_number, order_key
from localedge.errors import OperatorError
from localedge.values import JsDate

DEFAULT_DIR: Final = "./migrations"


class DatabaseEntry(Protocol):
    """One entry of `d1_databases`."""

    @property
    def binding(self) -> str: ...
    @property
    def storage_id(self) -> str: ...
    @property
    def migrations_dir(self) -> str | None: ...
    @property
    def migrations_table(self) -> str | None: ...
    @property
    def migrations_pattern(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class MigrationFolder:
    """The migrations of one database.

    Shape: `directory` and `pattern` are relative to `root`, the folder of the config file
    `config_name`; `is_configured` when `migrations_dir` says where they are.
    """

    root: Path
    config_name: str
    directory: str
    pattern: str
    is_configured: bool

    @property
    def path(self) -> Path:
        """The folder itself, absolute."""
        return Path(os.path.normpath(self.root / self.directory))

    @property
    def missing_text(self) -> str:
        """What to say when the folder is not there."""
        advice = (
            f" Set `migrations_dir` in your {self.config_name} file to choose a different path."
        )
        return "No migrations folder found." + ("" if self.is_configured else advice)

    def require(self) -> None:
        """Errors: OperatorError when there is no folder (a file in its place holds none)."""
        if not self.path.exists():
            raise OperatorError(
                "d1/no-migrations",
                f"No migrations present at {self.path}.",
                "`localedge d1 migrations create` makes the folder with its first file.",
            )

    def names(self) -> list[str]:
        """The migrations there are, relative to the folder, in the order of their application."""
        return _matching(self.path, Glob(_below(self.pattern, self.directory) or ""))

    def hint(self) -> str | None:
        """Advice for a folder without a match that has drizzle's layout."""
        if not _matching(self.path, Glob("*/migration.sql")):
            return None
        theirs = normalized(f"{self.directory}/*/migration.sql")
        return (
            f"Could not find any migration files matching `{self.pattern}`. It looks like there "
            f"are migration files matching `{theirs}` though. If you are using drizzle to manage "
            f"your migrations, please set `migrations_pattern` to `{theirs}` in "
            f"{self.config_name}."
        )

    def new_name(self, message: str) -> str:
        """The file name for a new migration that does `message`.

        Errors: OperatorError for a separator in it, or when the pattern would miss the file.
        """
        if "/" in message or "\\" in message:
            raise OperatorError(
                "d1/migration-name",
                f"The migration name {json.dumps(message, ensure_ascii=False)} contains a path "
                'separator ("/" or "\\"). Please remove this and try again.',
            )
        name = file_name(next_number(self.names()), message)
        path = normalized(f"{self.directory}/{name}")
        if not Glob(self.pattern).matches(path):
            raise OperatorError(
                "d1/migration-name",
                f"Wrangler would like to make a new migration called `{path}` but it does not "
                f'match the configured `migrations_pattern: "{self.pattern}"` in your '
                f"{self.config_name} file, so `wrangler d1 migrations apply` would not pick it up. "
                "`wrangler d1 migrations create` only writes top-level files inside "
                "`migrations_dir`.\n\n"
                "If you are using an ORM like drizzle to manage migrations, use the ORM's command "
                "(e.g. `drizzle-kit generate`) instead of `wrangler d1 migrations create` — it "
                "will create files in the nested layout your `migrations_pattern` expects.\n\n"
                f"Otherwise, change `migrations_pattern` in your {self.config_name} file to match "
                f"top-level `.sql` files (for example, `{self.directory}/*.sql`).",
            )
        return name

    def write(self, name: str) -> Path:
        """Make the file `name`, whose only line says its number and the time.

        Errors: OperatorError when it cannot be written, or is there already.
        """
        number = name.partition("_")[0]
        path = self.path / name
        line = f"-- Migration number: {number} \t {JsDate(clock.now_ms()).iso()}\n"
        try:
            if not self.path.exists():
                self.path.mkdir(parents=True)
            with path.open("x", encoding="utf-8", newline="") as file:
                file.write(line)
        except OSError as exc:
            hint = "Make the folder writable, or name another as migrations_dir."
            raise OperatorError("d1/cannot-write", f"{path}: {exc.strerror}.", hint) from exc
        return path


def migration_folder(root: Path, config_name: str, database: DatabaseEntry) -> MigrationFolder:
    """Where the migrations of `database` lie, as the config says.

    Errors: OperatorError for a pattern that does not begin with `migrations_dir`.
    """
    raw_dir, raw_pattern = database.migrations_dir, database.migrations_pattern
    if raw_pattern is not None and raw_dir is None:
        raise OperatorError(
            "d1/migrations-pattern",
            f'You have set `migrations_pattern: "{raw_pattern}"` in your {config_name} file but '
            "have not set `migrations_dir` for this D1 binding.\n\n"
            "When `migrations_pattern` is set, `migrations_dir` must also be set, and "
            "`migrations_pattern` must start with `${migrations_dir}/`. Add a `migrations_dir` "
            f'entry to your {config_name} file (for example, `"migrations_dir": "migrations"`).',
        )
    directory = normalized(DEFAULT_DIR if raw_dir is None else raw_dir)
    default = normalized(f"{directory}/*.sql")
    pattern = default if raw_pattern is None else normalized(raw_pattern)
    if _below(pattern, directory) is None:
        raise OperatorError(
            "d1/migrations-pattern",
            f'The configured `migrations_pattern: "{raw_pattern}"` in your {config_name} file '
            f'must start with `{directory}/` to match `"migrations_dir": "{directory}"`.\n\n'
            f"Either change `migrations_pattern` so it starts with `{directory}/` (for example, "
            f'`"{default}"`), or change `migrations_dir` to match the start of your pattern.',
        )
    return MigrationFolder(root, config_name, directory, pattern, raw_dir is not None)


def normalized(path: str) -> str:
    """`path` with `/` only, without `.`, needless `..` and a final `/`."""
    text = posixpath.normpath(path.replace("\\", "/"))
    return text.replace("//", "/").removesuffix("/")


def _below(pattern: str, directory: str) -> str | None:
    """`pattern` relative to `directory`, or None when it is not under it."""
    if directory == ".":
        return pattern
    prefix = f"{directory}/"
    return pattern.removeprefix(prefix) if pattern.startswith(prefix) else None


def _matching(folder: Path, glob: Glob) -> list[str]:
    found = []
    unread = [""]
    while unread:
        below = unread.pop()
        try:
            entries = list(os.scandir(folder / below))
        except OSError:
            continue
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir(follow_symlinks=False):
                if glob.could_contain(path):
                    unread.append(path)
            elif entry.is_file(follow_symlinks=False) and glob.matches(path):
                found.append(_checked(path))
    return sorted(found, key=order_key)


def _checked(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError as exc:
        raise OperatorError(
            "d1/migration-name", f"The migration name {name!a} is not UTF-8.", "Rename it."
        ) from exc
    return name
