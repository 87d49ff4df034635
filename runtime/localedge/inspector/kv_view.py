"""KV: namespaces, keys, values in each form, and what locations have cached of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localedge.errors import OperatorError
from localedge.inspector import kv_data
from localedge.inspector.calls import body_of, endpoint, options, parameter, whole
from localedge.inspector.html import Html, fragment, tag
from localedge.inspector.inspection import Inspection, api
from localedge.inspector.kv_models import KeyPage, Put, ValueShown
from localedge.inspector.stores import Stores
from localedge.inspector.views import View


def routes(inspection: Inspection) -> Sequence[BaseRoute]:
    """Namespaces, keys, and values to read, write and delete."""
    stores = Stores(inspection)
    kv = _Kv(stores)
    value = api("kv/value")
    return [
        Route(api("kv/namespaces"), endpoint(stores, kv.namespaces)),
        Route(api("kv/keys"), endpoint(stores, kv.keys)),
        Route(value, endpoint(stores, kv.value)),
        Route(value, endpoint(stores, kv.put), methods=["PUT"]),
        Route(value, endpoint(stores, kv.delete), methods=["DELETE"]),
        Route(api("kv/raw"), endpoint(stores, kv.raw)),
    ]


class _Kv:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    async def namespaces(self, _request: Request) -> dict[str, Any]:
        projects = self._stores.projects
        if not any(project.kv_namespaces for project in projects):
            return {"namespaces": []}
        return {"namespaces": await kv_data.namespaces(await self._stores.kv(), projects)}

    async def keys(self, request: Request) -> KeyPage:
        return await kv_data.keys(
            await self._stores.kv(),
            self._namespace(request),
            prefix=request.query_params.get("prefix", ""),
            cursor=request.query_params.get("cursor"),
            limit=whole(request, "limit", 50),
        )

    async def value(self, request: Request) -> ValueShown:
        key, id_ = parameter(request, "key"), self._namespace(request)
        # Only then has anybody copies; looking for them goes through all keys of the server.
        is_eventual = any(
            project.local.consistency == "eventual"
            for project in self._stores.projects
            for entry in project.kv_namespaces
            if entry.storage_id == id_
        )
        return await kv_data.value(await self._stores.kv(), id_, key, with_copies=is_eventual)

    async def raw(self, request: Request) -> Response:
        """All bytes of the value, to be kept as a file and never shown as a page."""
        key = parameter(request, "key")
        data = await kv_data.whole(await self._stores.kv(), self._namespace(request), key)
        headers = {"content-disposition": "attachment", "cache-control": "no-store"}
        return Response(data, media_type="application/octet-stream", headers=headers)

    async def put(self, request: Request) -> dict[str, Any]:
        key, given = parameter(request, "key"), await body_of(request, Put)
        await kv_data.put(await self._stores.kv(), self._namespace(request), key, given)
        return {"written": key}

    async def delete(self, request: Request) -> dict[str, Any]:
        key = parameter(request, "key")
        await kv_data.delete(await self._stores.kv(), self._namespace(request), key)
        return {"deleted": key}

    def _namespace(self, request: Request) -> str:
        """The namespace asked for: its id, or the name that a worker has for it."""
        asked = parameter(request, "namespace")
        known = [entry for p in self._stores.projects for entry in p.kv_namespaces]
        for entry in known:
            if asked in (entry.storage_id, entry.binding):
                return entry.storage_id
        names = ", ".join(dict.fromkeys(entry.storage_id for entry in known))
        raise OperatorError(
            "kv/unknown-namespace",
            f"no worker of this server has a namespace {asked!r}.",
            f"There is {names}." if names else "Add one under `kv_namespaces`.",
        )


async def render(inspection: Inspection) -> Html:
    """Where namespaces, keys and one value are shown; the page's module fills it in."""
    return fragment(
        tag("h1", "KV", class_="hidden"),
        tag(
            "div",
            tag("label", "Namespace", for_="namespace"),
            tag("select", options(kv_data.names(Stores(inspection).projects)), id="namespace"),
            tag("label", "Keys that begin with", for_="prefix", class_="hidden"),
            tag(
                "input",
                id="prefix",
                type="search",
                placeholder="Keys that begin with…  ( / )",
                autocomplete="off",
                spellcheck="false",
            ),
            tag("button", "New key", id="new", type="button"),
            tag("span", id="count", class_="dim", role="status"),
            class_="bar",
        ),
        tag("p", id="about", class_="dim about"),
        tag(
            "div",
            tag("section", id="keys", class_="list", aria_label="Keys"),
            tag("section", id="detail", class_="detail", aria_label="One key", hidden=True),
            class_="split",
        ),
    )


VIEW: Final = View(name="kv", title="KV", render=render, routes=routes, has_style=True)
