"""The travel service outside, as the agent's tools reach it over `fetch`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from workers import Response, fetch

from trip_agent.models import Step, Task
from trip_agent.plan import idempotency_key

ANSWER_S = 60.0
"""How long the service may take for one answer, in seconds."""


class Refused(Exception):  # noqa: N818  (the service's answer)
    """The service said no: nothing happened, and asking again changes nothing."""


class Unclear(Exception):  # noqa: N818  (what is known of the call)
    """No usable answer came back: whether anything happened is not known."""


Output = dict[str, Any]


class Travel:
    """The tools of the agent: each does one step and returns its result.

    Errors: Refused for an answer with status 4xx; Unclear for no answer within `answer_s` seconds,
    5xx, or not JSON.
    """

    def __init__(self, url: str, *, answer_s: float = ANSWER_S) -> None:
        self._url = url.rstrip("/")
        self._answer_s = answer_s

    async def do(self, task: Task, step: Step) -> Output:
        """Do `step` of `task` and return what is to be stored of it."""
        return await TOOLS[step.action](self, task, step)

    async def search_flights(self, _task: Task, step: Step) -> Output:
        """The cheapest flight: {"flight", "priceCents"}."""
        found = await self._call("GET", f"/flights?{urlencode(step.input)}")
        flights = found.get("flights")
        if not flights:
            raise Refused("no flight was found")
        cheapest = min(flights, key=lambda flight: (flight["priceCents"], flight["flight"]))
        return {"flight": cheapest["flight"], "priceCents": cheapest["priceCents"]}

    async def hold_seat(self, task: Task, step: Step) -> Output:
        """A held seat: {"holdId"}. Called again with the same key, it is the same hold."""
        flight = task.output_of("search_flights")["flight"]
        order = {"flight": flight, "traveller": step.input["traveller"]}
        hold = await self._effect("/holds", order, task, step)
        return {"holdId": hold["holdId"]}

    async def charge_card(self, task: Task, step: Step) -> Output:
        """A paid seat: {"chargeId"}. Called again, the card is charged again."""
        order = {
            "cardToken": step.input["cardToken"],
            "amountCents": task.output_of("search_flights")["priceCents"],
            "holdId": task.output_of("hold_seat")["holdId"],
        }
        charge = await self._effect("/charges", order, task, step)
        return {"chargeId": charge["chargeId"]}

    async def send_email(self, task: Task, step: Step) -> Output:
        """A mail sent: {"emailId"}. Called again, another one is sent."""
        flight = task.output_of("search_flights")["flight"]
        mail = {"to": step.input["to"], "subject": f"Your seat on {flight}: {task.goal}"}
        sent = await self._effect("/emails", mail, task, step)
        return {"emailId": sent["emailId"]}

    async def _effect(self, path: str, body: Mapping[str, Any], task: Task, step: Step) -> Output:
        headers = {
            "content-type": "application/json",
            "idempotency-key": idempotency_key(task.id, step.index),
        }
        return await self._call("POST", path, headers=headers, body=json.dumps(body))

    async def _call(self, method: str, path: str, **options: Any) -> Output:
        try:
            async with asyncio.timeout(self._answer_s):
                response = await fetch(self._url + path, method=method, **options)
                answer = await _object(response)
        except TimeoutError as exc:
            raise Unclear(f"the travel service did not answer in {self._answer_s:g} s") from exc
        except OSError as exc:
            raise Unclear(f"the travel service did not answer: {exc}") from exc
        if response.status >= 400:
            raise Refused(str(answer.get("error", f"status {response.status}")))
        return answer


async def _object(response: Response) -> Output:
    if response.status >= 500:
        raise Unclear(f"the travel service answered with status {response.status}")
    try:
        answer = json.loads(await response.text())
    except ValueError as exc:
        raise Unclear("the travel service answered with something that is not JSON") from exc
    if not isinstance(answer, dict):
        raise Unclear("the travel service answered with something that is not an object")
    return answer


Tool = Callable[[Travel, Task, Step], Awaitable[Output]]

TOOLS: Mapping[str, Tool] = {
    "search_flights": Travel.search_flights,
    "hold_seat": Travel.hold_seat,
    "charge_card": Travel.charge_card,
    "send_email": Travel.send_email,
}
