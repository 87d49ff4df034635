"""A worker that does a little of everything, on a real server, for the tests of the page."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.runtime.edge import Edge, edge, write_project
from tests.waiting import wait_until

API = "/cdn-cgi/localedge/api"
SECRET = "s3cr3t-of-the-shop"
MARKUP = "<img src=x onerror=document.title='taken'><b>bold</b>"
CONFIG = """
[triggers]
crons = ["*/5 * * * *"]
[[kv_namespaces]]
binding = "CACHE"
id = "cache"
[[d1_databases]]
binding = "DB"
database_name = "shop"
database_id = "shop"
"""
SOURCE = f"""
import asyncio, os, signal
from urllib.parse import parse_qs, urlparse
from workers import Response, WorkerEntrypoint, fetch

MARKUP = {MARKUP!r}


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        page = getattr(self, urlparse(request.url).path.strip("/") or "hello")
        return await page(request)

    async def hello(self, request):
        return Response("hello", headers={{"x-said": MARKUP}})

    async def order(self, request):
        print("an order of", self.env.TOKEN)
        await self.env.DB.exec("CREATE TABLE IF NOT EXISTS orders (what TEXT)")
        await self.env.DB.prepare("INSERT INTO orders VALUES (?)").bind("hat").run()
        await self.env.CACHE.put("hat", self.env.TOKEN + " " + "x" * 10_000)
        self.ctx.waitUntil(self.later())
        return Response("ordered", status=201)

    async def batch(self, request):
        db = self.env.DB
        await db.exec("CREATE TABLE IF NOT EXISTS orders (what TEXT)")
        add = db.prepare("INSERT INTO orders\\n VALUES (?)")
        await db.batch([add.bind("a"), add.bind("b")])
        return Response("both")

    async def later(self):
        await asyncio.sleep(0.02)
        await self.env.CACHE.put("later", "done")

    async def echo(self, request):
        return Response("got " + await request.text())

    async def markup(self, request):
        print(MARKUP)
        await self.env.CACHE.put(MARKUP, MARKUP)
        raise ValueError(MARKUP)

    async def outside(self, request):
        answer = await fetch("http://" + request.headers["host"] + "/hello")
        return Response(await answer.text())

    async def wait(self, request):
        await self.env.CACHE.get("before waiting")
        await asyncio.sleep(30)
        return Response("waited")

    async def die(self, request):
        await self.env.DB.prepare("SELECT 1 AS one").first()
        print("last words")
        dying = asyncio.ensure_future(self.env.CACHE.get("under way"))
        await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGKILL)

    async def scheduled(self, controller, env, ctx):
        await self.env.CACHE.get("by the clock")
"""


@asynccontextmanager
async def shop(folder: Path, *, isolates: int = 2) -> AsyncIterator[Edge]:
    """The shop's server is ready, and somebody looks at it."""
    write_project(folder, SOURCE, config=CONFIG, local=f"isolates = {isolates}")
    (folder / ".dev.vars").write_text(f'TOKEN="{SECRET}"\n', "utf-8")
    async with edge(folder) as server:
        await server.wait_full(isolates + 1)
        await get(server, "requests")
        yield server


async def get(server: Edge, path: str) -> Any:
    """What the API answers."""
    answer = await server.get(f"{API}/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def post(server: Edge, path: str, **query: str | int) -> Any:
    """What the API answers to a change."""
    answer = await server.order(f"api/{path}", **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def told(server: Edge, path: str, **options: Any) -> dict[str, Any]:
    """All that is known of a new request to `path`, once nothing goes on for it any more."""
    known = {one["ray"] for one in (await get(server, "requests"))["requests"]}
    await server.http.request(options.pop("method", "GET"), path, **options)
    place = path.partition("?")[0]

    async def whole() -> dict[str, Any] | None:
        for one in (await get(server, "requests"))["requests"]:
            is_it = place in one["url"] and one["ray"] not in known
            if is_it and one["state"] == "over":
                found: dict[str, Any] = await get(server, f"requests/{one['ray']}")
                seen = kinds(found)
                if seen.count("call.began") == seen.count("call.ended"):
                    return found
        return None

    found: dict[str, Any] | None = await wait_until(whole)
    assert found is not None
    return found


def kinds(story: dict[str, Any]) -> list[str]:
    """What happened, in order."""
    return [one["kind"] for one in story["happened"]]


def calls(story: dict[str, Any]) -> list[str]:
    """The calls that it made, in order."""
    return [
        f"{one['binding']}.{one['operation']}"
        for one in story["happened"]
        if one["kind"] == "call.began"
    ]


def text_of(value: Any) -> str:
    """`value` as JSON, to look for something in it."""
    return json.dumps(value)
