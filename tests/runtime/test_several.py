"""`fresh` isolates, several workers in one server, and where their output goes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.runtime.edge import edge, gone, worker, write_project

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

KV = '[[kv_namespaces]]\nbinding = "KV"\nid = "shared"'
COUNTING = "count = 0\n" + worker("""
    global count
    count += 1
    return Response(f"{os.getpid()} {count}")
""")


async def test_fresh_gives_every_request_an_isolate_of_its_own(tmp_path: Path) -> None:
    write_project(tmp_path, COUNTING, local="fresh = true")

    async with edge(tmp_path) as server:
        one_by_one = [(await server.get("/")).text.split() for _ in range(8)]
        at_once = await asyncio.gather(*(server.get("/") for _ in range(8)))
        answers = [*one_by_one, *(answer.text.split() for answer in at_once)]
        pids = [int(pid) for pid, _ in answers]
        await gone(pids)

    assert len(set(pids)) == 16
    assert {count for _, count in answers} == {"1"}


async def test_globals_live_as_long_as_their_isolate(tmp_path: Path) -> None:
    write_project(tmp_path, COUNTING, local="isolates = 1")

    async with edge(tmp_path) as server:
        answers = [(await server.get("/")).text.split()[1] for _ in range(3)]

    assert answers == ["1", "2", "3"]


async def test_two_workers_share_the_stores_of_the_same_id(tmp_path: Path) -> None:
    reading = worker('return Response(await self.env.KV.get("key") or "nothing")')
    writing = (
        worker('return Response("unused")')
        + """
    async def scheduled(self, controller, env, ctx):
        await self.env.KV.put("key", "from the other")
        print("written")
"""
    )
    write_project(tmp_path / "a", reading, config=KV)
    crons = '[triggers]\ncrons = ["* * * * *"]\n'
    write_project(tmp_path / "b", writing, config=crons + KV)

    async with edge(
        tmp_path / "a", "-c", "wrangler_like.toml", "-c", "../b/wrangler_like.toml"
    ) as server:
        before = await server.get("/")
        await server.order("clock", set=1893499199.0)
        await server.wait_log("written")
        after = await server.get("/")

    assert before.text == "nothing"
    assert after.text == "from the other"
    assert not (tmp_path / "b" / ".localedge").exists()


async def test_output_names_the_request_that_wrote_it(tmp_path: Path) -> None:
    talking = worker("""
        import logging, sys
        print("first", request.url[-1])
        await asyncio.sleep(0.05)
        print("second", request.url[-1], file=sys.stderr)
        logging.getLogger("mine").warning("third %s", request.url[-1])
        return Response("x")
    """)
    write_project(tmp_path, talking, local="isolates = 1")

    async with edge(tmp_path) as server:
        await asyncio.gather(server.get("/a"), server.get("/b"))
        lines = {n: await server.wait_log(n) for n in ("first a", "second a", "third a")}
        other = await server.wait_log("first b")

    rays = {line.split()[0] for line in lines.values()}
    assert len(rays) == 1
    assert other.split()[0] not in rays
    assert "error: second a" in lines["second a"]
    assert "warning: third a" in lines["third a"]


async def test_a_line_written_just_before_a_kill_is_not_lost(tmp_path: Path) -> None:
    dying = worker("""
        print("last words")
        os.kill(os.getpid(), 9)
    """)
    write_project(tmp_path, dying)

    async with edge(tmp_path) as server:
        answer = await server.get("/")
        await server.wait_log("last words")

    assert answer.headers["x-localedge-outcome"] == "internalError"


async def test_a_location_reads_its_own_cache_of_kv(tmp_path: Path) -> None:
    storing = worker("""
        if request.method == "PUT":
            await self.env.KV.put("key", await request.text())
        return Response(await self.env.KV.get("key") or "nothing")
    """)
    write_project(tmp_path, storing, config=KV, local='consistency = "eventual"')
    there = {"x-localedge-location": "there"}

    async with edge(tmp_path) as server:
        await server.http.put("/", content="old")
        read = await server.get("/", headers=there)
        await server.http.put("/", content="new")
        here = await server.get("/")
        stale = await server.get("/", headers=there)
        await server.order("clock", advance=61)
        caught_up = await server.get("/", headers=there)

    assert read.text == "old"
    assert here.text == "new"
    assert stale.text == "old"
    assert caught_up.text == "new"
    assert stale.headers["x-localedge-isolate"] == read.headers["x-localedge-isolate"]
