"""What running a program needs of the driver's connection (`sqlite` has the real one)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Cursor(Protocol):
    """A cursor as the DB API has it."""

    @property
    def lastrowid(self) -> int | None:
        """The connection's last inserted rowid."""

    @property
    def description(self) -> Any:
        """One entry per column, its name first; None when there are no rows to have."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Any:
        """Begin to run `sql`."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def fetchall(self) -> list[Any]:
        """All rows that are left."""


class Connection(Protocol):
    """A connection of Python's sqlite3, without its name."""

    text_factory: Any

    @property
    def is_stopped(self) -> bool:
        """Whether what runs was told to end."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""

    @property
    def total_changes(self) -> int:
        """Rows changed since the connection was opened."""

    @property
    def Error(self) -> type[Exception]:  # noqa: N802  (the DB API's name)
        """The class of every error of the driver."""

    @property
    def Warning(self) -> type[Exception]:  # noqa: N802  (the DB API's name)
        """The class of the driver's warnings, which older Pythons raise."""

    @property
    def ProgrammingError(self) -> type[Exception]:  # noqa: N802  (the DB API's name)
        """The class of errors in the use of the driver."""

    def cursor(self) -> Cursor:
        """A new cursor."""

    def limit_length(self, size_bytes: int) -> None:
        """No text, BLOB or row may be longer than `size_bytes`."""

    def create_function(
        self, name: str, narg: int, func: Callable[..., Any] | None, /, *, deterministic: bool = ...
    ) -> None:
        """Register `func`, or take a registered one off again."""

    def create_window_function(self, name: str, num_params: int, aggregate_class: Any, /) -> None:
        """Register a window function."""
