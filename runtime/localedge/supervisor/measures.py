"""What a server counts all the time, for `/cdn-cgi/localedge/metrics`: numbers only.

The counters are plain dictionaries, because a Prometheus counter takes a lock at each step: it
would cost a request more than all the rest of what is told of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from localedge.tally import BOUNDS_S, Durations, Key, Row

_LONGEST_NAME: Final = 100


class Measures:
    """Requests, calls and endings of isolates, since the server began.

    Shape: `requests` by outcome and status, `durations` of requests by outcome, `endings` of
    isolates by cause.
    """

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.durations: dict[str, Durations] = {}
        self.endings: Counter[str] = Counter()
        self._gone: dict[Key, Durations] = {}

    def request(self, outcome: str, status: int, took_s: float) -> None:
        """A request was answered."""
        self.requests[outcome, status] += 1
        durations = self.durations.get(outcome)
        if durations is None:
            durations = self.durations[outcome] = Durations()
        durations.add(took_s)

    def ending(self, cause: str, calls: object) -> None:
        """An isolate is gone that had told of `calls`, and why."""
        self.endings[cause] += 1
        _merge(self._gone, rows_of(calls))

    def calls(self, alive: Iterable[object]) -> Mapping[Key, Durations]:
        """The calls of all isolates; those that live have told of `alive`."""
        merged: dict[Key, Durations] = {}
        _merge(merged, ((key, one.total_s, one.counts) for key, one in self._gone.items()))
        for told in alive:
            _merge(merged, rows_of(told))
        return merged


def rows_of(told: object) -> list[Row]:
    """The rows of a tally as an isolate has told them; what has not the form of one is dropped.

    The isolate runs foreign code.
    """
    rows: list[Row] = []
    for row in told if isinstance(told, list | tuple) else ():
        match row:
            case [[str(), str(), str(), str()] as key, float(total_s), counts] if _are_counts(
                counts
            ):
                kind, binding, operation, outcome = (name[:_LONGEST_NAME] for name in key)
                rows.append(((kind, binding, operation, outcome), total_s, list(counts)))
    return rows


def _are_counts(counts: Any) -> bool:
    is_whole = isinstance(counts, list | tuple) and len(counts) == len(BOUNDS_S) + 1
    return is_whole and all(type(count) is int and count >= 0 for count in counts)


def _merge(into: dict[Key, Durations], rows: Iterable[Row]) -> None:
    for key, total_s, counts in rows:
        into.setdefault(key, Durations()).merge(total_s, counts)
