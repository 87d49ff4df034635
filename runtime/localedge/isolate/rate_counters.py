"""How often something was counted: what the rate limits of all isolates share."""

from __future__ import annotations


class Counters:
    """How often each key of each namespace was counted in the period that runs.

    Shape: periods begin at multiples of their length since the epoch.
    """

    def __init__(self) -> None:
        self._periods: dict[tuple[str, int], int] = {}
        self._counts: dict[tuple[str, int], dict[str, int]] = {}

    def take(self, namespace_id: str, key: str, *, limit: float, period_s: int, now: float) -> bool:
        """Whether one more is within the limit; then it is counted. `now` is in s, Unix time."""
        which = (namespace_id, period_s)
        period = int(now // period_s)
        if self._periods.get(which) != period:
            self._periods[which] = period
            self._counts[which] = {}
        counts = self._counts[which]
        if counts.get(key, 0) >= limit:
            return False
        counts[key] = counts.get(key, 0) + 1
        return True
