"""Agents: sessions, tasks and their time line, decisions, leases, and the team."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, JsonValue
from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from edgestate.statuses import Decision
from localedge.errors import OperatorError
from localedge.inspector import agents_data, team_data
from localedge.inspector.agents_models import SessionPage, TaskPage
from localedge.inspector.agents_tasks import TaskLives
from localedge.inspector.calls import body_of, endpoint, options, parameter, whole
from localedge.inspector.d1_places import Place
from localedge.inspector.html import Html, fragment, tag
from localedge.inspector.inspection import Inspection, api
from localedge.inspector.stores import Stores
from localedge.inspector.team_models import LifeShown, TeamShown
from localedge.inspector.views import View
from localedge.supervisor.crons import fire

_TABS: Final = (
    ("tasks", "Tasks"),
    ("questions", "Decisions"),
    ("sessions", "Sessions"),
    ("leases", "Leases"),
    ("team", "Team"),
    ("sagas", "Sagas"),
)


class Resolution(BaseModel):
    """What a person decided. Shape: `attempt` is the one that was asked about."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: str
    step_index: int
    decision: Decision
    attempt: int | None = None
    output: JsonValue = None


class Freed(BaseModel):
    """Whose lease is to end now."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: str


class Requeued(BaseModel):
    """Which dead letter is to be tried again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    letter: int


def routes(inspection: Inspection) -> Sequence[BaseRoute]:
    """What agents have in D1, and what a person can do about it."""
    stores = Stores(inspection)
    agents = _Agents(stores)
    post = ["POST"]
    return [
        Route(api("agents/databases"), endpoint(stores, agents.databases)),
        Route(api("agents/sessions"), endpoint(stores, agents.sessions)),
        Route(api("agents/tasks"), endpoint(stores, agents.tasks)),
        Route(api("agents/task"), endpoint(stores, agents.task)),
        Route(api("agents/questions"), endpoint(stores, agents.questions)),
        Route(api("agents/leases"), endpoint(stores, agents.leases)),
        Route(api("agents/team"), endpoint(stores, agents.team)),
        Route(api("agents/life"), endpoint(stores, agents.life)),
        Route(api("agents/resolve"), endpoint(stores, agents.resolve), methods=post),
        Route(api("agents/free"), endpoint(stores, agents.free), methods=post),
        Route(api("agents/resume"), endpoint(stores, agents.resume), methods=post),
        Route(api("agents/requeue"), endpoint(stores, agents.requeue), methods=post),
    ]


