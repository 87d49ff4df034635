"""What travels to the database thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from localedge.d1.engine import Query, Result, Value


class Program(str):
    """Queries for one transaction, in the shape of SQL text.

    aiosqlite's public way to run something in the database thread in one hop is to execute a
    text; the driver recognises this one, and leaves the outcome in `results`.

    Shape: `now_s` is the worker's time where it differs from the machine's, else None; `real_s`
    is the machine's, filled in when `now_s` was given. `is_one_look` for one statement that reads,
    of which only the rows are asked for: it needs no transaction around it.
    """

    __slots__ = (
        "is_one_look",
        "is_read_only",
        "now_s",
        "queries",
        "real_s",
        "results",
        "sets_pragma",
    )

    queries: Sequence[Query]
    now_s: float | None
    real_s: float | None
    results: list[Result]
    is_read_only: bool
    is_one_look: bool
    sets_pragma: bool

    def __new__(cls, queries: Sequence[Query], *, now_s: float | None = None) -> Program:
        self = super().__new__(cls, "program")
        self.queries = queries
        self.now_s = now_s
        self.real_s = None
        self.results = []
        self.is_read_only = True
        self.sets_pragma = False
        for query in queries:
            self.is_read_only &= query.parsed.is_read_only
            self.sets_pragma |= query.parsed.sets_pragma
        self.is_one_look = (
            self.is_read_only
            and len(queries) == 1
            and len(queries[0].parsed.statements) == 1
            and not queries[0].is_measured
        )
        return self


class BookmarkRequest(str):
    """Asks for the bookmark's counter, which is left in `counter`."""

    __slots__ = ("counter",)

    counter: int


class InOrder(dict[str, Value]):
    """Answers each name with the next value: named parameters are filled by first appearance.

    The driver takes values for names from a mapping only, asks for each name once, in order,
    and leaves out the name's first character, so that `:a` and `@a` would be the same.
    """

    def __init__(self, values: Iterable[Value]) -> None:
        super().__init__()
        self._values = iter(values)

    def __getitem__(self, _name: str) -> Value:
        return next(self._values)
