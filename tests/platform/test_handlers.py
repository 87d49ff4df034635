"""What handlers of public workers do besides calling bindings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.platform.projects import template
from tests.runtime.edge import Edge, edge

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

WAITING = """
import asyncio
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    def fetch(self, request):
        if request.url.endswith("/cf"):
            cf = request.cf
            cf.colo = "changed"
            return Response.json([cf.country, cf.colo, request.js_object.cf.timezone])
        asyncio.run(self.env.KV.put("a", "run"))
        loop = asyncio.get_event_loop()
        value = loop.run_until_complete(self.env.KV.get("a"))
        both = loop.run_until_complete(asyncio.gather(self.env.KV.get("a"), other()))
        return Response.json([value, both])

async def other():
    await asyncio.sleep(0.001)
    return "other"
"""
KV = [{"binding": "KV"}]


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """The worker above, on the newest edge."""
    async with edge(template(tmp_path_factory.mktemp("h"), WAITING, kv_namespaces=KV)) as running:
        yield running


async def test_a_sync_handler_may_run_coroutines_to_their_end(server: Edge) -> None:
    first = await server.get("/")
    second = await server.get("/")

    assert first.json() == second.json() == ["run", ["run", "other"]]


async def test_python_3_12_has_no_way_to_do_that(tmp_path: Path) -> None:
    template(tmp_path, WAITING, kv_namespaces=KV, compatibility_date="2025-09-28")

    async with edge(tmp_path) as older:
        answer = await older.get("/")

    assert answer.status_code == 500
    assert "cannot be called from a running event loop" in answer.text


async def test_what_is_known_of_the_connection_can_be_read(server: Edge) -> None:
    first = await server.get("/cf")

    assert first.json() == ["XX", "changed", "Etc/UTC"]
