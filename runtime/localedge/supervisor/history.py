"""What has happened in this server: told by all its parts, read by the page and the command line.

While nobody looks, a request costs one entry in a short list, and isolates record no calls. Who
looks gets everything from then on, and of what was before: the last requests, the lines that
workers wrote, and the isolates that came and went.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from localedge.isolate.failures import Failure
from localedge.isolate.secrets import MASK, Mask
from localedge.isolate.steps import Step
from localedge.isolate.texts import cut
from localedge.supervisor import happenings as what
from localedge.supervisor.endings import CRASHED, Ending, Endings
from localedge.supervisor.happenings import Happening, Ring, wall_ms
from localedge.supervisor.measures import Measures
from localedge.supervisor.stories import MOST_BODY_BYTES, Sent, Stories

if TYPE_CHECKING:
    from localedge.supervisor.forks import Record
    from localedge.supervisor.isolates import Isolate

LINGER_S: Final = 15 * 60.0
"""How long calls are recorded after the last look: a crash is worth coming back for."""
_MOST_UNSEEN: Final = 100
_MOST_UNSEEN_BODY_BYTES: Final = 64 * 1024
_PRIVATE: Final = frozenset(
    (b"authorization", b"proxy-authorization", b"cookie", b"set-cookie", b"x-api-key", b"api-key")
)
_FROM_ISOLATES: Final = frozenset((what.CALL_BEGAN, what.CALL_ENDED))

Line = tuple[bytes, bytes]


class Arrived(Protocol):
    """A request as the gateway has it. Units: `began` by `time.perf_counter`, in seconds."""

    began: float
    body: bytes | None
    lines: list[Line]
    method: str
    ray: str
    replay_of: str | None
    secrets: Mapping[str, str]
    url: str

    @property
    def shown_url(self) -> str:
        """The URL without the values of secrets."""


class Closing(NamedTuple):
    """How a request ended. Shape: `lines` are the response's headers, `body` is whole or None."""

    status: int
    outcome: str = "ok"
    pid: int | None = None
    failure: Failure | None = None
    lines: Sequence[Line] = ()
    body: bytes | None = None


