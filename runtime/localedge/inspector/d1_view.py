"""D1: tables, rows, schema, a console under D1's own rules, plans, slow statements, migrations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from localedge.inspector import d1_console, d1_data
from localedge.inspector.calls import body_of, endpoint, options, parameter, whole
from localedge.inspector.d1_models import Asked, MigrationsShown, Plan, Ran, Rows
from localedge.inspector.d1_places import Place
from localedge.inspector.d1_slow import slowest
from localedge.inspector.html import Html, fragment, tag
from localedge.inspector.inspection import Inspection, api
from localedge.inspector.stores import Stores
from localedge.inspector.views import View

_TABS: Final = (
    ("tables", "Tables"),
    ("console", "Console"),
    ("slow", "Slowest"),
    ("migrations", "Migrations"),
)


def routes(inspection: Inspection) -> Sequence[BaseRoute]:
    """Databases, what is in them, and what can be asked of them."""
    stores = Stores(inspection)
    d1 = _D1(stores)
    return [
        Route(api("d1/databases"), endpoint(stores, d1.databases)),
        Route(api("d1/tables"), endpoint(stores, d1.tables)),
        Route(api("d1/rows"), endpoint(stores, d1.rows)),
        Route(api("d1/query"), endpoint(stores, d1.query), methods=["POST"]),
        Route(api("d1/plan"), endpoint(stores, d1.plan), methods=["POST"]),
        Route(api("d1/slowest"), endpoint(stores, d1.slowest)),
        Route(api("d1/migrations"), endpoint(stores, d1.migrations)),
        Route(api("d1/migrations/apply"), endpoint(stores, d1.apply), methods=["POST"]),
    ]


class _D1:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    async def databases(self, _request: Request) -> dict[str, Any]:
        self._stores.keep()
        all_ = self._stores.places().values()
        return {"databases": [await d1_data.shown(self._stores.databases, one) for one in all_]}

    async def tables(self, request: Request) -> dict[str, Any]:
        engine = await self._stores.databases.used(self._place(request))
        return {"tables": await d1_data.tables(engine)}

    async def rows(self, request: Request) -> Rows:
        engine = await self._stores.databases.used(self._place(request))
        return await d1_data.rows(
            engine,
            parameter(request, "table"),
            order=request.query_params.get("order"),
            is_descending=request.query_params.get("descending") == "true",
            limit=whole(request, "limit", 50),
            skip=whole(request, "skip", 0),
        )

    async def query(self, request: Request) -> Ran:
        asked = await body_of(request, Asked)
        return await d1_console.run(
            await self._stores.databases.engine(self._place(request)), asked
        )

    async def plan(self, request: Request) -> Plan:
        asked = await body_of(request, Asked)
        return await d1_console.plan(await self._stores.databases.used(self._place(request)), asked)

    async def slowest(self, request: Request) -> dict[str, Any]:
        names = {entry.binding for _, entry in self._place(request).owners}
        return {"statements": slowest(self._stores.inspection.history.stories, names)}

    async def migrations(self, request: Request) -> MigrationsShown:
        return await d1_data.migrations(self._stores.databases, self._place(request))

    async def apply(self, request: Request) -> dict[str, Any]:
        applied = await d1_console.apply_migrations(self._stores.databases, self._place(request))
        return {"applied": [one.name for one in applied]}

    def _place(self, request: Request) -> Place:
        return self._stores.place(parameter(request, "database"))


async def render(inspection: Inspection) -> Html:
    """The database, and the four things that can be looked at; the page's module fills them in."""
    return fragment(
        tag("h1", "D1", class_="hidden"),
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
                    title,
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
            aria_label="Of the database",
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


VIEW: Final = View(name="d1", title="D1", render=render, routes=routes, has_style=True)
