"""Losing a worker in the middle of a step, once its effect has happened outside."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from tests.demo.screen import Count, Screen, is_gone
from tests.demo.server import Isolate, Server, Trouble
from tests.demo.travel_control import TravelControl
from tests.waiting import wait_until

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Killed:
    """What was seen of the isolate that was killed, and how it left the task."""

    pid: int
    response: httpx.Response
    call: Json
    successor: int
    between: Json


@dataclass(frozen=True, slots=True)
class Act:
    """What an act is played on: `target` takes orders, `order` is the one of this act."""

    screen: Screen
    server: Server
    travel: TravelControl
    target: str
    order: Mapping[str, object]

    async def lose_the_isolate(self, step: str, happened: str) -> Killed:
        """The isolate that does `step` of the order is dead, its effect counted outside."""
        screen, travel = self.screen, self.travel
        await travel.hold_back(step)
        request = asyncio.ensure_future(self.server.http.post(self.target, json=self.order))
        try:
            call = await self._counted_outside(step, request)
            screen.line(f"POST /sessions/…/tasks is under way: {happened} outside, and counted;")
            screen.line("the answer has not reached the worker, so it has stored nothing of it.")
            before = await self.server.isolates()
            pid = await self._busy()
            os.kill(pid, signal.SIGKILL)
            screen.line(f"SIGKILL to isolate {pid}.", style="red")
            response = await request
        finally:
            request.cancel()
        lost = await travel.wait(step, "connection lost")
        screen.line(f"The client got: {response.status_code} {seen(response)}", style="red")
        screen.line(response.text.partition("\n")[0])
        await wait_until(lambda: is_gone(pid))
        successor = await self._fresh(before)
        screen.line(f"A fresh isolate, {successor}, has been started in its place.", style="green")
        between = await self._stored()
        return Killed(pid, response, lost | {"key": call["key"]}, successor, between)

    async def order_again(self) -> httpx.Response:
        """The answer to the same order. Trouble if the task was not taken up."""
        self.screen.line("The killed worker's lease on the task has to end first: until then")
        self.screen.line("nobody can know that it is dead, and not merely slow.")
        response = await self.server.http.post(self.target, json=self.order)
        self.screen.line(f"POST /sessions/…/tasks: {response.status_code} {seen(response)}")
        if response.status_code >= 400:
            raise Trouble(f"The task was not resumed:\n{response.text}")
        return response

    async def counts(self) -> list[Count]:
        """What the service has counted since the act began."""
        calls, effects = await self.travel.calls(), await self.travel.effects()
        happened = {(effect["action"], effect["key"]): effect["count"] for effect in effects}
        asked: dict[tuple[str, str], int] = {}
        for call in calls:
            name = (call["action"], call["key"] or "")
            asked[name] = asked.get(name, 0) + 1
        return [
            Count(action, key, calls, happened.get((action, key), 0))
            for (action, key), calls in asked.items()
        ]

    async def _counted_outside(self, step: str, request: asyncio.Future[httpx.Response]) -> Json:
        """The held-back call. Trouble if the request ends before the service has seen it."""
        held = asyncio.ensure_future(self.travel.wait(step, "held back"))
        both: set[asyncio.Future[Any]] = {held, request}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if held.done():
            return held.result()
        held.cancel()
        response = request.result()
        raise Trouble(f"The task ended too soon: {response.status_code}\n{response.text}")

    async def _busy(self) -> int:
        """The one isolate that is at work (a cron may be at it too, for a moment)."""

        async def one() -> list[int]:
            busy = [isolate.pid for isolate in await self.server.isolates() if isolate.in_flight]
            return busy if len(busy) == 1 else []

        return (await wait_until(one))[0]

    async def _fresh(self, before: list[Isolate]) -> int:
        """The id of an isolate that serves now and did not before."""
        known = {isolate.pid for isolate in before}

        async def new() -> list[int]:
            isolates = await self.server.isolates()
            return [isolate.pid for isolate in isolates if isolate.pid not in known]

        return (await wait_until(new))[0]

    async def _stored(self) -> Json:
        """The act's task as it is stored now."""
        tasks = (await self.server.http.get(self.target)).raise_for_status().json()["tasks"]
        mine: list[Json] = [task for task in tasks if task["goal"] == self.order["goal"]]
        if len(mine) != 1:
            raise Trouble(f"One task should be stored; there are {len(mine)}.")
        (task,) = mine
        at = f"step {task['currentStep']} of {task['totalSteps']} is next"
        self.screen.line(f"Stored so far: {at}.")
        return task


def claim_the_loss(screen: Screen, killed: Killed, stored: list[str], sentence: str) -> None:
    """What the client learnt, and that the crash left the steps as `stored`."""
    headers, status = killed.response.headers, killed.response.status_code
    outcome, named = headers.get("x-localedge-outcome"), headers.get("x-localedge-isolate")
    screen.claim("The client of the killed isolate got a 500.", status == 500, status)
    screen.claim("It names the outcome, internalError.", outcome == "internalError", outcome)
    screen.claim("It names the isolate that was killed.", named == str(killed.pid), named)
    found = [step["status"] for step in killed.between["steps"]]
    screen.claim(sentence, found == stored, found)


def seen(response: httpx.Response) -> str:
    """Which isolate answered, and how the platform says it went."""
    outcome = response.headers.get("x-localedge-outcome", "")
    isolate = response.headers.get("x-localedge-isolate", "?")
    return f"(isolate {isolate}, outcome {outcome or 'unknown'})"
