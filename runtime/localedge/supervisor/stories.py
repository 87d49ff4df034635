"""The requests of a server, each with all that happened for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from localedge.supervisor import happenings as what
from localedge.supervisor.happenings import Happening

MOST_STORIES: Final = 500
_LONG: Final = ("headers", "answered", "body", "answer")
MOST_OF_ONE: Final = 1_000
"""Happenings kept of one request; of more, how many there were."""
MOST_IN_ALL: Final = 20_000
MOST_BODY_BYTES: Final = 1_000_000
"""A larger body is not kept: that request cannot be sent again."""
MOST_BODIES_BYTES: Final = 32_000_000


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it came, to be sent again. Shape: `body` None when it had none."""

    method: str
    url: str
    lines: tuple[tuple[bytes, bytes], ...]
    body: bytes | None


@dataclass(slots=True)
class Story:
    """One request.

    Shape: `happened` is in order, without those beyond `MOST_OF_ONE`, which `missing` counts;
    `sent` is None for what cannot be sent again.
    """

    ray: str
    first_at_ms: float
    happened: list[Happening] = field(default_factory=list)
    missing: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    pid: int | None = None
    state: str = "open"
    sent: Sent | None = None

    def add(self, happening: Happening) -> bool:
        """Take `happening` in; whether it is kept."""
        kind = happening.kind
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind in (what.REQUEST_OPENED, what.REQUEST_CLOSED):
            self.facts.update(happening.facts)
            self.pid = happening.pid or self.pid
            if self.state != "over":
                self.state = "open" if kind == what.REQUEST_OPENED else "closed"
        elif kind == what.REQUEST_OVER:
            self.state = "over"
        if len(self.happened) >= MOST_OF_ONE and kind in (what.CALL_BEGAN, what.CALL_ENDED):
            self.missing += 1
            return False
        self.happened.append(happening)
        return True

    def summary(self) -> dict[str, Any]:
        """A line of the list of requests, as JSON."""
        facts = {name: value for name, value in self.facts.items() if name not in _LONG}
        return {
            "ray": self.ray,
            "at": round(self.first_at_ms, 3),
            "pid": self.pid,
            "state": self.state,
            "calls": self.counts.get(what.CALL_BEGAN, 0),
            "lines": self.counts.get(what.CONSOLE, 0),
            "canReplay": self.sent is not None or self.facts.get("method") == what.CRON,
            **facts,
        }

    def whole(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {
            **self.summary(),
            **{name: self.facts.get(name) for name in _LONG},
            # They come on several ways, and not always in the order in which they happened.
            "happened": [one.shown() for one in sorted(self.happened, key=_moment)],
            "missing": self.missing,
        }


def _moment(happening: Happening) -> float:
    return happening.at_ms


class Stories:
    """The last requests, by ray; the oldest make room."""

    def __init__(self) -> None:
        self._by_ray: dict[str, Story] = {}
        self._happenings = 0
        self._body_bytes = 0

    def __iter__(self) -> Iterator[Story]:
        return iter(self._by_ray.values())

    def get(self, ray: str) -> Story | None:
        """The request of that ray, None when it is not known any more."""
        return self._by_ray.get(ray)

    def add(self, happening: Happening) -> None:
        """`happening` belongs to the request of its ray."""
        ray = happening.ray
        story = self._by_ray.get(ray)
        if story is None:
            story = self._by_ray[ray] = Story(ray, happening.at_ms)
        if story.add(happening):
            self._happenings += 1
        while len(self._by_ray) > MOST_STORIES or (
            self._happenings > MOST_IN_ALL and len(self._by_ray) > 1
        ):
            self._drop(next(iter(self._by_ray)))

    def keep(self, ray: str, sent: Sent) -> None:
        """`sent` is how the request of `ray`, which is known, can be sent again."""
        story = self._by_ray.get(ray)
        size = len(sent.body or b"")
        if story is None or size > MOST_BODY_BYTES:
            return
        self._body_bytes += size
        story.sent = sent
        for other in self._by_ray.values():
            if self._body_bytes <= MOST_BODIES_BYTES:
                return
            if other is not story and other.sent is not None and other.sent.body:
                self._body_bytes -= len(other.sent.body)
                other.sent = None

    def clear(self) -> None:
        """No request is known any more."""
        self._by_ray.clear()
        self._happenings = self._body_bytes = 0

    def _drop(self, ray: str) -> None:
        story = self._by_ray.pop(ray)
        self._happenings -= len(story.happened)
        if story.sent is not None:
            self._body_bytes -= len(story.sent.body or b"")
