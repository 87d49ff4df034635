"""The travel service outside: a process of its own that counts what was asked of it and done.

Run it with `python -m tests.demo.travel [--port 8788]`. Agents call /flights, /holds, /charges and
/emails; /holds honours the header `idempotency-key`, the others do not. Whoever directs a demo or
a test calls /control/…: hold back the answer of a call once its effect is counted, learn when that
has happened, have a call refused (status 4xx, no effect) or broken (5xx, after its effect), and
read the record.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

DEFAULT_PORT = 8788
MAX_WAIT_S = 60.0


@dataclass(slots=True)
class Call:
    """One call as the service saw it. Times are ISO 8601 in UTC."""

    number: int
    action: str
    key: str | None
    received_at: str
    effect: bool = False
    outcome: str = "open"
    ended_at: str | None = None


@dataclass(slots=True)
class Ledger:
    """What was asked and done, and what the director has ordered."""

    calls: list[Call] = field(default_factory=list)
    holds: dict[str, str] = field(default_factory=dict)
    effects: list[tuple[str, str]] = field(default_factory=list)
    hold_back: str | None = None
    answers: dict[str, list[int]] = field(default_factory=dict)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def tell(self) -> None:
        """Wake whoever waits for something to have happened."""
        async with self.changed:
            self.changed.notify_all()

    def report(self) -> dict[str, Any]:
        """The record: every call, and the effects counted by action and key."""
        counted: dict[tuple[str, str], int] = {}
        for effect in self.effects:
            counted[effect] = counted.get(effect, 0) + 1
        return {
            "calls": [asdict(call) for call in self.calls],
            "effects": [
                {"action": action, "key": key, "count": count}
                for (action, key), count in counted.items()
            ],
        }


def now() -> str:
    """The current time, ISO 8601 in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Service:
    """The routes of agents and of the director, over one ledger."""

    def __init__(self) -> None:
        self._ledger = Ledger()

    def app(self) -> Starlette:
        """The service as an ASGI application."""
        return Starlette(
            routes=[
                Route("/flights", self._called("search_flights", self._search)),
                Route("/holds", self._called("hold_seat", self._hold), methods=["POST"]),
                Route("/charges", self._called("charge_card", self._charge), methods=["POST"]),
                Route("/emails", self._called("send_email", self._email), methods=["POST"]),
                Route("/control/hold-back", self._order_hold_back, methods=["POST"]),
                Route("/control/release", self._release, methods=["POST"]),
                Route("/control/answer", self._order_answer, methods=["POST"]),
                Route("/control/reset", self._reset, methods=["POST"]),
                Route("/control/wait", self._wait),
                Route("/control/report", self._report),
            ]
        )

    # What agents call.

    def _called(
        self, action: str, act: Callable[[Call, Any], dict[str, Any]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            ledger = self._ledger
            body = await request.json() if request.method == "POST" else dict(request.query_params)
            key = request.headers.get("idempotency-key")
            call = Call(len(ledger.calls) + 1, action, key, now())
            ledger.calls.append(call)
            if request.method == "POST" and key is None:
                return await self._end(call, "refused", 400, {"error": "no idempotency-key"})
            ordered = ledger.answers.get(action)
            status = ordered.pop(0) if ordered else 200
            if 400 <= status < 500:
                return await self._end(call, "refused", status, {"error": f"{action} refused"})
            answer = act(call, body)
            if status >= 500:
                return await self._end(call, "broken", status, {"error": "broken afterwards"})
            if ledger.hold_back == action and not await self._held_back(call, request):
                return await self._end(call, "connection lost", 500, {})
            return await self._end(call, "answered", 200, answer)

        return endpoint

    async def _held_back(self, call: Call, request: Request) -> bool:
        """Hold the answer back; False if the caller was gone before the release."""
        self._ledger.hold_back = None
        call.outcome = "held back"
        await self._ledger.tell()
        gone = asyncio.ensure_future(_gone(request))
        released = asyncio.ensure_future(self._ledger.released.wait())
        waiting = {gone, released}
        done, left = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in left:
            task.cancel()
        return released in done

    async def _end(self, call: Call, outcome: str, status: int, body: dict[str, Any]) -> Response:
        call.outcome = outcome
        call.ended_at = now()
        await self._ledger.tell()
        return JSONResponse(body, status_code=status)

    def _effect(self, call: Call) -> None:
        call.effect = True
        self._ledger.effects.append((call.action, call.key or ""))

    def _search(self, _call: Call, query: Any) -> dict[str, Any]:
        route = f"{query.get('origin')}-{query.get('destination')}"
        return {
            "flights": [
                {"flight": f"LE 204 {route}", "priceCents": 21_900},
                {"flight": f"LE 208 {route}", "priceCents": 18_900},
            ]
        }

    def _hold(self, call: Call, _order: Any) -> dict[str, Any]:
        held = self._ledger.holds
        key = call.key or ""
        if key not in held:
            held[key] = f"hold-{len(held) + 1}"
            self._effect(call)
        return {"holdId": held[key]}

    def _charge(self, call: Call, _order: Any) -> dict[str, Any]:
        self._effect(call)
        return {"chargeId": f"charge-{call.number}"}

    def _email(self, call: Call, _mail: Any) -> dict[str, Any]:
        self._effect(call)
        return {"emailId": f"email-{call.number}"}

    # What the director calls.

    async def _order_hold_back(self, request: Request) -> Response:
        self._ledger.released.clear()
        self._ledger.hold_back = (await request.json())["action"]
        return Response(status_code=204)

    async def _release(self, _request: Request) -> Response:
        self._ledger.hold_back = None
        self._ledger.released.set()
        return Response(status_code=204)

    async def _order_answer(self, request: Request) -> Response:
        order = await request.json()
        self._ledger.answers.setdefault(order["action"], []).append(order["status"])
        return Response(status_code=204)

    async def _reset(self, _request: Request) -> Response:
        self._ledger.released.set()
        self._ledger = Ledger()
        return Response(status_code=204)

    async def _wait(self, request: Request) -> Response:
        """Answers once a call of `action` has the outcome `outcome`; 504 after `timeout_s`."""
        query = request.query_params
        timeout_s = min(float(query.get("timeout_s", MAX_WAIT_S)), MAX_WAIT_S)
        ledger = self._ledger

        def found() -> Call | None:
            wanted = (query["action"], query["outcome"])
            return next((c for c in ledger.calls if (c.action, c.outcome) == wanted), None)

        try:
            async with asyncio.timeout(timeout_s), ledger.changed:
                call = await ledger.changed.wait_for(found)
        except TimeoutError:
            return JSONResponse({"error": "it did not happen in time"}, status_code=504)
        return JSONResponse(asdict(call) if call else None)

    async def _report(self, _request: Request) -> Response:
        return JSONResponse(self._ledger.report())


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def main() -> None:
    """Serve on 127.0.0.1 until interrupted; the first line printed is the address.

    With `--with-parent` the service also ends when its standard input does, so that it does not
    outlive whoever started it.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.demo.travel")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--with-parent", action="store_true")
    options = parser.parse_args()
    listener = _listen(options.port)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(Service().app(), log_level="warning", timeout_graceful_shutdown=1)
    asyncio.run(_serve(uvicorn.Server(config), listener, with_parent=options.with_parent))


def _listen(port: int) -> socket.socket:
    # With the protocol named, asyncio turns Nagle's algorithm off: else each answer takes 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    return listener


async def _serve(server: uvicorn.Server, listener: socket.socket, *, with_parent: bool) -> None:
    def read() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            server.should_exit = True

    if with_parent:
        asyncio.get_running_loop().add_reader(sys.stdin, read)
    await server.serve(sockets=[listener])


if __name__ == "__main__":
    main()
