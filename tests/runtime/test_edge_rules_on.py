"""What the edge enforces and a laptop does not, switched on in a running server."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runtime.edge import edge, worker, write_project

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

KV = '[[kv_namespaces]]\nbinding = "KV"\nid = "n"\n'
STORING = worker("""
    try:
        if request.method == "PUT":
            await self.env.KV.put("key", await request.text())
        if request.method == "DELETE":
            await self.env.KV.delete("key")
        return Response(await self.env.KV.get("key") or "nothing")
    except Exception as error:
        return Response(str(error), status=429)
""")
THERE = {"x-localedge-location": "there"}


async def test_a_location_remembers_that_a_key_was_absent(tmp_path: Path) -> None:
    write_project(tmp_path, STORING, config=KV, local='consistency = "eventual"')

    async with edge(tmp_path) as server:
        absent = await server.get("/", headers=THERE)
        written = await server.http.put("/", content="new")
        stale = await server.get("/", headers=THERE)
        await server.order("clock", advance=61)
        seen = await server.get("/", headers=THERE)
        await server.http.delete("/")
        kept = await server.get("/", headers=THERE)
        await server.order("clock", advance=61)
        gone = await server.get("/", headers=THERE)

    assert (absent.text, written.text, stale.text) == ("nothing", "new", "nothing")
    assert (seen.text, kept.text, gone.text) == ("new", "new", "nothing")


async def test_a_second_write_within_a_second_is_refused_until_the_clock_moves(
    tmp_path: Path,
) -> None:
    write_project(tmp_path, STORING, config=KV, local='write_rate = "enforce"')

    async with edge(tmp_path) as server:
        await server.order("clock", set=1893456000)
        first = await server.http.put("/", content="1")
        second = await server.http.put("/", content="2")
        await server.order("clock", advance=2)
        third = await server.http.put("/", content="3")

    assert first.text == "1"
    assert (second.status_code, second.text) == (
        429,
        "Error: KV PUT failed: 429 Too Many Requests",
    )
    assert third.text == "3"


async def test_a_second_write_within_a_second_can_be_a_warning(tmp_path: Path) -> None:
    write_project(tmp_path, STORING, config=KV, local='write_rate = "warn"')

    async with edge(tmp_path) as server:
        await server.http.put("/", content="1")
        second = await server.http.put("/", content="2")
        warned = await server.wait_log("the edge answers 429")

    assert second.text == "2"
    assert warned


async def test_the_zone_of_a_worker_is_utc_whatever_the_machines_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    write_project(tmp_path, worker("return Response(f'{time.tzname[0]} {time.localtime(0)[3]}')"))

    async with edge(tmp_path) as server:
        answer = await server.get("/")

    assert answer.text == "UTC 0"
