"""Service bindings: one worker calls another that the same server runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.platform.projects import template
from tests.runtime.edge import Edge, edge, kill
from tests.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

FRONT = """
import asyncio
import datetime as dt
import json

from pyodide.ffi import JsException
from workers import Request, Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        name = request.url.rpartition("/")[2]
        return await getattr(self, name)(request)

    async def passed(self, request):
        return await self.env.BACK.fetch(request)

    async def made(self, request):
        answer = await self.env.BACK.fetch(
            "https://back.test/echo?x=1", method="PUT", headers={"x-a": "b"}, body="text"
        )
        return Response.json([answer.status, answer.headers["x-by"], await answer.text()])

    async def large(self, request):
        body = b"0123456789" * 60_000
        answer = await self.env.BACK.fetch(Request("https://b/echo", method="POST", body=body))
        content = await answer.bytes()
        return Response(str(content.endswith(body)))

    async def streamed(self, request):
        return await self.env.BACK.fetch("https://back.test/stream")

    async def forever(self, request):
        return await self.env.BACK.fetch("https://back.test/endless")

    async def unread(self, request):
        answer = await self.env.BACK.fetch("https://back.test/endless")
        return Response(str(answer.status))

    async def methods(self, request):
        back = self.env.BACK
        moment = dt.datetime(2026, 1, 2, 3, 4, 5)
        values = [1, 1.5, None, True, "ü", [1, {"a": None}], {"b": [2]}, 2**60]
        echoed = [await back.echo(value) for value in values]
        held = await back.echo({"date": moment, "bytes": b"ab", "set": {1}})
        added = await back.add(2, 3)
        options = await back.options("first", limit=5)
        special = [held.date == moment, bytes(held["bytes"]) == b"ab", held["set"] == {1}]
        return Response.json([echoed == values, special, added, options])

    async def named(self, request):
        answer = await self.env.ADMIN.fetch("https://x/")
        return Response.json([await answer.text(), await self.env.ADMIN.who()])

    async def itself(self, request):
        return Response(await self.env.SELF.hello())

    def hello(self):
        return "from itself"

    async def failures(self, request):
        said = []
        back = self.env.BACK
        for call in (
            lambda: back.fail(),
            lambda: back.nothing(),
            lambda: back.echo(object()),
            lambda: back.gives_object(),
            lambda: self.env.GHOST.hello(),
            lambda: back.add(1),
        ):
            try:
                await call()
            except (JsException, TypeError) as error:
                said.append(f"{type(error).__name__} {getattr(error, 'name', '')}: {error}")
        for call in (
            lambda: back.fetch("https://back.test/fails"),
            lambda: self.env.GHOST.fetch("https://back.test/"),
        ):
            try:
                await call()
            except OSError as error:
                said.append(f"OSError: {error}")
        return Response.json(said)

    async def slow(self, request):
        try:
            await self.env.BACK.fetch("https://back.test/slow")
        except OSError as error:
            return Response(str(error))
        return Response("answered")
"""
BACK = """
import asyncio

from workers import Response, WorkerEntrypoint
from js import ReadableStream, TransformStream, TextEncoder


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        name = request.url.rpartition("/")[2].partition("?")[0]
        if name == "fails":
            raise ValueError("the back is broken")
        if name == "slow":
            print("back is slow")
            await asyncio.sleep(60)
        if name in ("stream", "endless"):
            return await self.stream(name)
        text = f"{request.method} {request.url} {request.headers['x-a']} {await request.text()}"
        return Response(text, status=201, headers={"x-by": "back"})

    async def stream(self, name):
        pair = TransformStream.new()
        writer = pair.writable.getWriter()
        encoder = TextEncoder.new()

        async def write():
            try:
                at = 0
                while at < 3 or name == "endless":
                    await writer.write(encoder.encode(f"piece {at} " * 1000))
                    at += 1
                await writer.close()
            finally:
                print("stream of", name, "ended")

        self.ctx.waitUntil(write())
        return Response(pair.readable)

    async def echo(self, value):
        return value

    def add(self, a, b):
        return a + b

    def options(self, first, given):
        return [first, given.limit]

    def fail(self):
        raise ValueError("no such thing")

    def gives_object(self):
        return object()


