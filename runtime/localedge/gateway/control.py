"""The control endpoints under `/cdn-cgi/`: what the command line and the page ask and order."""

from __future__ import annotations

import re
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from localedge.gateway.guard import OLD_SCHEDULED, SCHEDULED
from localedge.supervisor.crons import Firing, fire
from localedge.supervisor.generation import Generation
from localedge.supervisor.isolates import Isolate
from localedge.supervisor.pool import Pool
from localedge.supervisor.supervisor import Supervisor

PREFIX = "/cdn-cgi/localedge"
_WHOLE: Final = re.compile(r"-?[0-9]{1,16}")
_FURTHEST_MS: Final = 8_640_000_000_000_000
"""Source: ECMA-262, Time Values and Time Range, read 2026-12-01."""
_TEXT = {"content-type": "text/plain; charset=utf-8"}


def control(supervisor: Supervisor) -> Starlette:
    """The application that answers control requests about `supervisor`."""
    endpoints = _Endpoints(supervisor)
    return Starlette(
        routes=[
            Route(f"{PREFIX}/status", endpoints.status),
            Route(f"{PREFIX}/metrics", endpoints.metrics),
            Route(f"{PREFIX}/kill", endpoints.kill, methods=["POST"]),
            Route(f"{PREFIX}/clock", endpoints.clock),
            Route(f"{PREFIX}/clock", endpoints.move_clock, methods=["POST"]),
            Route(SCHEDULED, endpoints.scheduled, methods=["GET", "POST"]),
            Route(OLD_SCHEDULED, endpoints.old_scheduled, methods=["GET", "POST"]),
        ]
    )


class _Endpoints:
    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor

    async def status(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "workers": [_shown_pool(pool) for pool in self._supervisor.pools],
                "clock": self._clock(),
            }
        )

    async def metrics(self, _request: Request) -> Response:
        # Most servers are never asked.
        from localedge.gateway.metrics import CONTENT_TYPE, metrics_text

        return Response(await metrics_text(self._supervisor), media_type=CONTENT_TYPE)

    async def kill(self, request: Request) -> Response:
        given = request.query_params.get("pid")
        pid = _whole(given, "pid is not a number") if given is not None else None
        killed = self._supervisor.kill(pid)
        if killed is None:
            raise HTTPException(404, "there is no such isolate", headers=_TEXT)
        return JSONResponse({"killed": killed})

    async def clock(self, _request: Request) -> Response:
        return JSONResponse(self._clock())

    async def move_clock(self, request: Request) -> Response:
        clock = self._supervisor.clock
        match request.query_params.multi_items():
            case [("advance", text)]:
                offset_s = clock.offset_s + _number(text)
            case [("set", text)]:
                offset_s = clock.offset_s + _number(text) - clock.now()
            case [("reset", _)]:
                offset_s = 0.0
            case _:
                raise HTTPException(400, "one of advance, set, reset is needed", headers=_TEXT)
        self._supervisor.move_clock(offset_s)
        return JSONResponse(self._clock())

    async def scheduled(self, request: Request) -> Response:
        """Calls the handler as `wrangler dev` does; of several workers, that of `worker`.

        Source: python-workers section 3 ("Local triggers"), read 2026-12-01.
        """
        firing = await self._fired(request)
        status = 200 if firing.outcome == "ok" else 500
        if request.query_params.get("format") == "json":
            return JSONResponse({"outcome": firing.outcome, "noRetry": not firing.retries}, status)
        return PlainTextResponse(firing.outcome, status)

    async def old_scheduled(self, request: Request) -> Response:
        """The same at the path of older versions, with their answer."""
        firing = await self._fired(request)
        if firing.outcome != "ok":
            return PlainTextResponse(firing.outcome, 500)
        return PlainTextResponse("Ran scheduled event")

    async def _fired(self, request: Request) -> Firing:
        given = request.query_params.get("time")
        now_ms = int(self._supervisor.clock.now() * 1000)
        time_ms = _whole(given, "time is not a number of milliseconds") if given else now_ms
        pool = self._pool(request.query_params.get("worker"))
        return await fire(pool, request.query_params.get("cron", ""), time_ms)

    def _pool(self, name: str | None) -> Pool:
        """The worker of that name, without one the worker that has the port."""
        pools = self._supervisor.pools
        found = pools[:1] if name is None else [p for p in pools if p.project.name == name]
        if not found:
            known = ", ".join(pool.project.name for pool in pools)
            text = f"there is no worker of that name; there are: {known}"
            raise HTTPException(404, text, headers=_TEXT)
        return found[0]

    def _clock(self) -> dict[str, float]:
        clock = self._supervisor.clock
        return {"now": clock.now(), "offset_s": clock.offset_s}


def _whole(text: str, refusal: str) -> int:
    """`text` as a number that JavaScript's Date has too."""
    if not _WHOLE.fullmatch(text) or abs(int(text)) > _FURTHEST_MS:
        raise HTTPException(400, refusal, headers=_TEXT)
    return int(text)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not -1e11 < value < 1e11:
        raise HTTPException(400, "that is not a number of seconds", headers=_TEXT)
    return value


def _shown_pool(pool: Pool) -> dict[str, object]:
    failure = pool.failure or pool.current.failure
    return {
        "name": pool.project.name,
        "generation": pool.current.number,
        "failure": failure.text if failure else None,
        "isolates": [
            _shown(isolate, generation)
            for generation in pool.generations
            for isolate in generation.isolates()
        ],
    }


def _shown(isolate: Isolate, generation: Generation) -> dict[str, object]:
    return {
        "pid": isolate.pid,
        "generation": isolate.generation,
        "state": generation.state_of(isolate),
        "in_flight": len(isolate.exchanges),
        "served": isolate.served,
    }
