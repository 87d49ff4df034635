"""The world outside of workers: an HTTP service, and the log of what happened there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

import httpx

_HARMLESS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that happened outside because a worker did it.

    Shape: `name` is "POST /charges", or what the scenario calls it; `key` by which the other side
    knows a repetition, None if it takes none; `worker` counts incarnations from 1.
    """

    name: str
    key: str | None
    worker: int
    at_s: float
    answer: str = "null"


@dataclass(frozen=True, slots=True)
class Order:
    """A request as the service sees it; `number` counts the effects before it."""

    method: str
    path: str
    query: dict[str, str]
    body: bytes
    key: str | None
    number: int

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body) if self.body else None


Answering = Callable[[Order], Any]


@dataclass(frozen=True, slots=True)
class Service:
    """What answers a worker's `fetch`.

    Shape: `answers` has by "METHOD /path" the JSON answer, or a function from Order to it; every
    request that is not a GET is an effect of that name. Paths in `keyed` honour the header
    `idempotency-key`: the same key is the same effect and gets the first answer again. Without
    `answers` everything is answered with {"ok": true}; with them, other paths with 404.
    """

    answers: Mapping[str, Any | Answering] = field(default_factory=dict)
    keyed: frozenset[str] | set[str] = frozenset()


class Outside(httpx.AsyncBaseTransport):
    """The effect log, and the network that leads to it.

    Shape: `happened` in order; `resent` counts the times that a key was seen again. `on_mistake`
    is told when the service's own code fails, which the worker sees as a lost connection.
    """

    def __init__(
        self,
        service: Service,
        moment: Callable[[], tuple[int, float]],
        write: Callable[[Effect | None], None] = lambda _effect: None,
    ) -> None:
        self._service = service
        self._moment = moment
        self._write = write
        self.happened: tuple[Effect, ...] = ()
        self.resent = 0
        self.on_mistake: Callable[[Exception], None] = lambda _error: None

    def count(self, name: str) -> int:
        """How often the effect `name` happened."""
        return sum(effect.name == name for effect in self.happened)

    def counts(self) -> Counter[str]:
        """Every effect by name, with how often it happened."""
        return Counter(effect.name for effect in self.happened)

    def happen(self, name: str, *, key: str | None = None, answer: Any = None) -> Any:
        """The effect `name` happens, unless `key` has been seen; the answer to it."""
        if key is not None:
            for effect in self.happened:
                if effect.key == key and effect.name == name:
                    self.resent += 1
                    self._write(None)
                    return json.loads(effect.answer)
        worker, at_s = self._moment()
        effect = Effect(name, key, worker, at_s, json.dumps(answer))
        self.happened = (*self.happened, effect)
        self._write(effect)
        return answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        name = f"{request.method} {request.url.path}"
        given = self._service.answers
        if given and name not in given:
            return httpx.Response(404, json={"error": f"there is nothing at {name}"})
        key = request.headers.get("idempotency-key") if name in self._service.keyed else None
        order = Order(
            request.method,
            request.url.path,
            dict(parse_qsl(request.url.query.decode())),
            await request.aread(),
            key,
            len(self.happened),
        )
        answer = given.get(name, {"ok": True})
        try:
            answer = answer(order) if callable(answer) else answer
            if request.method not in _HARMLESS:
                answer = self.happen(name, key=key, answer=answer)
            return httpx.Response(200, json=answer)
        except Exception as error:
            self.on_mistake(error)
            raise httpx.ConnectError(f"the scenario's service failed at {name}") from error