class _Agents:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._lives = TaskLives(stores)

    async def databases(self, _request: Request) -> dict[str, Any]:
        """The databases that keep agents' state, with which kind, and which of them do not."""
        self._stores.keep()
        found = []
        for place in self._stores.places().values():
            kinds = {"agent": False, "team": False}
            if place.file.exists():
                kinds = await agents_data.kinds(await self._stores.databases.binding(place))
            if kinds["agent"]:
                self._lives.follow(place)
            has_cron = any(project.crons for project, _ in place.owners)
            found.append({**place.shown().model_dump(mode="json"), **kinds, "has_cron": has_cron})
        return {"databases": found, "now_ms": self._stores.now_ms}

    async def sessions(self, request: Request) -> SessionPage:
        return await agents_data.sessions(
            await self._binding(request),
            now_ms=self._stores.now_ms,
            text=request.query_params.get("text") or None,
            limit=min(whole(request, "limit", 50), 200),
            skip=whole(request, "skip", 0),
        )

    async def tasks(self, request: Request) -> TaskPage:
        statuses = request.query_params.get("status")
        return await agents_data.tasks(
            await self._binding(request),
            now_ms=self._stores.now_ms,
            session_id=request.query_params.get("session") or None,
            statuses=statuses.split(",") if statuses else None,
            text=request.query_params.get("text") or None,
            limit=min(whole(request, "limit", 50), 200),
            skip=whole(request, "skip", 0),
        )

    async def task(self, request: Request) -> dict[str, Any]:
        found = await agents_data.task(
            await self._binding(request), parameter(request, "task"), now_ms=self._stores.now_ms
        )
        line = await self._lives.timeline(self._place(request), found)
        return {**found.model_dump(mode="json"), "timeline": line, "now_ms": self._stores.now_ms}

    async def questions(self, request: Request) -> dict[str, Any]:
        return {"questions": await agents_data.questions(await self._binding(request))}

    async def leases(self, request: Request) -> dict[str, Any]:
        db, now_ms = await self._binding(request), self._stores.now_ms
        kinds = await agents_data.kinds(db)
        found = [*await agents_data.leases(db, now_ms=now_ms)] if kinds["agent"] else []
        if kinds["team"]:
            found += await team_data.leases(db, now_ms=now_ms)
        return {"leases": sorted(found, key=lambda one: one.expires_at_ms), "now_ms": now_ms}

    async def team(self, request: Request) -> TeamShown:
        return await team_data.team(await self._binding(request), now_ms=self._stores.now_ms)

    async def life(self, request: Request) -> LifeShown:
        return await team_data.life(await self._binding(request), parameter(request, "id"))

    async def resolve(self, request: Request) -> dict[str, Any]:
        given = await body_of(request, Resolution)
        task = await agents_data.resolve(
            await self._binding(request),
            given.task_id,
            given.step_index,
            given.decision,
            output=given.output,
            attempt=given.attempt,
        )
        await self._lives.look(self._place(request))
        return {"task_id": task.task_id, "status": task.status, "version": task.version}

    async def free(self, request: Request) -> dict[str, Any]:
        given = await body_of(request, Freed)
        await self._lives.look(self._place(request))
        freed = await agents_data.free(await self._binding(request), given.task_id)
        await self._lives.look(self._place(request))
        return {"task_id": given.task_id, "freed": freed}

    async def resume(self, request: Request) -> dict[str, Any]:
        """The worker's cron runs now: that is where what was abandoned is taken up."""
        place = self._place(request)
        owners = [project.name for project, _ in place.owners if project.crons]
        pools = [p for p in self._stores.inspection.supervisor.pools if p.project.name in owners]
        if not pools:
            raise OperatorError(
                "agent/no-cron",
                "no worker with this database has a cron, which would take up abandoned tasks.",
                "Send the task's request again, or add `crons` under [triggers].",
            )
        cron = pools[0].project.crons[0]
        firing = await fire(pools[0], cron, self._stores.now_ms)
        return {"worker": pools[0].project.name, "cron": cron, "outcome": firing.outcome}

    async def requeue(self, request: Request) -> dict[str, Any]:
        given = await body_of(request, Requeued)
        await team_data.requeue(await self._binding(request), given.letter)
        return {"requeued": given.letter}

    def _place(self, request: Request) -> Place:
        return self._stores.place(parameter(request, "database"))

    async def _binding(self, request: Request) -> Any:
        return await self._stores.databases.binding(self._place(request))


async def render(inspection: Inspection) -> Html:
    """The database, and what can be looked at; the page's module fills it in."""
    return fragment(
        tag("h1", "Agents", class_="hidden"),
        tag(
            "div",
            tag("label", "Database", for_="database"),
            tag("select", options(Stores(inspection).names()), id="database"),
            tag("span", id="about", class_="dim", role="status"),
            class_="bar",
        ),
        tag(
            "div",
            [
                tag(
                    "button",
                    tag("span", title),
                    tag("span", class_="badge", hidden=True),
                    type="button",
                    role="tab",
                    id=f"tab-{name}",
                    aria_controls=f"panel-{name}",
                    aria_selected="false",
                    tabindex=-1,
                    data_tab=name,
                )
                for name, title in _TABS
            ],
            class_="tabs",
            role="tablist",
            aria_label="Of the agents",
        ),
        [
            tag(
                "section",
                id=f"panel-{name}",
                role="tabpanel",
                aria_labelledby=f"tab-{name}",
                hidden=True,
            )
            for name, _ in _TABS
        ],
    )


VIEW: Final = View(name="agents", title="Agents", render=render, routes=routes, has_style=True)
