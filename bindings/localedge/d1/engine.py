"""What D1 needs of an SQL engine: programs of queries, each program one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

from localedge.d1.statements import Parsed

Value: TypeAlias = int | float | str | bytes | None
Row: TypeAlias = tuple[Value, ...]


class Query(NamedTuple):
    """One prepared text with its values.

    Shape: `parsed` may hold several statements; `values` belong to the last one, positional.
    Without `is_measured` the result's `size_after` is left out.
    """

    parsed: Parsed
    values: tuple[Value, ...] = ()
    is_measured: bool = True


class Result(NamedTuple):
    """What one query did.

    Shape: `columns` and `rows` are those of its last statement; `changes` sums all statements,
    triggers and cascades included; `last_row_id` is the database's last inserted rowid, sticky;
    `rows_read` and `rows_written` are estimates.
    Units: `size_after` in bytes, `duration_ms` in milliseconds.
    """

    columns: tuple[str, ...]
    rows: list[Row]
    changes: int
    last_row_id: int
    changed_db: bool
    size_after: int
    rows_read: int
    rows_written: int
    duration_ms: float


class EngineError(Exception):
    """A program failed and left nothing behind.

    Shape: `text` is the engine's own, with its codes:
    "UNIQUE constraint failed: u.e: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)";
    `done`, where it is known, counts the queries before the one that failed, all of them when
    committing failed.
    """

    def __init__(self, text: str, *, done: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.done = done


class Engine(Protocol):
    """One D1 database. Programs run one after the other, in the order of their calls."""

    async def run(self, queries: Sequence[Query]) -> list[Result]:
        """Run `queries` as one transaction and return one result each.

        Errors: EngineError, after which nothing of the program remains. A cancelled call may
        have committed: its outcome is unknown.
        """

    async def bookmark(self) -> str:
        """A text that sorts after the bookmarks of everything committed before this call."""
