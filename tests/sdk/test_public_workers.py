"""Workers in the style of public ones, in both worlds, on a real Valkey and a real SQLite file."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import Bench, Client, LoadWorker

from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.errors import JsException
from localedge.kv.namespace import KvNamespace
from localedge.kv.redis import connect
from localedge.probe import Call, Outcome
from localedge.sdk.context import ExecutionContext

pytestmark = pytest.mark.anyio
_numbers = itertools.count()


@pytest.fixture(autouse=True)
async def bindings(bench: Bench, valkey_url: str, tmp_path: Path) -> AsyncIterator[Any]:
    """An env with FOO (KV) and DB (D1, one table of quotes), a text and a JSON var."""
    async with connect(valkey_url) as connection, open_engine(tmp_path / "db.sqlite") as engine:
        env = bench.use(
            {
                "FOO": KvNamespace(connection.store(f"public {next(_numbers)}")),
                "DB": D1Database(engine),
                "API_HOST": "example.com",
                "SETTINGS": {"limit": 3, "none": None},
            }
        )
        await env.DB.exec("CREATE TABLE qtable (id INTEGER PRIMARY KEY, quote TEXT, author TEXT)")
        await (
            env.DB.prepare("INSERT INTO qtable (quote, author) VALUES (?, ?)").bind("q", "a").run()
        )
        yield env


MODERN = {
    "hello": (
        """
        from submodule import get_hello_message
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return Response(get_hello_message())
        """,
        "hello",
    ),
    "a binding": (
        """
        from workers import WorkerEntrypoint, Response

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                await self.env.FOO.put("bar", "baz")
                bar = await self.env.FOO.get("bar")
                return Response(bar)
        """,
        "baz",
    ),
    "a query by attributes": (
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                query = "SELECT quote, author FROM qtable ORDER BY RANDOM() LIMIT 1"
                results = await self.env.DB.prepare(query).all()
                data = results.results[0]
                return Response.json(data)
        """,
        '{"quote": "q", "author": "a"}',
    ),
    "keyword options": (
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                kv = self.env.FOO
                await kv.put("a:1", "x", expirationTtl=60, metadata={"v": 1})
                await kv.put("a:2", '{"n": 2}', {"metadata": {"v": 2}})
                listing = await kv.list(prefix="a:")
                names = [(k["name"], k.metadata.v) for k in listing["keys"]]
                both = await kv.get(["a:1", "nope"])
                withmeta = await kv.getWithMetadata("a:1")
                parsed = await kv.get("a:2", "json")
                missing = await kv.get("nope")
                return Response.json(
                    [names, both, withmeta["metadata"], parsed.n, missing, listing["list_complete"]]
                )
        """,
        '[[["a:1", 1], ["a:2", 2]], {"a:1": "x", "nope": null}, {"v": 1}, 2, null, true]',
    ),
    "statements": (
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                db = self.env.DB
                insert = db.prepare("INSERT INTO qtable (quote, author) VALUES (?1, ?2)")
                await db.batch([insert.bind("r", "b"), insert.bind("s", None)])
                by_quote = db.prepare("SELECT author FROM qtable WHERE quote = ?")
                author = await by_quote.bind("s").first("author")
                raw = await db.prepare("SELECT quote FROM qtable ORDER BY id").raw(columnNames=True)
                return Response.json([author, raw])
        """,
        '[null, [["quote"], ["q"], ["r"], ["s"]]]',
    ),
    "env at the top": (
        """
        from workers import Response, WorkerEntrypoint, env

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                limit = self.env.SETTINGS.to_py()["limit"]
                return Response(f"{env.API_HOST} {env.SETTINGS.limit} {limit}")
        """,
        "example.com 3 3",
    ),
    "json in and out": (
        """
        from workers import Response, WorkerEntrypoint
        from urllib.parse import urlparse, parse_qs

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                if request.method != "POST":
                    return Response("Method not allowed", status=405)
                data = await request.json()
                url = urlparse(request.url)
                return Response.json({"got": data, "path": url.path, "q": parse_qs(url.query)})
        """,
        '{"got": {"a": 1}, "path": "/p", "q": {"x": ["1"]}}',
    ),
    "a stream from KV": (
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                await self.env.FOO.put("k", b"bytes")
                return Response(await self.env.FOO.get("k", "stream"))
        """,
        "bytes",
    ),
    "fallback imports": (
        """
        from workers import Response, WorkerEntrypoint
        try:
            from pyodide.ffi import to_js
        except ImportError:
            to_js = None

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                await self.env.FOO.put("k", "v", to_js({"metadata": {"a": 1}}))
                found = await self.env.FOO.getWithMetadata("k")
                return Response.json(found["metadata"])
        """,
        '{"a": 1}',
    ),
}


@pytest.mark.parametrize("form", MODERN)
async def test_a_public_form_works(form: str, load: LoadWorker, client: Client) -> None:
    code, expected = MODERN[form]
    worker = load(code, submodule="def get_hello_message(): return 'hello'")

    answer = await client.send(worker, "/p?x=1", method="POST", body=b'{"a": 1}')

    assert answer.text == expected


LEGACY = {
    "response of the platform": (
        """
        from js import Response

        async def on_fetch(request, env):
            return Response.new(f"{request.method} {request.url}")
        """,
        "POST https://edge.test/p?x=1",
    ),
    "json of the platform": (
        """
        from js import Response, Headers, JSON, Object
        from pyodide.ffi import to_js

        async def on_fetch(request, env, ctx):
            body = JSON.stringify(to_js({"a": 1}, dict_converter=Object.fromEntries))
            headers = Headers.new({"content-type": "application/json"}.items())
            return Response.new(body, headers=headers)
        """,
        '{"a":1}',
    ),
    "handler": (
        """
        from workers import Response, handler

        @handler
        async def on_fetch(request, env):
            await env.FOO.put("k", "v", metadata={"a": 1})
            found = await env.FOO.getWithMetadata("k")
            return Response.json([await request.json(), found["metadata"]["a"]])
        """,
        '[{"a": 1}, 1]',
    ),
    "raw rows": (
        """
        from js import Response
        import json

        async def on_fetch(request, env):
            result = await env.DB.prepare("SELECT quote, author FROM qtable").all()
            rows = result.results.to_py()
            first = result.results[0]
            return Response.new(json.dumps([rows, first.quote, result.meta.changes]))
        """,
        '[[{"quote": "q", "author": "a"}], "q", 0]',
    ),
    "raw KV": (
        """
        from js import Response, Object
        from pyodide.ffi import to_js, jsnull

        async def on_fetch(request, env):
            options = to_js({"metadata": {"a": 1}}, dict_converter=Object.fromEntries)
            await env.FOO.put("k", "v", options)
            missing = await env.FOO.get("nope")
            listing = await env.FOO.list(prefix="k")
            names = [key.name for key in listing.keys]
            return Response.new(f"{missing is jsnull} {names} {await env.FOO.get('k')}")
        """,
        "True ['k'] v",
    ),
    "a body of the platform": (
        """
        from js import Response, URL

        async def on_fetch(request, env):
            url = URL.new(request.url)
            data = await request.json()
            return Response.new(f"{url.pathname} {url.searchParams.get('x')} {data.a}")
        """,
        "/p 1 1",
    ),
    "a sync handler": (
        """
        from js import Response

        def on_fetch(request):
            return Response.new("sync")
        """,
        "sync",
    ),
}


@pytest.mark.parametrize("form", LEGACY)
async def test_a_legacy_form_works(form: str, load: LoadWorker, client: Client) -> None:
    code, expected = LEGACY[form]

    answer = await client.send(load(code), "/p?x=1", method="POST", body=b'{"a": 1}')

    assert answer.text == expected


async def test_none_is_undefined_in_the_legacy_world(load: LoadWorker, client: Client) -> None:
    worker = load(
        """
        async def on_fetch(request, env):
            await env.DB.prepare("SELECT ?").bind(None).first()
        """
    )

    with pytest.raises(JsException, match="Type 'undefined' not supported"):
        await client.send(worker)


async def test_a_dict_is_no_options_object_in_the_legacy_world(
    load: LoadWorker, client: Client
) -> None:
    worker = load(
        """
        from js import Response

        async def on_fetch(request, env):
            await env.FOO.put("k", "v", {"metadata": {"a": 1}})
            found = await env.FOO.getWithMetadata("k")
            return Response.new(repr(found.metadata))
        """
    )

    assert (await client.send(worker)).text == "jsnull"


async def test_a_cron_worker_needs_no_request(
    bench: Bench, load: LoadWorker, client: Client
) -> None:
    worker = load(
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self):
                return Response(await self.env.FOO.get("last") or "never")

            async def scheduled(self, controller, env, ctx):
                await self.env.FOO.put("last", controller.cron)
        """
    )

    before = (await client.send(worker)).text
    await worker.scheduled("* * * * *", 0, bench.env, ExecutionContext())

    assert (before, (await client.send(worker)).text) == ("never", "* * * * *")


