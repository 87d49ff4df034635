"""Isolates: what each is, uses and has in flight; ended, drained and blocked by hand."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localedge.inspector.crashes import shown_endings
from localedge.inspector.html import Html, fragment, tag
from localedge.inspector.inspection import Inspection, answer, api
from localedge.inspector.views import View
from localedge.supervisor import meters
from localedge.supervisor.generation import Generation
from localedge.supervisor.history import History
from localedge.supervisor.isolates import Exchange, Isolate
from localedge.supervisor.limits import EDGE_MEMORY_BYTES
from localedge.supervisor.pool import Pool

LONGEST_BLOCK_S: Final = 60.0


def routes(inspection: Inspection) -> Sequence[BaseRoute]:
    """The isolates, and what can be done to one."""
    endpoints = _Endpoints(inspection)
    return [
        Route(api("isolates"), endpoints.list),
        Route(api("isolates/{pid:int}/kill"), endpoints.kill, methods=["POST"]),
        Route(api("isolates/{pid:int}/drain"), endpoints.drain, methods=["POST"]),
        Route(api("isolates/{pid:int}/block"), endpoints.block, methods=["POST"]),
    ]


class _Endpoints:
    def __init__(self, inspection: Inspection) -> None:
        self._inspection = inspection
        self._blocked_until: dict[Isolate, float] = {}

    async def list(self, _request: Request) -> Response:
        self._inspection.history.look()
        now = time.monotonic()
        blocked = {one: until for one, until in self._blocked_until.items() if until > now}
        self._blocked_until = blocked
        return answer(_state(self._inspection, {one: at - now for one, at in blocked.items()}))

    async def kill(self, request: Request) -> Response:
        pid = self._found(request).pid
        self._inspection.supervisor.kill(pid)
        return answer({"killed": pid})

    async def drain(self, request: Request) -> Response:
        pid = self._found(request).pid
        for pool in self._inspection.supervisor.pools:
            pool.drain(pid)
        return answer({"draining": pid})

    async def block(self, request: Request) -> Response:
        isolate = self._found(request)
        seconds = _seconds(request.query_params.get("seconds", "5"))
        isolate.note("block", seconds)
        before = self._blocked_until.get(isolate, 0.0)
        self._blocked_until[isolate] = max(before, time.monotonic()) + seconds
        return answer({"blocked": isolate.pid, "seconds": seconds})

    def _found(self, request: Request) -> Isolate:
        pid = request.path_params["pid"]
        for pool in self._inspection.supervisor.pools:
            for isolate in pool.isolates():
                if isolate.pid == pid:
                    return isolate
        raise HTTPException(404, f"there is no isolate {pid} (any more)")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST_BLOCK_S:
        raise HTTPException(400, f"seconds has to be more than 0 and at most {LONGEST_BLOCK_S:g}")
    return seconds


def _state(inspection: Inspection, blocked: dict[Isolate, float]) -> dict[str, Any]:
    history = inspection.history
    return {
        "now": round(time.time() * 1000, 3),
        "workers": [_shown_pool(pool, history, blocked) for pool in inspection.supervisor.pools],
        "ended": shown_endings(history),
    }


def _shown_pool(pool: Pool, history: History, blocked: dict[Isolate, float]) -> dict[str, Any]:
    failure = pool.failure or pool.current.failure
    local = pool.project.local
    return {
        "name": pool.project.name,
        "generation": pool.current.number,
        "failure": failure.text if failure else None,
        "size": pool.current.size,
        "memory_limit_bytes": local.memory_mb * 1_000_000,
        "edge_memory_bytes": EDGE_MEMORY_BYTES,
        "loop_block_s": local.loop_block_s,
        "isolates": [
            _shown(isolate, generation, history)
            | {"blocked_s": round(blocked.get(isolate, 0.0), 1)}
            for generation in pool.generations
            for isolate in generation.isolates()
        ],
    }


def _shown(isolate: Isolate, generation: Generation, history: History) -> dict[str, Any]:
    now = time.monotonic()
    located = [at for at, one in generation.located.items() if one is isolate]
    return {
        "pid": isolate.pid,
        "generation": isolate.generation,
        "state": generation.state_of(isolate),
        "location": located[0] if located else None,
        "age_s": round(now - isolate.started, 1),
        "in_flight": len(isolate.exchanges),
        "requests": [
            _shown_exchange(exchange, history, now) for exchange in isolate.exchanges.values()
        ],
        "served": isolate.served,
        "memory_bytes": meters.private_bytes(isolate.pid, 0),
        "cpu_s": meters.cpu_s(isolate.pid),
    }


def _shown_exchange(exchange: Exchange, history: History, now: float) -> dict[str, Any]:
    story = history.stories.get(exchange.ray)
    facts = story.facts if story is not None else {}
    return {
        "ray": exchange.ray,
        "method": facts.get("method"),
        "url": facts.get("url"),
        "age_s": round(now - exchange.started, 1),
    }


async def render(inspection: Inspection) -> Html:
    """Who runs now; the rest comes with the page's module."""
    names = [
        f"{isolate.pid} ({generation.state_of(isolate)})"
        for pool in inspection.supervisor.pools
        for generation in pool.generations
        for isolate in generation.isolates()
    ]
    return fragment(
        tag("h1", "Isolates"),
        tag("div", tag("p", "Isolates: ", ", ".join(names), class_="dim"), id="workers"),
        tag("h2", "Ended"),
        tag("div", id="ended"),
    )


VIEW: Final = View(name="isolates", title="Isolates", render=render, routes=routes)