class History:
    """The happenings of one server.

    Shape: `is_watching` while calls are recorded; `on_watch` is called when that changes;
    `measures` count all the time.
    """

    def __init__(
        self,
        on_watch: Callable[[bool], None] = lambda _: None,
        trail_of: Callable[[int], tuple[Step, ...]] = lambda _: (),
    ) -> None:
        self.is_watching = False
        self.ring = Ring()
        self.stories = Stories()
        self.measures = Measures()
        self.endings = Endings()
        self._on_watch = on_watch
        self._trail_of = trail_of
        self._unseen: deque[tuple[Arrived, Closing, float]] = deque(maxlen=_MOST_UNSEEN)
        self._over_early: dict[str, int] = {}
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._mask: tuple[Mapping[str, str], Mask] = ({}, Mask())

    def look(self) -> None:
        """Somebody looks: calls are recorded from now on, until `LINGER_S` after the last look."""
        self._until = time.monotonic() + LINGER_S
        if self.is_watching:
            return
        self.is_watching = True
        self._on_watch(True)
        self._timer = asyncio.get_running_loop().call_later(LINGER_S, self._rest)
        unseen, self._unseen = [*self._unseen], deque(maxlen=_MOST_UNSEEN)
        for request, closing, ended in unseen:
            self._opened(request, closing.pid)
            self._closed(request, closing, ended)

    def opened(self, request: Arrived, pid: int | None) -> None:
        """The isolate `pid` has got `request`. Called while watching only."""
        self._opened(request, pid)

    def closed(self, request: Arrived, closing: Closing) -> None:
        """`request` was answered, now."""
        now = time.perf_counter()
        self.measures.request(closing.outcome, closing.status, now - request.began)
        if self.is_watching:
            self._closed(request, closing, now)
            return
        if request.body is not None and len(request.body) > _MOST_UNSEEN_BODY_BYTES:
            request.body = None
        self._unseen.append((request, closing, now))

    def over(self, ray: str, pid: int) -> None:
        """What the request's `waitUntil` was given has ended too. Called while watching only."""
        story = self.stories.get(ray)
        if story is not None and story.state == "open":
            # It may end before its response is out: that is told first.
            self._over_early[ray] = pid
            return
        self.add(what.REQUEST_OVER, ray=ray, pid=pid)

    def failed(
        self, ray: str, pid: int | None, failure: Failure, at_ms: float | None = None
    ) -> None:
        """Worker code raised, and that ended its event."""
        text = {"error": failure.kind, "message": failure.message, "traceback": failure.text}
        self.add(what.EXCEPTION, ray=ray, pid=pid, at_ms=at_ms, **text)

    def line(self, record: Record, at_s: float) -> None:
        """Worker code wrote a line, at that reading of the monotonic clock."""
        pid, _, ray, level, text = record
        self.add(what.CONSOLE, ray=ray, pid=pid, at_ms=wall_ms(at_s), level=level, text=text)

    def seen(self, pid: int, ray: str, facts: dict[str, Any], at_s: float) -> None:
        """An isolate has recorded something. What it has not the form of is dropped: the isolate
        runs foreign code."""
        kind = facts.pop("kind", None) if isinstance(facts, dict) else None
        if kind in _FROM_ISOLATES and isinstance(at_s, float) and isinstance(ray, str):
            self.add(kind, ray=ray, pid=pid, at_ms=wall_ms(at_s), **facts)

    def isolate_ready(self, isolate: Isolate, boot_ms: float) -> None:
        """`isolate` has loaded its worker."""
        self.add(
            what.ISOLATE_READY,
            pid=isolate.pid,
            generation=isolate.generation,
            boot_ms=round(boot_ms, 1),
        )

    def isolate_ended(self, isolate: Isolate, rays: Mapping[int, str]) -> None:
        """`isolate` is gone, and had the requests `rays`, by the numbers of their events."""
        ending = Ending(
            pid=isolate.pid,
            generation=isolate.generation,
            at_ms=time.time() * 1000,
            cause=isolate.cause or CRASHED,
            rays=rays,
            served=isolate.served,
            age_s=time.monotonic() - isolate.started,
            was_watched=self.is_watching,
            trail=self._trail_of(isolate.pid),
        )
        self.endings.add(ending)
        self.measures.ending(ending.cause, isolate.tally)
        self.add(
            what.ISOLATE_ENDED,
            pid=ending.pid,
            generation=ending.generation,
            cause=ending.cause,
            in_flight=[*rays.values()],
            age_s=round(ending.age_s, 3),
        )

    def exited(self, pid: int, status: int) -> None:
        """The process `pid` has ended with that status."""
        self.endings.exited(pid, status)
        self.add(what.PROCESS_EXITED, pid=pid, status=status)

    def clock_moved(self, offset_s: float) -> None:
        """The workers' clock is `offset_s` ahead now."""
        self.add(what.CLOCK_MOVED, offset_s=offset_s)

    def add(
        self,
        kind: str,
        *,
        ray: str = "",
        pid: int | None = None,
        at_ms: float | None = None,
        **facts: Any,
    ) -> None:
        """Something happened: now, unless `at_ms` says when."""
        at_ms = time.time() * 1000 if at_ms is None else at_ms
        happening = Happening(self.ring.newest + 1, at_ms, kind, ray, pid, facts)
        if ray:
            self.stories.add(happening)
        self.ring.add(happening)
        if kind == what.REQUEST_CLOSED and ray in self._over_early:
            self.add(what.REQUEST_OVER, ray=ray, pid=self._over_early.pop(ray))

    def close(self) -> None:
        """The server ends: nobody waits for more."""
        if self._timer is not None:
            self._timer.cancel()
        self.ring.close()

    def _opened(self, request: Arrived, pid: int | None) -> None:
        self.add(
            what.REQUEST_OPENED,
            ray=request.ray,
            pid=pid,
            at_ms=wall_ms(request.began),
            method=request.method,
            url=request.shown_url,
            headers=self._shown_lines(request, request.lines),
            **({"replayOf": request.replay_of} if request.replay_of else {}),
        )

    def _closed(self, request: Arrived, closing: Closing, ended: float) -> None:
        ray, failure, at_ms = request.ray, closing.failure, wall_ms(ended)
        if failure is not None:
            self.failed(ray, closing.pid, failure, at_ms)
        self.add(
            what.REQUEST_CLOSED,
            ray=ray,
            pid=closing.pid,
            at_ms=at_ms,
            status=closing.status,
            outcome=closing.outcome,
            ms=round((ended - request.began) * 1000, 3),
            answered=self._shown_lines(request, closing.lines),
            body=self._shown_body(request, request.body),
            answer=self._shown_body(request, closing.body),
        )
        has_body = any(n in (b"content-length", b"transfer-encoding") for n, _ in request.lines)
        if not has_body or (request.body is not None and len(request.body) <= MOST_BODY_BYTES):
            sent = Sent(request.method, request.url, tuple(request.lines), request.body)
            self.stories.keep(ray, sent)

    def _masking(self, request: Arrived) -> Mask:
        if self._mask[0] is not request.secrets:
            self._mask = (request.secrets, Mask(request.secrets.values()))
        return self._mask[1]

    def _shown_body(self, request: Arrived, body: bytes | None) -> str | None:
        if not body:
            return None
        try:
            return cut(self._masking(request)(body.decode()))
        except UnicodeDecodeError:
            return f"{len(body):,} bytes"

    def _shown_lines(self, request: Arrived, lines: Sequence[Line]) -> list[list[str]]:
        mask = self._masking(request)
        return [
            [name.decode("latin-1"), MASK if name in _PRIVATE else mask(value.decode("latin-1"))]
            for name, value in lines
        ]

    def _rest(self) -> None:
        """Calls are recorded no more, unless somebody has looked meanwhile."""
        left_s = self._until - time.monotonic()
        if left_s > 0:
            self._timer = asyncio.get_running_loop().call_later(left_s, self._rest)
            return
        self._timer = None
        self._over_early.clear()
        self.is_watching = False
        self._on_watch(False)
