"""What the page and its API show of D1."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from localedge.inspector.kv_models import BindingShown


class Shown(BaseModel):
    """What is shown: read once, never written back."""

    model_config = ConfigDict(frozen=True)


class Cut(Shown):
    """A value that is not shown whole.

    Shape: `kind` is "text" or "blob"; `part` the start of it, of a BLOB in hexadecimal. Units:
    `size` in characters of a text, bytes of a BLOB.
    """

    kind: Literal["text", "blob"]
    part: str
    size: int


Cell = str | int | float | None | Cut


class DatabaseShown(Shown):
    """A database, under all the names that workers have for it.

    Shape: `size_bytes` is None for one that has never been used.
    """

    id: str
    name: str
    bindings: tuple[BindingShown, ...]
    file: str
    size_bytes: int | None


class ColumnShown(Shown):
    """A column. Shape: `key` is its place in the primary key, from 1; 0 outside of it."""

    name: str
    type: str
    is_required: bool
    default: str | None
    key: int


class IndexShown(Shown):
    """An index, with the SQL that made it; a constraint's has none."""

    name: str
    columns: tuple[str, ...]
    is_unique: bool
    sql: str | None


class TableShown(Shown):
    """A table or view. Shape: `rows` is None beyond `MOST_COUNTED`: counting takes time."""

    name: str
    kind: Literal["table", "view"]
    rows: int | None
    columns: tuple[ColumnShown, ...]
    indexes: tuple[IndexShown, ...]
    triggers: tuple[str, ...]
    sql: str


class Rows(Shown):
    """A page of rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: bool


class Asked(Shown):
    """What the console is to run. Shape: `params` belong to the only, or the last, statement."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sql: str
    params: tuple[str | int | float | bool | None, ...] = ()


class Answer(Shown):
    """What one statement did. Shape: of the `count` rows only the first are in `rows`."""

    sql: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    count: int
    changes: int
    last_row_id: int
    rows_read: int
    rows_written: int
    duration_ms: float


class Ran(Shown):
    """What the console's statements did, all in one transaction.

    Shape: with an `error`, which has the platform's text, nothing was changed; `place` says which
    statement it was, when there are several.
    """

    answers: tuple[Answer, ...] = ()
    error: str | None = None
    place: str = ""


class PlanNode(Shown):
    """A step of the query plan. Shape: `depth` from 0; `is_scan` when it reads a whole table."""

    depth: int
    text: str
    is_scan: bool


class Plan(Shown):
    """How a statement would be run; `error` as of `Ran`."""

    nodes: tuple[PlanNode, ...] = ()
    error: str | None = None


class MigrationShown(Shown):
    """A migration. Shape: `applied_at` as the ledger has it, None while it is pending."""

    name: str
    applied_at: str | None
    has_file: bool


class MigrationsShown(Shown):
    """A database's migrations in their order. Shape: `folder` None when there is none."""

    folder: str | None
    migrations: tuple[MigrationShown, ...]
    pending: int


class Slow(Shown):
    """A statement that workers ran, and how long it took them.

    Shape: `ray` is the request of the slowest run. Units: milliseconds, as the worker waited.
    """

    sql: str
    binding: str
    runs: int
    failed: int
    slowest_ms: float
    mean_ms: float
    ray: str
