"""Live: requests as they come, each with what happened for it, and sent again with one click."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localedge.inspector.calls import whole
from localedge.inspector.html import Child, Html, fragment, tag
from localedge.inspector.inspection import Inspection, answer, api
from localedge.inspector.replay import replay
from localedge.inspector.views import View
from localedge.supervisor.crons import fire
from localedge.supervisor.happenings import CRON
from localedge.supervisor.stories import Story

MOST_LISTED: Final = 200
_KEYS: Final = (
    ("/", "filter"),
    ("j", "down"),
    ("k", "up"),
    ("Enter", "open"),
    ("r", "replay"),
    ("p", "pause"),
    ("Esc", "close"),
)
_COLUMNS: Final = ("Time", "Method", "Path", "Status", "Outcome", "Isolate", "ms")


def routes(inspection: Inspection) -> Sequence[BaseRoute]:
    """The requests, one request, and sending it again."""
    endpoints = _Endpoints(inspection)
    return [
        Route(api("requests"), endpoints.list),
        Route(api("requests/{ray}"), endpoints.one),
        Route(api("requests/{ray}/replay"), endpoints.replay, methods=["POST"]),
    ]


class _Endpoints:
    def __init__(self, inspection: Inspection) -> None:
        self._inspection = inspection

    async def list(self, request: Request) -> Response:
        self._inspection.history.look()
        limit = min(whole(request, "limit", MOST_LISTED), MOST_LISTED)
        return answer({"requests": _newest(self._inspection, limit)})

    async def one(self, request: Request) -> Response:
        self._inspection.history.look()
        return answer(self._story(request).whole())

    async def replay(self, request: Request) -> Response:
        story = self._story(request)
        if story.facts.get("method") == CRON:
            return answer(await self._fired_again(story))
        if story.sent is None:
            raise HTTPException(409, "its body was not kept (over 1 MB): it cannot be sent again")
        return answer(await replay(self._inspection.gateway, story.sent, story.ray))

    async def _fired_again(self, story: Story) -> dict[str, Any]:
        supervisor = self._inspection.supervisor
        found = [p for p in supervisor.pools if p.project.name == story.facts["worker"]]
        if not found:
            raise HTTPException(409, "its worker does not run any more")
        now_ms = int(supervisor.clock.now() * 1000)
        firing = await fire(found[0], str(story.facts["url"]), now_ms)
        return {"replayOf": story.ray, "status": None, "outcome": firing.outcome, "bytes": 0}

    def _story(self, request: Request) -> Story:
        story = self._inspection.history.stories.get(request.path_params["ray"])
        if story is None:
            raise HTTPException(404, "there is no such request, or it is no longer kept")
        return story


def _newest(inspection: Inspection, limit: int) -> list[dict[str, Any]]:
    stories = [*inspection.history.stories]
    stories.sort(key=lambda story: story.first_at_ms, reverse=True)
    # A ray that only lines of print belong to is one that came before anybody looked.
    known = (story for story in stories if "method" in story.facts)
    return [story.summary() for _, story in zip(range(limit), known, strict=False)]


async def render(inspection: Inspection) -> Html:
    """The list of requests as of now, and where one is shown."""
    rows = [_row(summary) for summary in _newest(inspection, MOST_LISTED)]
    table = tag(
        "table",
        tag("thead", tag("tr", [tag("th", name, scope="col") for name in _COLUMNS])),
        tag("tbody", rows, id="requests"),
        class_="requests",
        aria_label="Requests",
    )
    return fragment(
        tag("h1", "Live", class_="hidden"),
        _broken(inspection),
        _bar(),
        tag(
            "div",
            tag("section", table, _empty(), class_="list", aria_label="List of requests"),
            tag("section", id="detail", class_="detail", aria_label="One request", hidden=True),
            class_="split",
        ),
        tag("p", [_key(*one) for one in _KEYS], class_="keys dim small"),
    )


def _key(key: str, what: str) -> Html:
    return tag("span", tag("kbd", key), f" {what}")


def _broken(inspection: Inspection) -> Html:
    """Why the newest version of a worker does not serve, if it does not."""
    pools = inspection.supervisor.pools
    failures = [failure for pool in pools if (failure := pool.failure or pool.current.failure)]
    return tag(
        "section",
        tag("h3", "The newest version of the worker cannot be loaded"),
        tag("pre", failures[0].text if failures else ""),
        id="broken",
        class_="exception",
        role="alert",
        hidden=not failures,
    )


def _bar() -> Html:
    outcomes: list[Child] = [
        tag("option", "every outcome", value=""),
        tag("option", "ok only", value="ok"),
        tag("option", "failed only", value="failed"),
        tag("option", "under way", value="open"),
    ]
    return tag(
        "div",
        tag("label", "Filter", for_="filter", class_="hidden"),
        tag(
            "input",
            id="filter",
            type="search",
            placeholder="Filter by path, status, ray …",
            title="Words that all have to be in method, URL, status, outcome, isolate or ray",
            autocomplete="off",
            spellcheck="false",
        ),
        tag("label", "Outcome", for_="outcome", class_="hidden"),
        tag("select", outcomes, id="outcome"),
        tag("button", "Pause", id="pause", type="button", aria_pressed="false"),
        tag("button", "Clear", id="clear", type="button", class_="quiet"),
        tag("span", id="count", class_="dim", role="status"),
        tag("span", id="stats", class_="dim small"),
        class_="bar",
    )


def _empty() -> Html:
    return tag(
        "p",
        "No request yet. Send one to the worker, and it appears here.",
        id="empty",
        class_="empty",
    )


def _row(summary: dict[str, Any]) -> Html:
    """A row for who has no JavaScript; else it is made anew from the API."""
    path = str(summary.get("url", "")).partition("//")[2].partition("/")[2]
    cells = (
        "",
        summary.get("method"),
        f"/{path}",
        summary.get("status"),
        summary.get("outcome"),
        summary.get("pid"),
        summary.get("ms"),
    )
    return tag("tr", [tag("td", cell) for cell in cells], data_ray=summary["ray"])


VIEW: Final = View(name="live", title="Live", render=render, routes=routes)