async def test_a_legacy_cron_worker_is_called(bench: Bench, load: LoadWorker) -> None:
    worker = load(
        """
        seen = []

        async def on_scheduled(controller, env, ctx):
            seen.append((controller.cron, env.API_HOST, hasattr(ctx, "waitUntil")))
        """
    )

    await worker.scheduled("* * * * *", 0, bench.env, ExecutionContext())

    assert worker.module.seen == [("* * * * *", "example.com", True)]
    assert worker.handlers() == {"scheduled"}


async def test_work_after_the_response_reaches_the_bindings(
    bench: Bench, load: LoadWorker, client: Client
) -> None:
    worker = load(
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                self.ctx.waitUntil(self.log(request.url))
                return Response("ok")

            async def log(self, url):
                await self.env.FOO.put("url", url)
        """
    )

    await client.send(worker, "/seen")

    assert await bench.env.FOO.get("url") == "https://edge.test/seen"


async def test_a_state_of_the_module_lives_as_long_as_the_isolate(
    load: LoadWorker, client: Client
) -> None:
    worker = load(
        """
        from workers import Response, WorkerEntrypoint

        count = 0

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                global count
                count += 1
                return Response(str(count))
        """
    )

    assert [(await client.send(worker)).text for _ in range(2)] == ["1", "2"]


async def test_legacy_calls_pass_the_probe(bench: Bench, load: LoadWorker, client: Client) -> None:
    seen: list[Any] = []

    class Watching:
        async def before(self, call: Call) -> None:
            seen.append((call.kind, call.binding, call.operation))

        async def after(self, call: Call, outcome: Outcome) -> None:
            return None

    worker = load(
        """
        from js import Response
        from pyodide.ffi import to_js

        async def on_fetch(request, env):
            await env.FOO.put("k", "v")
            statement = env.DB.prepare("SELECT 1 AS n")
            results = await env.DB.batch(to_js([statement, statement]))
            return Response.new(str(results[1].results[0].n))
        """
    )
    detach = bench.probe.attach(Watching())

    answer = await client.send(worker)
    detach()

    assert answer.text == "1"
    assert seen == [("kv", "FOO", "put"), ("d1", "DB", "batch")]


async def test_a_class_in_the_legacy_world_has_raw_bindings(
    load: LoadWorker, client: Client
) -> None:
    worker = load(
        """
        from pyodide.ffi import jsnull
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                missing = await self.env.FOO.get("nope")
                rows = (await self.env.DB.prepare("SELECT 1 AS n").all()).results.to_py()
                return Response.json([missing is jsnull, rows])
        """,
        is_legacy=True,
    )

    assert (await client.send(worker)).json == [True, [{"n": 1}]]