class Admin(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(f"admin of {self.ctx.props.team}")

    def who(self):
        return f"who {self.ctx.props.team}"
"""
SERVICES = [
    {"binding": "BACK", "service": "back"},
    {"binding": "ADMIN", "service": "back", "entrypoint": "Admin", "props": {"team": "blue"}},
    {"binding": "SELF", "service": "front"},
    {"binding": "GHOST", "service": "ghost"},
]


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """Two workers in one server; the first has the port."""
    folder = tmp_path_factory.mktemp("services")
    front = template(folder / "front", FRONT, name="front", services=SERVICES)
    template(folder / "back", BACK, name="back")
    async with edge(front, "-c", "wrangler.jsonc", "-c", "../back/wrangler.jsonc") as running:
        yield running


async def test_a_request_is_passed_on_and_answered(server: Edge) -> None:
    answer = await server.http.post("/passed", headers={"x-a": "y"}, content="body")

    assert answer.status_code == 201
    assert answer.text == f"POST {server.run.url}/passed y body"
    assert answer.headers["x-by"] == "back"


async def test_a_request_of_its_own_reaches_the_other_worker(server: Edge) -> None:
    answer = await server.get("/made")

    assert answer.json() == [201, "back", "PUT https://back.test/echo?x=1 b text"]


async def test_large_bodies_go_both_ways(server: Edge) -> None:
    answer = await server.get("/large")

    assert answer.text == "True"


async def test_a_stream_comes_through_piece_by_piece(server: Edge) -> None:
    answer = await server.get("/streamed")

    assert answer.text == "".join(f"piece {at} " * 1000 for at in range(3))


async def test_a_body_that_nobody_reads_ends_with_its_reader(server: Edge) -> None:
    answer = await server.get("/unread")
    ended = await server.wait_log("stream of endless ended")

    assert answer.text == "200"
    assert ended


async def test_methods_take_and_give_values(server: Edge) -> None:
    answer = await server.get("/methods")

    assert answer.json() == [True, [True, True, True], 5, ["first", 5]]


async def test_a_named_entrypoint_gets_its_props(server: Edge) -> None:
    answer = await server.get("/named")

    assert answer.json() == ["admin of blue", "who blue"]


async def test_a_worker_may_call_itself(server: Edge) -> None:
    answer = await server.get("/itself")

    assert answer.text == "from itself"


async def test_each_failure_says_what_happened(server: Edge) -> None:
    raised, missing, argument, result, ghost, arity, fetched, ghost_fetched = (
        await server.get("/failures")
    ).json()

    assert raised.startswith("JsException PythonError: PythonError: Traceback")
    assert "ValueError: no such thing" in raised
    assert 'does not implement the method "nothing"' in missing
    assert "DataCloneError" in argument
    assert "DataCloneError" in result
    assert 'env.GHOST is bound to the worker "ghost", which is not running here' in ghost
    assert "missing 1 required positional argument" in arity
    assert "the back is broken" in fetched
    assert "start it too, with one -c" in ghost_fetched


async def busy(server: Edge) -> list[tuple[str, int]]:
    """Name of the worker and pid of each isolate that has an event in flight."""
    workers = (await server.get("/cdn-cgi/localedge/status")).json()["workers"]
    return [(w["name"], i["pid"]) for w in workers for i in w["isolates"] if i["in_flight"]]


async def is_idle(server: Edge) -> bool:
    """Whether nothing is in flight. An event is over a moment after its answer is there."""
    return not await busy(server)


async def test_a_caller_learns_that_the_other_worker_was_killed(server: Edge) -> None:
    async def back() -> int | None:
        return dict(await busy(server)).get("back")

    await wait_until(lambda: is_idle(server))
    slow = asyncio.ensure_future(server.get("/slow"))
    pid = await wait_until(back)
    assert pid
    kill(pid)
    answer = await slow

    assert answer.text == "The other worker ended with internalError."


async def test_a_call_ends_with_the_isolate_that_made_it(server: Edge) -> None:
    before = server.logged().count("stream of endless ended")

    async with server.http.stream("GET", "/forever") as answer:
        kill(int(answer.headers["x-localedge-isolate"]))
        with pytest.raises(httpx.HTTPError):
            await answer.aread()
    ended = await wait_until(lambda: server.logged().count("stream of endless ended") > before)

    assert ended


async def test_the_raw_env_of_the_older_world_has_services_too(tmp_path: Path) -> None:
    front = template(
        tmp_path / "front",
        """
        from js import Object
        from pyodide.ffi import to_js
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                answer = await self.env.BACK.fetch("https://back.test/echo")
                given = to_js({"a": [1]}, dict_converter=Object.fromEntries)
                value = await self.env.BACK.echo(given)
                return Response(f"{answer.status} {value.to_py()} {value.a[0]}")
        """,
        name="front",
        services=SERVICES,
        compatibility_date="2026-03-01",
    )
    template(tmp_path / "back", BACK, name="back")

    async with edge(front, "-c", "wrangler.jsonc", "-c", "../back/wrangler.jsonc") as running:
        answer = await running.get("/")

    assert answer.text == "201 {'a': [1]} 1"


async def test_many_calls_at_once_do_not_meet_and_leave_nothing(server: Edge) -> None:
    async def echoed(number: int) -> bool:
        body = f"{number}-".encode() * (1 if number % 2 else 40_000)
        answer = await server.http.post("/passed", headers={"x-a": str(number)}, content=body)
        return answer.text == f"POST {server.run.url}/passed {number} {body.decode()}"

    right = await asyncio.gather(*(echoed(number) for number in range(60)))
    streams = await asyncio.gather(*(server.get("/streamed") for _ in range(20)))

    await wait_until(lambda: is_idle(server))
    assert all(right)
    assert len({answer.text for answer in streams}) == 1


VERSIONED = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    def version(self):
        return ["first", self.env.VERSION.id]
"""


async def test_a_call_reaches_the_newest_version_of_the_other_worker(tmp_path: Path) -> None:
    asking = """
    from workers import Response, WorkerEntrypoint

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            return Response.json(await self.env.BACK.version())
    """
    front = template(tmp_path / "front", asking, name="front", services=SERVICES)
    back = template(
        tmp_path / "back", VERSIONED, name="back", version_metadata={"binding": "VERSION"}
    )

    async with edge(front, "-c", "wrangler.jsonc", "-c", "../back/wrangler.jsonc") as running:
        old = (await running.get("/")).json()
        again = (await running.get("/")).json()
        entry = back / "src" / "entry.py"
        entry.write_text(entry.read_text("utf-8").replace("first", "second"), "utf-8")
        await running.wait_log("reloaded")
        new = (await running.get("/")).json()

    assert old == again
    assert (old[0], new[0]) == ("first", "second")
    assert old[1] != new[1]


async def test_a_worker_that_cannot_be_loaded_says_so_to_its_callers(tmp_path: Path) -> None:
    front = template(tmp_path / "front", FRONT, name="front", services=SERVICES)
    template(tmp_path / "back", "import nothing_like_this", name="back")

    async with edge(front, "-c", "wrangler.jsonc", "-c", "../back/wrangler.jsonc") as running:
        answer = await running.get("/failures")

    assert "No module named 'nothing_like_this'" in answer.json()[0]
