"""The travel service as the director of a demo or test reaches it."""

from __future__ import annotations

from typing import Any

import httpx


class TravelControl:
    """Orders to a travel service, and its record."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self.url = url

    async def hold_back(self, action: str) -> None:
        """The next call of `action` gets no answer until `release`, though its effect happens."""
        await self._order("hold-back", {"action": action})

    async def release(self) -> None:
        """What is held back is answered."""
        await self._order("release", {})

    async def answer(self, action: str, status: int) -> None:
        """The next call of `action` is answered with `status`: 4xx before, 5xx after the effect."""
        await self._order("answer", {"action": action, "status": status})

    async def reset(self) -> None:
        """The record is empty and no order is left."""
        await self._order("reset", {})

    async def wait(self, action: str, outcome: str, *, within_s: float = 20) -> dict[str, Any]:
        """The first call of `action` that has `outcome`, as soon as there is one.

        Errors: TimeoutError after `within_s` seconds.
        """
        query = {"action": action, "outcome": outcome, "timeout_s": str(within_s)}
        response = await self._http.get(f"{self.url}/control/wait", params=query)
        if response.status_code == 504:
            raise TimeoutError(f"no call of {action} was {outcome!r} within {within_s} s")
        response.raise_for_status()
        call: dict[str, Any] = response.json()
        return call

    async def calls(self, action: str | None = None) -> list[dict[str, Any]]:
        """The calls so far, in order; those of one action if it is given."""
        calls: list[dict[str, Any]] = (await self._report())["calls"]
        return [call for call in calls if action in (None, call["action"])]

    async def effects(self) -> list[dict[str, Any]]:
        """The effects so far: {"action", "key", "count"} for each key."""
        effects: list[dict[str, Any]] = (await self._report())["effects"]
        return effects

    async def _report(self) -> dict[str, Any]:
        response = await self._http.get(f"{self.url}/control/report")
        response.raise_for_status()
        report: dict[str, Any] = response.json()
        return report

    async def _order(self, name: str, order: dict[str, Any]) -> None:
        response = await self._http.post(f"{self.url}/control/{name}", json=order)
        response.raise_for_status()
