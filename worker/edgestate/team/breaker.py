"""A breaker per dependency: after failures in a row nobody asks for a while."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from edgestate import clock

State = Literal["closed", "open", "half_open"]


@dataclass(slots=True)
class Breaker:
    """Whether a dependency may be asked.

    Shape: after `failures_allowed` failures in a row it is open for `open_s`; then one call may
    try (half open), and its outcome decides. `opened` counts how often it opened.
    """

    name: str
    failures_allowed: int = 3
    open_s: float = 10.0
    opened: int = 0
    _failures: int = 0
    _open_until: float = 0.0

    @property
    def state(self) -> State:
        """What it is now."""
        if self._failures < self.failures_allowed:
            return "closed"
        return "open" if clock.now() < self._open_until else "half_open"

    def allows(self) -> bool:
        """Whether a call may be made now; half open, one in `open_s` may."""
        state = self.state
        if state == "half_open":
            self._open_until = clock.now() + self.open_s
        return state != "open"

    def succeeded(self) -> None:
        """A call went well: the breaker is closed."""
        self._failures = 0

    def failed(self) -> None:
        """A call failed."""
        self._failures += 1
        if self._failures >= self.failures_allowed:
            self.opened += 1
            self._open_until = clock.now() + self.open_s


class Tally(Counter[str]):
    """Counts that an isolate has not written down yet: timeouts, stale reads, open breakers."""

    def taken(self) -> dict[str, int]:
        """What was counted, and it is counted no more."""
        taken = {name: count for name, count in self.items() if count}
        self.clear()
        return taken
