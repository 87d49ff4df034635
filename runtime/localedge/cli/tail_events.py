"""What `localedge tail` shows: one event for each invocation, once nothing goes on for it any more.

Source: wrangler 4 packages/wrangler/src/tail (filters.ts, printing.ts), and
developers.cloudflare.com/workers/observability/logs/tail-workers, read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

Status: TypeAlias = Literal["ok", "error", "canceled"]
Happening: TypeAlias = dict[str, Any]

GRACE_S: Final = 0.2
_CRON: Final = "CRON"
_MOST_OPEN: Final = 2_000
_WORDS: Final = {
    "ok": "Ok",
    "canceled": "Canceled",
    "exceededCpu": "Exceeded CPU Limit",
    "exceededMemory": "Exceeded Memory Limit",
    "exceededWallTime": "Exceeded Wall Time Limit",
    "exception": "Exception Thrown",
    "internalError": "Isolate Killed",
    "notLoaded": "Worker Not Loaded",
    "responseStreamDisconnected": "Response Stream Disconnected",
}


@dataclass(slots=True)
class Invocation:
    """One request or cron, as far as it has come."""

    ray: str
    opened: Happening | None = None
    closed: Happening | None = None
    is_over: bool = False
    logs: list[Happening] = field(default_factory=list)
    exceptions: list[Happening] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether nothing more will come of it."""
        if self.closed is None:
            return False
        is_cron = self.opened is not None and self.opened["method"] == _CRON
        return self.is_over or is_cron or self.closed.get("outcome") != "ok"


class Assembly:
    """Makes invocations of happenings, each once, when it is whole.

    Units: what began before `since_ms` by the machine's clock is left out. `now_s` are readings of
    a clock that nobody moves.
    """

    def __init__(self, since_ms: float) -> None:
        self._since_ms = since_ms
        self._open: dict[str, Invocation] = {}
        self._whole: dict[str, float] = {}

    def feed(self, one: Happening, now_s: float) -> None:
        """`one` has happened."""
        if one["kind"] == "isolate.ended":
            self._ended(one.get("pid"), now_s)
            return
        ray = one.get("ray")
        invocation = self._of(ray, one) if ray else None
        if ray and invocation is not None:
            _add(invocation, one)
            if invocation.is_whole:
                self._whole.setdefault(ray, now_s)

    def taken(self, now_s: float) -> Iterator[Invocation]:
        """Those that have been whole for `GRACE_S`: lines of print come by a way of their own."""
        for ray, since_s in [*self._whole.items()]:
            if now_s - since_s >= GRACE_S:
                del self._whole[ray]
                yield self._open.pop(ray)

    def _of(self, ray: str, one: Happening) -> Invocation | None:
        found = self._open.get(ray)
        is_new = one["kind"] == "request.opened" and one["at"] >= self._since_ms
        if found is None and is_new:
            found = self._open[ray] = Invocation(ray)
            if len(self._open) > _MOST_OPEN:
                oldest = next(iter(self._open))
                del self._open[oldest]
                self._whole.pop(oldest, None)
        return found

    def _ended(self, pid: int | None, now_s: float) -> None:
        """What was answered, and whose `waitUntil` has ended with its isolate, is whole too."""
        for ray, invocation in self._open.items():
            if invocation.closed is not None and invocation.closed.get("pid") == pid:
                self._whole.setdefault(ray, now_s)


def _add(invocation: Invocation, one: Happening) -> None:
    match one["kind"]:
        case "request.opened":
            invocation.opened = one
        case "request.closed":
            invocation.closed = one
        case "request.over":
            invocation.is_over = True
        case "console":
            invocation.logs.append(one)
        case "exception":
            invocation.exceptions.append(one)


@dataclass(frozen=True, slots=True)
class Filters:
    """Which invocations are wanted: all that every one of them lets through.

    Shape: an empty one lets everything through; `header` is a name and, if not None, a part of
    its value.
    """

    statuses: Sequence[Status] = ()
    methods: Sequence[str] = ()
    header: tuple[str, str | None] | None = None
    search: str = ""
    rate: float | None = None

    def let(self, invocation: Invocation, chance: Callable[[], float]) -> bool:
        """Whether `invocation` is wanted; `chance` gives numbers of [0, 1)."""
        opened, closed = invocation.opened or {}, invocation.closed or {}
        if self.statuses and _status(closed.get("outcome")) not in self.statuses:
            return False
        if self.methods and opened.get("method", "").upper() not in self.methods:
            return False
        if self.header is not None and not _has_header(opened.get("headers") or [], *self.header):
            return False
        if self.search and not any(self.search in log["text"] for log in invocation.logs):
            return False
        return self.rate is None or chance() < self.rate


def _status(outcome: object) -> Status:
    if outcome == "ok":
        return "ok"
    return "canceled" if outcome == "canceled" else "error"


def _has_header(headers: Sequence[Sequence[str]], name: str, part: str | None) -> bool:
    return any(key.lower() == name and (part is None or part in value) for key, value in headers)


def as_json(invocation: Invocation, worker: str) -> dict[str, Any]:
    """The invocation in the form of the platform's tail events."""
    opened, closed = invocation.opened or {}, invocation.closed or {}
    return {
        "wallTime": closed.get("ms"),
        "truncated": False,
        "outcome": closed.get("outcome"),
        "scriptName": worker,
        "exceptions": [
            {
                "name": one["error"],
                "message": one["message"],
                "stack": one["traceback"],
                "timestamp": round(one["at"]),
            }
            for one in invocation.exceptions
        ],
        "logs": [
            {"message": [one["text"]], "level": one["level"], "timestamp": round(one["at"])}
            for one in invocation.logs
        ],
        "eventTimestamp": round(opened.get("at", 0)),
        "event": _event(opened, closed),
        "localedge": {"ray": invocation.ray, "pid": closed.get("pid")},
    }


def _event(opened: Happening, closed: Happening) -> dict[str, Any]:
    if opened.get("method") == _CRON:
        return {"cron": opened.get("url"), "scheduledTime": round(opened.get("at", 0))}
    return {
        "request": {
            "url": opened.get("url"),
            "method": opened.get("method"),
            "headers": dict(opened.get("headers") or []),
        },
        "response": {"status": closed.get("status")},
    }


def as_text(invocation: Invocation) -> str:
    """The invocation for a person, in wrangler's form."""
    opened, closed = invocation.opened or {}, invocation.closed or {}
    outcome = str(closed.get("outcome"))
    word = _WORDS.get(outcome, outcome)
    moment = datetime.fromtimestamp(opened.get("at", 0) / 1000, UTC)
    when = f"{moment:%Y-%m-%d %H:%M:%S}"
    if opened.get("method") == _CRON:
        lines = [f'"{opened.get("url")}" @ {when} - {word}']
    else:
        lines = [f"{opened.get('method')} {opened.get('url')} - {word} @ {when}"]
    lines += [f"  ({one['level']}) {one['text']}" for one in invocation.logs]
    lines += [f"  {one['error']}: {one['message']}" for one in invocation.exceptions]
    return "\n".join(lines)
