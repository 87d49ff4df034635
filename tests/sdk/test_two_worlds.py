"""Forms that public workers are written in, each in the current world and in the older one.

`BOTH` holds what a worker answers in either world; `APART` what differs, as the platform does it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
from tests.sdk.conftest import Bench, Client, LoadWorker

from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.kv.namespace import KvNamespace
from localedge.kv.redis import connect
from localedge.sdk.context import ExecutionContext
from localedge.sdk.host import Host, set_host

pytestmark = pytest.mark.anyio
_numbers = itertools.count()
WORLDS = pytest.mark.parametrize("is_legacy", [False, True], ids=["current", "older"])


@pytest.fixture(autouse=True)
async def env(bench: Bench, valkey_url: str, tmp_path: Path) -> AsyncIterator[Any]:
    """An env with KV, a DB of notes, a text and an object."""
    async with connect(valkey_url) as connection, open_engine(tmp_path / "db.sqlite") as engine:
        env = bench.use(
            {
                "KV": KvNamespace(connection.store(f"worlds {next(_numbers)}")),
                "DB": D1Database(engine),
                "MESSAGE": "hello",
                "SETTINGS": {"limit": 3},
            }
        )
        await env.DB.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, score REAL)")
        insert = env.DB.prepare("INSERT INTO notes (title, score) VALUES (?, ?)")
        await env.DB.batch([insert.bind("a", 1.5), insert.bind("b", 2)])
        yield env


def worker(body: str, head: str = "") -> str:
    """A worker whose `fetch(self, request)` is `body`; `env`, `kv` and `db` are its bindings."""
    lines = f"env = self.env\nkv, db = env.KV, env.DB\n{dedent(body)}"
    return (
        "from workers import Response, WorkerEntrypoint\nimport json\n"
        f"{dedent(head)}\n"
        "class Default(WorkerEntrypoint):\n"
        "    async def fetch(self, request):\n" + indent(lines, " " * 8)
    )


async def answer(
    code: str, is_legacy: bool, bench: Bench, load: LoadWorker, client: Client, **files: str
) -> Any:
    """What the worker answers in that world, or the class and text of what it raises."""
    set_host(Host(bench.probe, bench.env, is_legacy=is_legacy))
    loaded = load(code, is_legacy=is_legacy, **files)
    try:
        found = await client.send(loaded, "/p?x=1", method="POST", body=b'{"a": [1, null]}')
    except Exception as error:  # noqa: BLE001  (whatever a worker raises)
        return f"{type(error).__name__}: {error}"
    return json.loads(found.text)


BOTH: dict[str, tuple[str, str, Any]] = {
    "a text is put and read": (
        "",
        """
        await kv.put("bar", "baz")
        return Response.json(await kv.get("bar"))
        """,
        "baz",
    ),
    "options are keyword arguments": (
        "",
        """
        await kv.put("k", "v", expirationTtl=120)
        listing = await kv.list(prefix="k", limit=5)
        return Response.json([listing.list_complete, await kv.get("k", type="text")])
        """,
        [True, "v"],
    ),
    "options are an object of the platform": (
        "from pyodide.ffi import to_js\nfrom js import Object",
        """
        options = to_js({"metadata": {"by": "me"}}, dict_converter=Object.fromEntries)
        await kv.put("k", "v", options)
        found = await kv.getWithMetadata("k")
        return Response.json([found.value, found.metadata.by])
        """,
        ["v", "me"],
    ),
    "no options at all": (
        "",
        """
        await kv.put("k", "v")
        await kv.delete("k")
        await kv.delete("k")
        return Response.json(bool(await kv.get("k")))
        """,
        False,
    ),
    "a row is read by attributes": (
        "",
        """
        result = await db.prepare("SELECT title, score FROM notes ORDER BY id").all()
        row = result.results[0]
        return Response.json([row.title, row.score, result.success, len(result.results)])
        """,
        ["a", 1.5, True, 2],
    ),
    "a row is the answer": (
        "",
        """
        result = await db.prepare("SELECT id, title FROM notes WHERE id = ?").bind(1).all()
        return Response.json(result.results[0])
        """,
        {"id": 1, "title": "a"},
    ),
    "an old guard around to_py": (
        "",
        """
        result = await db.prepare("SELECT title FROM notes ORDER BY id").all()
        rows = result.results
        if hasattr(rows, "to_py"):
            rows = rows.to_py()
        return Response.json(rows)
        """,
        [{"title": "a"}, {"title": "b"}],
    ),
    "first with and without a column": (
        "",
        """
        title = await db.prepare("SELECT title FROM notes WHERE id = ?1").bind(2).first("title")
        row = await db.prepare("SELECT * FROM notes WHERE id = ?1").bind(2).first()
        return Response.json([title, row.title, row.score])
        """,
        ["b", "b", 2],
    ),
    "run and its meta": (
        "",
        """
        insert = db.prepare("INSERT INTO notes (title) VALUES (?)").bind("c")
        meta = (await insert.run()).meta
        return Response.json([meta.changes, meta.last_row_id, meta.changed_db])
        """,
        [1, 3, True],
    ),
    "rows as lists": (
        "",
        """
        found = await db.prepare("SELECT id, title FROM notes ORDER BY id").raw(columnNames=True)
        return Response.json([list(row) for row in found])
        """,
        [["id", "title"], [1, "a"], [2, "b"]],
    ),
    "exec": (
        "",
        """
        done = await db.exec("DELETE FROM notes WHERE id = 1")
        left = await db.prepare("SELECT COUNT(*) AS n FROM notes").first("n")
        return Response.json([done.count, left])
        """,
        [1, 1],
    ),
    "an error of D1 is caught by its text": (
        "",
        """
        try:
            await db.prepare("SELECT * FROM nowhere").all()
        except Exception as error:
            return Response.json(["no such table" in str(error), type(error).__name__])
        """,
        [True, "JsException"],
    ),
    "waiting without await": (
        "from pyodide.ffi import run_sync",
        """
        def rows():
            return run_sync(db.prepare("SELECT title FROM notes ORDER BY id").all()).results
        return Response.json([row.title for row in rows()])
        """,
        ["a", "b"],
    ),
    "env at the top of the module": (
        "from workers import env as top",
        """
        await top.KV.put("k", "v")
        return Response.json([top.MESSAGE, top.SETTINGS.limit, await self.env.KV.get("k")])
        """,
        ["hello", 3, "v"],
    ),
    "env of the platform's module": (
        "from workers import import_from_javascript",
        """
        far = import_from_javascript("cloudflare:workers").env
        await far.KV.put("k", "v")
        return Response.json([far.MESSAGE, await kv.get("k")])
        """,
        ["hello", "v"],
    ),
    "a fallback for machines without Pyodide": (
        """
        try:
            from pyodide.ffi import to_js
        except ImportError:
            def to_js(value, **_):
                return None
        """,
        """
        return Response.json(to_js([1, 2]).to_py())
        """,
        [1, 2],
    ),
    "the request as Python has it": (
        "from urllib.parse import parse_qs, urlparse",
        """
        data = await request.json()
        url = urlparse(request.url)
        return Response.json([request.method, url.path, parse_qs(url.query), data])
        """,
        ["POST", "/p", {"x": ["1"]}, {"a": [1, None]}],
    ),
    "the request as JavaScript has it": (
        "from js import URL",
        """
        raw = request.js_object
        url = URL.new(raw.url)
        data = await raw.json()
        return Response.json([raw.method, url.searchParams.get("x"), data.a[0], data.a.length])
        """,
        ["POST", "1", 1, 2],
    ),
    "a response of the platform": (
        "from js import Response as JsResponse, Headers, JSON, Object\n"
        "from pyodide.ffi import to_js",
        """
        body = JSON.stringify(to_js({"a": 1}, dict_converter=Object.fromEntries))
        return JsResponse.new(body, headers=Headers.new({"x-a": "b"}.items()), status=201)
        """,
        {"a": 1},
    ),
    "a stream of the platform": (
        "from js import TextEncoder, TransformStream\nfrom pyodide.ffi import create_proxy",
        """
        pair = TransformStream.new()
        writer = pair.writable.getWriter()
        async def write():
            for part in ("[1,", "2]"):
                await writer.write(TextEncoder.new().encode(part))
            await writer.close()
        self.ctx.waitUntil(create_proxy(write()))
        return Response(pair.readable)
        """,
        [1, 2],
    ),
    "random values in a handler": (
        "import random, uuid, secrets",
        """
        values = {str(uuid.uuid4()), secrets.token_hex(8), str(random.random())}
        return Response.json(len(values))
        """,
        3,
    ),
    "a file of the bundle": (
        "from pathlib import Path",
        """
        return Response.json(Path(__file__).with_name("data.py").read_text())
        """,
        "DATA = 1\n",
    ),
    "a stored stream is the body": (
        "from pyodide.ffi import to_js",
        """
        await kv.put("k", to_js(b"[5]"))
        return Response(await kv.get("k", "stream"))
        """,
        [5],
    ),
    "an optional binding": (
        "",
        """
        return Response.json([hasattr(env, "OTHER"), getattr(env, "OTHER", "none")])
        """,
        [False, "none"],
    ),
}


@WORLDS
@pytest.mark.parametrize("form", BOTH)
async def test_a_form_answers_the_same_in_both_worlds(
    form: str, is_legacy: bool, bench: Bench, load: LoadWorker, client: Client
) -> None:
    head, body, expected = BOTH[form]
    code = worker(body, head)

    found = await answer(code, is_legacy, bench, load, client, data="DATA = 1\n")

    assert found == expected


APART: dict[str, tuple[str, str, Any, Any]] = {
    "a missing value": (
        "from pyodide.ffi import jsnull",
        """
        value = await kv.get("nothing")
        return Response.json([value is None, value is jsnull])
        """,
        [True, False],
        [False, True],
    ),
    "an object of options": (
        "",
        """
        await kv.put("k", "v", {"metadata": {"by": "me"}})
        found = await kv.getWithMetadata("k")
        return Response.json(bool(found.metadata))
        """,
        True,
        False,
    ),
    "rows are converted": (
        "",
        """
        result = await db.prepare("SELECT title FROM notes ORDER BY id").all()
        return Response.json(result.results.to_py())
        """,
        "AttributeError: 'list' object has no attribute 'to_py'",
        [{"title": "a"}, {"title": "b"}],
    ),
    "the keys of a listing by subscript": (
        "",
        """
        await kv.put("k", "v")
        listing = await kv.list()
        return Response.json([key["name"] for key in listing["keys"]])
        """,
        ["k"],
        "TypeError: 'JsProxy' object is not subscriptable",
    ),
    "the keys of a listing by attribute": (
        "",
        """
        await kv.put("k", "v")
        listing = await kv.list()
        return Response.json([key.name for key in listing.keys])
        """,
        "TypeError: 'builtin_function_or_method' object is not iterable",
        ["k"],
    ),
    "None is bound": (
        "",
        """
        await db.prepare("INSERT INTO notes (title) VALUES (?)").bind(None).run()
        return Response.json(await db.prepare("SELECT COUNT(*) AS n FROM notes").first("n"))
        """,
        3,
        "JsException: Error: D1_TYPE_ERROR: Type 'undefined' not supported for value 'undefined'",
    ),
    "a batch of a list": (
        "from pyodide.ffi import to_js",
        """
        insert = db.prepare("INSERT INTO notes (title) VALUES (?)")
        made = [insert.bind("c"), insert.bind("d")]
        done = await db.batch(to_js(made) if hasattr(insert, "to_py") else made)
        return Response.json([type(done).__name__, len(done), done[0].meta.changes])
        """,
        ["list", 2, 1],
        ["JsProxy", 2, 1],
    ),
    "a value as JSON": (
        "from pyodide.ffi import JsProxy",
        """
        await kv.put("k", '{"a": {"b": 1}}')
        value = await kv.get("k", "json")
        return Response.json([isinstance(value, JsProxy), isinstance(value, dict), value.a.b])
        """,
        [False, True, 1],
        [True, False, 1],
    ),
    "bytes are put": (
        "",
        """
        await kv.put("k", b"ab")
        return Response.json(await kv.get("k"))
        """,
        "ab",
        "JsException: TypeError: KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, "
        "and ReadableStreams as values.",
    ),
    "bytes are read": (
        "from pyodide.ffi import to_js",
        """
        await kv.put("k", to_js(b"ab"))
        value = await kv.get("k", "arrayBuffer")
        held = value if isinstance(value, memoryview) else value.to_py()
        return Response.json([type(value).__name__, bytes(held).decode()])
        """,
        ["memoryview", "ab"],
        ["JsProxy", "ab"],
    ),
}


@WORLDS
@pytest.mark.parametrize("form", APART)
async def test_a_form_answers_what_its_world_gives(
    form: str, is_legacy: bool, bench: Bench, load: LoadWorker, client: Client
) -> None:
    head, body, current, older = APART[form]

    found = await answer(worker(body, head), is_legacy, bench, load, client)

    assert found == (older if is_legacy else current)


CRON = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self):
        return Response.json(await self.env.KV.get("ran"))

    async def scheduled(self, controller, env, ctx):
        assert env is None and ctx is None
        await self.env.KV.put("ran", f"{controller.cron} {controller.scheduledTime}")

    async def queue(self, batch, env, ctx): ...

    async def email(self, message, env, ctx): ...

    async def tail(self, events, env, ctx): ...
"""


