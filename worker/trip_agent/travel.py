"""The travel service outside, as the agent's tools reach it over `fetch`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from workers import Response, fetch

from edgestate import ToolCall, ToolFailed

SEARCH, HOLD = 0, 1
"""Steps of a trip's plan whose results later ones need."""


class Unclear(Exception):  # noqa: N818  (what is known of the call)
    """No usable answer came back: whether anything happened is not known."""


Output = dict[str, Any]


class Travel:
    """The tools of the agent: each does one step and returns its result.

    Errors: ToolFailed for an answer with status 4xx (the service said no: nothing happened);
    Unclear for no answer within `answer_s` seconds, 5xx, or not JSON.
    """

    def __init__(self, url: str, *, answer_s: float) -> None:
        self._url = url.rstrip("/")
        self._answer_s = answer_s

    def tool(self, name: str) -> Callable[[ToolCall], Awaitable[Output]]:
        """The function of the tool `name`."""
        return partial(TOOLS[name], self)

    async def search_flights(self, call: ToolCall) -> Output:
        """The cheapest flight: {"flight", "priceCents"}."""
        found = await self._call("GET", f"/flights?{urlencode(call.input)}")
        flights = found.get("flights")
        if not flights:
            raise ToolFailed("no flight was found")
        cheapest = min(flights, key=lambda flight: (flight["priceCents"], flight["flight"]))
        return {"flight": cheapest["flight"], "priceCents": cheapest["priceCents"]}

    async def hold_seat(self, call: ToolCall) -> Output:
        """A held seat: {"holdId"}. Called again with the same key, it is the same hold."""
        order = {"flight": _of(call, SEARCH, "flight"), "traveller": call.input["traveller"]}
        hold = await self._effect("/holds", order, call)
        return {"holdId": hold["holdId"]}

    async def charge_card(self, call: ToolCall) -> Output:
        """A paid seat: {"chargeId"}. Called again, the card is charged again."""
        order = {
            "cardToken": call.input["cardToken"],
            "amountCents": _of(call, SEARCH, "priceCents"),
            "holdId": _of(call, HOLD, "holdId"),
        }
        charge = await self._effect("/charges", order, call)
        return {"chargeId": charge["chargeId"]}

    async def send_email(self, call: ToolCall) -> Output:
        """A mail sent: {"emailId"}. Called again, another one is sent."""
        subject = f"Your seat on {_of(call, SEARCH, 'flight')}: {call.input['about']}"
        sent = await self._effect("/emails", {"to": call.input["to"], "subject": subject}, call)
        return {"emailId": sent["emailId"]}

    async def _effect(self, path: str, body: Mapping[str, Any], call: ToolCall) -> Output:
        headers = {"content-type": "application/json", "idempotency-key": call.idempotency_key}
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
            raise ToolFailed(str(answer.get("error", f"status {response.status}")))
        return answer


def _of(call: ToolCall, step: int, name: str) -> Any:
    """What step `step` has stored as `name`; nothing can be done for one that was skipped."""
    output = call.results[step]
    if not isinstance(output, dict) or name not in output:
        raise ToolFailed(f"step {step} has left no {name}")
    return output[name]


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


Tool = Callable[[Travel, ToolCall], Awaitable[Output]]

TOOLS: Mapping[str, Tool] = {
    "search_flights": Travel.search_flights,
    "hold_seat": Travel.hold_seat,
    "charge_card": Travel.charge_card,
    "send_email": Travel.send_email,
}
