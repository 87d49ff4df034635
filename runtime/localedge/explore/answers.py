"""What a client asks and what it gets."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

_WORKER_ERROR: Final = 500


@dataclass(frozen=True, slots=True)
class Ask:
    """One event for a worker: a request, a cron trigger, or a call of worker code.

    Shape: `kind` is "fetch", "scheduled" or "run".
    """

    kind: str
    method: str = "GET"
    path: str = "/"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    function: Callable[..., Awaitable[Any]] | None = None
    arguments: tuple[Any, ...] = ()

    def __str__(self) -> str:
        if self.kind == "fetch":
            return f"{self.method} {self.path}"
        if self.kind == "scheduled":
            return f"cron {self.path}"
        given = ", ".join(map(repr, self.arguments))
        return f"{getattr(self.function, '__name__', self.function)}({given})"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Shape: a worker that was killed is status 500 with `is_killed`; one that raised is status 500
    with `error`; `value` is what a call of worker code returned.
    """

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    value: Any = None
    error: str = ""
    is_killed: bool = False

    @property
    def is_error(self) -> bool:
        """Whether a client that wants an answer has to ask again."""
        return self.status >= _WORKER_ERROR

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    def __getitem__(self, name: str) -> Any:
        return self.json[name]

    def __contains__(self, name: object) -> bool:
        return name in self.json

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for answers that no client can tell apart."""
        return (self.status, self.body, repr(self.value), self.is_killed)

    def __str__(self) -> str:
        if self.is_killed:
            return "no answer: the worker died"
        if self.error:
            return f"{self.status}: {self.error}"
        shown = self.body.decode("utf-8", "replace") if self.body else repr(self.value)
        return f"{self.status} {shown[:200]}"


KILLED: Final = Answer(_WORKER_ERROR, is_killed=True)


@dataclass(frozen=True, slots=True)
class Memo:
    """The end of one operation of a client, so that it need not be played again."""

    answers: tuple[Answer, ...] = ()
    value: Any = None
    key: tuple[object, ...] = field(default=(), compare=False)


def memo_of(*answers: Answer, value: Any = None) -> Memo:
    """What `answers`, or a `value` that the client has looked up, are remembered as."""
    return Memo(answers, value, (*(answer.key for answer in answers), repr(value)))