@WORLDS
async def test_a_cron_writes_what_a_request_reads(
    is_legacy: bool, bench: Bench, load: LoadWorker, client: Client
) -> None:
    loaded = load(CRON, is_legacy=is_legacy)

    await loaded.scheduled("*/5 * * * *", 1700000000000, bench.env, ExecutionContext())
    found = (await client.send(loaded)).json

    assert found == "*/5 * * * * 1700000000000"
    assert loaded.handlers() == {"fetch", "scheduled", "queue", "email", "tail"}


RPC = """
from workers import WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def highlight(self, code, options):
        await self.env.KV.put("last", code)
        return {"html": f"<b>{code}</b>", "language": options["language"], "none": None}
"""


@WORLDS
async def test_a_method_is_called_with_plain_values(
    is_legacy: bool, bench: Bench, load: LoadWorker
) -> None:
    loaded = load(RPC, is_legacy=is_legacy)
    given = ["x = 1", {"language": "python"}]

    found = await loaded.call("Default", "highlight", given, bench.env, ExecutionContext())

    assert found == {"html": "<b>x = 1</b>", "language": "python", "none": None}


GLOBAL = """
from js import Response, JSON
from pyodide.ffi import jsnull

async def on_fetch(request, env, ctx):
    missing = await env.KV.get("nothing")
    row = await env.DB.prepare("SELECT title FROM notes").first()
    found = [missing is jsnull, request.headers.get("x-a"), row.title]
    return Response.new(str(found), headers={"content-type": "text/plain"}.items())

async def on_scheduled(controller, env, ctx):
    await env.KV.put("ran", controller.cron)
"""
DECORATED = """
from workers import Response, handler

@handler
async def on_fetch(request, env, ctx):
    missing = await env.KV.get("nothing")
    row = await env.DB.prepare("SELECT title FROM notes").first()
    return Response(str([missing is None, request.headers["x-a"], row["title"]]))
"""


@WORLDS
@pytest.mark.parametrize("code", [GLOBAL, DECORATED], ids=["plain", "decorated"])
async def test_a_function_of_the_module_has_the_world_of_its_form(
    code: str, is_legacy: bool, load: LoadWorker, client: Client
) -> None:
    loaded = load(code, is_legacy=is_legacy)

    found = await client.send(loaded, headers=[("x-a", "b")])

    assert found.text == "[True, 'b', 'a']"
