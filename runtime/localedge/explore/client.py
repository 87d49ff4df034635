"""The client of a scenario: what it asks, and how it goes on after an error."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from localedge.explore.answers import Answer, Ask, Memo, memo_of
from localedge.explore.outcome import Broken, Outcome
from localedge.explore.outside import Outside
from localedge.explore.scenario import Scenario


class GaveUp(Exception):  # noqa: N818  (what the client does)
    """The client has asked as often as it wanted to and got no answer without error."""

    def __init__(self, ask: Ask, tries: int, last: Answer) -> None:
        super().__init__(f"{ask}: no answer without error in {tries} tries; the last: {last}")


class Played(Protocol):
    """The run that a client is part of."""

    memo: list[Memo]
    asked: int

    async def perform(self, asks: tuple[Ask, ...]) -> tuple[Answer, ...]:
        """The answers to `asks`, which are sent at once."""

    def pass_time(self, seconds: float) -> None:
        """It is `seconds` later."""

    def now_s(self) -> float:
        """Seconds since the epoch, for workers."""

    @property
    def outside(self) -> Outside:
        """The effect log."""


class Client:
    """Sends requests to a worker and sees what its user sees.

    All that it learns comes from its methods; it must not use anything else that changes.
    """

    def __init__(self, scenario: Scenario, run: Played) -> None:
        self._scenario = scenario
        self._run = run
        self._at = 0

    # --- asking ---

    async def get(self, path: str, **options: Any) -> Answer:
        """The answer to a GET."""
        return await self.request("GET", path, **options)

    async def post(self, path: str, json: Any = None, **options: Any) -> Answer:
        """The answer to a POST of `json`."""
        return await self.request("POST", path, json=json, **options)

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        tries: int | None = None,
    ) -> Answer:
        """The answer to a request; without error, unless `tries` is 1."""
        return await self._insist(self.order(method, path, json=json, headers=headers), tries)

    async def run(self, function: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
        """What `function(env, *arguments)` returns, run as a worker."""
        return (await self._insist(self.call(function, *arguments), None)).value

    async def once(self, ask: Ask) -> Answer:
        """The answer to `ask`, with or without error: it is not sent again."""
        return await self._insist(ask, 1)

    async def scheduled(self, cron: str = "* * * * *") -> Answer:
        """The cron trigger fires, once."""
        return await self._insist(Ask("scheduled", path=cron), 1)

    async def at_once(self, *asks: Ask) -> list[Answer]:
        """The answers to `asks` (from `order` and `call`), sent together.

        Those that end with an error are sent again, one after the other.
        """
        answers = list(await self._perform(asks))
        for place, answer in enumerate(answers):
            if answer.is_error:
                await self.sleep(self._scenario.wait_s)
                answers[place] = await self._insist(asks[place], None)
        return answers

    async def repeated(self, times: int, ask: Ask) -> list[Answer]:
        """The answers to `ask`, sent `times` times, each after the answer to the one before."""
        return [await self._insist(ask, None) for _ in range(times)]

    @staticmethod
    def order(
        method: str, path: str, *, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> Ask:
        """A request for `at_once` or `repeated`."""
        body = None if json is None else jsonlib.dumps(json).encode()
        lines = {name.lower(): value for name, value in (headers or {}).items()}
        if body is not None:
            lines.setdefault("content-type", "application/json")
        return Ask("fetch", method, path, tuple(lines.items()), body)

    @staticmethod
    def call(function: Callable[..., Awaitable[Any]], *arguments: Any) -> Ask:
        """A call of worker code for `at_once` or `repeated`."""
        return Ask("run", function=function, arguments=arguments)

    async def _insist(self, ask: Ask, tries: int | None) -> Answer:
        tries = self._scenario.tries if tries is None else tries
        (answer,) = await self._perform((ask,))
        for _ in range(tries - 1):
            if not answer.is_error:
                return answer
            await self.sleep(self._scenario.wait_s)
            (answer,) = await self._perform((ask,))
        if answer.is_error and tries > 1:
            raise GaveUp(ask, tries, answer)
        return answer

    # --- looking and waiting ---

    async def sleep(self, seconds: float) -> None:
        """It is `seconds` later."""
        if self._next() is None:
            self._run.pass_time(seconds)
            self._remember(memo_of())

    async def now(self) -> float:
        """Seconds since the epoch."""
        return float(self._looked(self._run.now_s))

    async def happened(self, name: str) -> int:
        """How often the effect `name` has happened outside so far: a person looks."""
        return int(self._looked(lambda: self._run.outside.count(name)))

    async def effects(self) -> dict[str, int]:
        """Every effect outside so far, with how often it happened."""
        found: dict[str, int] = self._looked(lambda: dict(self._run.outside.counts()))
        return dict(found)

    def asked(self) -> None:
        """The worker has a question that a person must answer: the run counts as ASKED."""
        self._run.asked += 1

    def broken(self, outcome: Outcome, text: str) -> None:
        """What must hold does not. Errors: Broken, always."""
        raise Broken(outcome, text)

    # --- operations that were played already are not played again ---

    def _next(self) -> Memo | None:
        memo = self._run.memo
        if self._at < len(memo):
            self._at += 1
            return memo[self._at - 1]
        return None

    def _remember(self, memo: Memo) -> None:
        self._run.memo.append(memo)
        self._at += 1

    async def _perform(self, asks: tuple[Ask, ...]) -> tuple[Answer, ...]:
        known = self._next()
        if known is not None:
            return known.answers
        answers = await self._run.perform(asks)
        self._remember(memo_of(*answers))
        return answers

    def _looked(self, look: Callable[[], Any]) -> Any:
        known = self._next()
        if known is None:
            known = memo_of(value=look())
            self._remember(known)
        return known.value
