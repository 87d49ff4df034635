"""`scheduled` by hand and by cron: which worker, which path, what is said without a handler."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.runtime.edge import Edge, edge, worker, write_project
from tests.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

KV = '[[kv_namespaces]]\nbinding = "KV"\nid = "shared"\n'
CRONS = '[triggers]\ncrons = ["* * * * *"]\n'
READING = worker("""
    if "unawaited" in request.url:
        self.env.KV.put("key", "not waited for")
        return Response("gone on")
    return Response(await self.env.KV.get("key") or "nothing")
""")
WRITING = (
    worker('return Response("unused")')
    + """
    async def scheduled(self, controller, env, ctx):
        await self.env.KV.put("key", controller.cron)
"""
)
HANDLER = "/cdn-cgi/handler/scheduled"


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """Two workers: the first, without `scheduled`, has the port; both have the same namespace."""
    folder = tmp_path_factory.mktemp("scheduled")
    write_project(folder / "a", READING, config=CRONS + KV)
    write_project(folder / "b", WRITING, config=KV)
    config = folder / "b" / "wrangler_like.toml"
    config.write_text(config.read_text("utf-8").replace("tested", "writer"), "utf-8")
    arguments = ("-c", "wrangler_like.toml", "-c", "../b/wrangler_like.toml", "--test-scheduled")
    async with edge(folder / "a", *arguments) as running:
        yield running


async def test_the_handler_of_another_worker_is_called_by_its_name(server: Edge) -> None:
    called = await server.get(HANDLER, params={"worker": "writer", "cron": "by name"})
    after = await server.get("/")

    assert (called.status_code, called.text) == (200, "ok")
    assert after.text == "by name"


async def test_a_worker_that_is_not_there_is_a_404_that_names_those_that_are(server: Edge) -> None:
    answer = await server.get(HANDLER, params={"worker": "nobody"})

    assert answer.status_code == 404
    assert "tested, writer" in answer.text


async def test_the_older_path_calls_the_handler_when_it_is_asked_for(server: Edge) -> None:
    called = await server.get("/__scheduled", params={"worker": "writer", "cron": "older"})
    without = await server.get("/__scheduled", params={"cron": "*"})
    rebound = await server.get("/__scheduled", headers={"host": "evil.example"})
    after = await server.get("/")

    assert (called.status_code, called.text) == (200, "Ran scheduled event")
    assert without.status_code == 500
    assert rebound.status_code == 403
    assert after.text == "older"


@pytest.mark.parametrize("time", ["soon", "²", "--5", "1" + "0" * 25])
async def test_a_time_that_is_none_is_refused_and_takes_no_isolate(server: Edge, time: str) -> None:
    refused = await server.get(HANDLER, params={"worker": "writer", "time": time})
    state = (await server.get("/cdn-cgi/localedge/status")).json()

    assert (refused.status_code, refused.text) == (400, "time is not a number of milliseconds")
    in_flight = [one["in_flight"] for pool in state["workers"] for one in pool["isolates"]]
    assert set(in_flight) == {0}


async def test_the_older_path_is_the_workers_unless_it_is_asked_for(tmp_path: Path) -> None:
    write_project(tmp_path, worker('return Response("mine")'))

    async with edge(tmp_path) as server:
        answer = await server.get("/__scheduled?cron=*")

    assert answer.text == "mine"


async def test_crons_without_a_handler_are_told_once_and_fire_nothing(server: Edge) -> None:
    await server.order("clock", set=1893499199.0)
    await server.wait_full()
    await server.order("clock", advance=59.0)
    await server.get("/")
    log = server.logged()

    assert log.count("the worker has no scheduled handler") == 1
    assert "cron fired" not in log


async def test_a_call_that_nobody_awaits_is_made_and_told_with_its_line(server: Edge) -> None:
    await server.get("/unawaited")
    told = await server.wait_log("never awaited")
    await wait_until(lambda: _reads(server, "not waited for"))

    assert told.startswith("[")
    assert "entry.py" in told


async def test_a_handler_that_will_surprise_is_told_once_with_what_to_do(tmp_path: Path) -> None:
    surprising = worker("return Response(env.WORD)").replace("self, request", "self, request, env")
    write_project(tmp_path, surprising)

    async with edge(tmp_path) as server:
        await server.wait_full()
        log = server.logged()

    assert log.count("handler will surprise") == 1
    assert "use self.env" in log


async def _reads(server: Edge, text: str) -> bool:
    return (await server.get("/")).text == text
