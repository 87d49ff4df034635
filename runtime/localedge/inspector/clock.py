"""Clock: what time it is for the workers, moved by hand; and their crons."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localedge.inspector.html import Html, fragment, tag
from localedge.inspector.inspection import Inspection, answer, api
from localedge.inspector.views import View
from localedge.supervisor.crons import fire
from localedge.supervisor.pool import Pool
from localedge.supervisor.schedule import Schedule

STEPS: Final = (
    ("1 min", 60),
    ("15 min", 900),
    ("1 h", 3600),
    ("1 day", 86_400),
    ("1 week", 604_800),
)
_FURTHEST_S: Final = 1e11


def routes(inspection: Inspection) -> Sequence[BaseRoute]:
    """The clock, moving it, and firing a cron."""
    endpoints = _Endpoints(inspection)
    return [
        Route(api("clock"), endpoints.show),
        Route(api("clock"), endpoints.move, methods=["POST"]),
        Route(api("crons/fire"), endpoints.fire, methods=["POST"]),
    ]


class _Endpoints:
    def __init__(self, inspection: Inspection) -> None:
        self._inspection = inspection

    async def show(self, _request: Request) -> Response:
        self._inspection.history.look()
        return answer(_state(self._inspection))

    async def move(self, request: Request) -> Response:
        clock = self._inspection.supervisor.clock
        match request.query_params.multi_items():
            case [("advance", text)]:
                offset_s = clock.offset_s + _number(text)
            case [("set", text)]:
                offset_s = _number(text) - time.time()
            case [("reset", _)]:
                offset_s = 0.0
            case _:
                raise HTTPException(400, "one of advance, set, reset is needed")
        self._inspection.supervisor.move_clock(offset_s)
        return answer(_state(self._inspection))

    async def fire(self, request: Request) -> Response:
        worker = request.query_params.get("worker")
        pools = self._inspection.supervisor.pools
        found = next((pool for pool in pools if pool.project.name == worker), None)
        if found is None:
            raise HTTPException(404, "there is no worker of that name")
        now_ms = int(self._inspection.supervisor.clock.now() * 1000)
        firing = await fire(found, request.query_params.get("cron", ""), now_ms)
        return answer({"outcome": firing.outcome, "noRetry": not firing.retries})


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not -_FURTHEST_S < value < _FURTHEST_S:
        raise HTTPException(400, "that is not a number of seconds")
    return value


def _state(inspection: Inspection) -> dict[str, Any]:
    clock = inspection.supervisor.clock
    return {
        "now": clock.now(),
        "machine": time.time(),
        "offset_s": clock.offset_s,
        "crons": [
            cron for pool in inspection.supervisor.pools for cron in _crons(pool, clock.now())
        ],
    }


def _crons(pool: Pool, now: float) -> Iterator[dict[str, Any]]:
    for expression in pool.project.crons:
        try:
            next_at = Schedule(expression).next_after(now)
        except ValueError:
            # The log has said that it never fires.
            next_at = None
        yield {"worker": pool.project.name, "cron": expression, "next": next_at}


async def render(inspection: Inspection) -> Html:
    """The time of the workers, and the buttons that move it."""
    steps = [
        tag("button", f"+ {title}", type="button", data_advance=seconds) for title, seconds in STEPS
    ]
    return fragment(
        tag("h1", "Clock"),
        tag(
            "section",
            tag("p", id="now", class_="now", aria_label="Time for the workers"),
            tag("p", id="offset", class_="dim"),
            tag("div", steps, class_="bar steps", role="group", aria_label="Advance"),
            _forms(),
            class_="card",
        ),
        tag("h2", "Crons"),
        tag("div", id="crons"),
    )


def _forms() -> Html:
    return tag(
        "div",
        tag(
            "form",
            tag("label", "Advance by", for_="by"),
            tag("input", id="by", placeholder="90s, 25h, 1d12h", autocomplete="off", required=True),
            tag("button", "Advance", type="submit"),
            id="advance",
            class_="bar",
        ),
        tag(
            "form",
            tag("label", "Set to (UTC)", for_="moment"),
            tag("input", id="moment", type="datetime-local", step=1, required=True),
            tag("button", "Set", type="submit"),
            id="set",
            class_="bar",
        ),
        tag("button", "Back to the machine's time", id="reset", type="button"),
        class_="forms",
    )


VIEW: Final = View(name="clock", title="Clock", render=render, routes=routes)
