# mypy: ignore-errors
# ruff: noqa: BLE001
"""A worker of many small routes: each is a form in which workers use the platform.

It is written as users write workers: without annotations, and catching what comes.
"""

import asyncio
import json
from urllib.parse import urlsplit

import js
from js import Headers, Object, ReadableStream, TransformStream, Uint8Array
from pyodide.ffi import JsException, create_proxy, run_sync, to_js
from workers import Blob, FormData, Request, Response, WorkerEntrypoint, python_from_rpc

ROUTES = {}


def route(handler):
    ROUTES["/" + handler.__name__.replace("_", "-")] = handler
    return handler


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        handler = ROUTES.get(urlsplit(request.url).path)
        if handler is None:
            return Response("\n".join(ROUTES), status=404)
        return await handler(self, request)

    async def scheduled(self, controller, env, ctx):
        await self.env.KV.put(
            "cron", f"{controller.cron} {type(controller.scheduledTime).__name__}"
        )


@route
async def echo(self, request):
    return Response.json(
        {
            "method": request.method,
            "is_get": request.method == "GET",
            "url": request.url,
            "headers": sorted(request.headers.items()),
            "text": await request.text(),
            "used": request.body_used,
            "repr": repr(request),
            "missing": request.headers["x-missing"],
        }
    )


@route
async def json_body(self, request):
    try:
        return Response.json(await request.json())
    except Exception as error:
        return Response(f"{type(error).__name__}: {error}", status=400)


@route
async def form(self, request):
    found = await request.form_data()
    names = sorted(set(found))
    told = {}
    for name in names:
        values = found.get_all(name)
        told[name] = [
            v if isinstance(v, str) else [v.name, v.content_type, await v.text()] for v in values
        ]
    return Response.json(told)


@route
async def twice(self, request):
    await request.bytes()
    try:
        await request.text()
    except Exception as error:
        return Response(f"{type(error).__name__}: {error}")
    return Response("read twice")


@route
async def kinds(self, request):
    given = [
        None,
        "",
        "text",
        b"",
        b"bytes",
        Uint8Array.new(3),
        5,
        {"a": 1},
        ["a"],
        bytearray(b"x"),
    ]
    told = []
    for body in given:
        try:
            made = Response(body)
            told.append([made.status, sorted(made.headers.items()), (await made.bytes()).hex()])
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
    return Response.json(told)


@route
async def statuses(self, request):
    told = []
    for status in (0, 101, 199, 200, 204, 304, 418, 599, 600, 1000, -1):
        try:
            told.append(Response(None, status=status).status)
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
    return Response.json(told)


@route
async def no_content(self, request):
    return Response(None, status=204, headers={"x-own": "1"})


@route
async def cookies(self, request):
    headers = [
        ("set-cookie", "a=1; Path=/"),
        ("set-cookie", "b=2"),
        ("x-many", "1"),
        ("x-many", "2"),
    ]
    return Response("ok", headers=headers)


@route
async def redirected(self, request):
    return Response.redirect("https://example.org/a?b=1", 303)


@route
async def js_response(self, request):
    options = to_js({"status": 201, "headers": {"x-js": "1"}}, dict_converter=Object.fromEntries)
    return js.Response.new("from js", options)


@route
async def streamed(self, request):
    pair = TransformStream.new()
    writer = pair.writable.getWriter()

    async def write():
        for number in range(3):
            await writer.write(to_js(f"line {number}\n".encode()))
            await asyncio.sleep(0.01)
        await writer.close()

    self.ctx.waitUntil(write())
    return Response(pair.readable, headers={"content-type": "text/plain"})


@route
async def piped(self, request):
    return Response(request.body, headers={"content-type": "application/octet-stream"})


@route
async def later(self, request):
    async def work():
        await asyncio.sleep(0.05)
        await self.env.KV.put("later", "done", metadata={"by": "waitUntil"})

    self.ctx.waitUntil(work())
    return Response("accepted", status=202)


@route
async def raises(self, request):
    raise KeyError("what is missing")


@route
async def returns_nothing(self, request):
    return None


@route
async def returns_text(self, request):
    return "text"


@route
async def env_kinds(self, request):
    env = self.env
    return Response.json(
        {
            "name": env.NAME,
            "nested": [type(env.NESTED).__name__, env.NESTED.a, env.NESTED.to_py()],
            "absent": getattr(env, "ABSENT", "absent"),
            "kv": [type(env.KV).__name__, bool(env.KV)],
        }
    )


@route
async def synchronous(self, request):
    run_sync(self.env.KV.put("sync", "1"))
    return Response(run_sync(self.env.KV.get("sync")))


@route
async def rows(self, request):
    db = self.env.DB
    await db.exec("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, a, b REAL, c BLOB)")
    insert = db.prepare("INSERT INTO t (a, b, c) VALUES (?, ?, ?)")
    results = await db.batch(
        [
            insert.bind(1, 2.0, b"\x00\xff"),
            insert.bind(None, 0.1, None),
            insert.bind("é", 1e300, [1, 2]),
        ]
    )
    told = await db.prepare("SELECT *, typeof(a) AS kind FROM t").all()
    first = await db.prepare("SELECT a FROM t WHERE id = ?").bind(1).first("a")
    raw = await db.prepare("SELECT id, b FROM t").raw(columnNames=True)
    return Response.json(
        [[r.meta.changes for r in results], told.results, first, raw, told.success]
    )


@route
async def refused(self, request):
    told = []
    db, kv = self.env.DB, self.env.KV
    for make in (
        lambda: db.prepare("SELEC 1").all(),
        lambda: db.prepare("SELECT * FROM nowhere").first(),
        lambda: db.prepare("SELECT ?").bind({"a": 1}).all(),
        lambda: db.prepare("SELECT ?").bind(2**60).all(),
        lambda: db.prepare("SELECT 1").bind(1).all(),
        lambda: db.exec("SELECT 1;\nnonsense"),
        lambda: kv.get(""),
        lambda: kv.put("k", "v", expirationTtl=1),
        lambda: kv.put("k", {"a": 1}),
        lambda: kv.put("k", (1,)),
        lambda: kv.get("k" * 513),
        lambda: kv.list(limit=1001),
    ):
        try:
            told.append(repr(await make()))
        except JsException as error:
            told.append([error.name, error.message])
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
    return Response.json(told)


@route
async def odd_statement(self, request):
    try:
        await self.env.DB.prepare(5).all()
    except JsException as error:
        return Response(error.message.partition("\n")[0])
    return Response("5 is a statement")


@route
async def passed_on(self, request):
    # Some other place of this worker: what it answers with is passed on, not followed.
    copy = Request(request)
    return Response.json([request.redirect, copy.redirect, Request(request.url).redirect])


@route
async def connection(self, request):
    return Response.json([request.cf.colo, request.cf.to_py()])


@route
async def bad_json(self, request):
    told = []
    for text in ("nope", "", "{", '{"a": 1,}', "[1 2]", "'a'", "01", "NaN"):
        try:
            js.JSON.parse(text)
        except JsException as error:
            told.append([error.name, error.message])
    return Response.json(told)


@route
async def kv_forms(self, request):
    kv = self.env.KV
    for n in range(5):
        await kv.put(f"n:{n}", str(n), metadata={"n": n})
    await kv.put("bytes", b"\x00\x01")
    await kv.put("json", json.dumps({"a": [1, 2.5, None]}))
    page = await kv.list(prefix="n:", limit=2)
    rest = await kv.list(prefix="n:", cursor=page.cursor)
    stream = await kv.get("json", "stream")
    return Response.json(
        [
            [key.name for key in page["keys"]],
            [key.metadata.n for key in rest["keys"]],
            rest.list_complete,
            await kv.get("json", type="json"),
            bytes(await kv.get("bytes", "arrayBuffer")).hex(),
            await kv.get("absent"),
            await kv.getWithMetadata("n:1"),
            await kv.get(["n:1", "absent"]),
            await Response(stream).text(),
        ]
    )


@route
async def urls(self, request):
    url = js.URL.new("/b?x=1&x=2#f", "https://user@example.org:444/a/")
    params = js.URLSearchParams.new("a=1&b=%20")
    params.append("c", "é")
    return Response.json(
        [
            url.href,
            url.port,
            url.searchParams.getAll("x").to_py(),
            params.toString(),
            js.encodeURIComponent("a/é"),
        ]
    )


@route
async def objects(self, request):
    headers = Headers.new({"A": "1"}.items())
    headers.append("a", "2")
    form = FormData({"x": "1"})
    form.append("x", "2")
    blob = Blob([b"ab", "c"], content_type="text/plain")
    made = Request("https://example.org/", method="POST", body="x", headers={"b": "1"})
    proxy = create_proxy(lambda n, *_: n + 1)
    return Response.json(
        [
            headers.get("a"),
            form.get_all("x"),
            [blob.size, blob.content_type, await blob.text()],
            [made.method, await made.text(), made.headers["b"]],
            js.Array.new(1, 2).map(proxy).to_py(),
            python_from_rpc(js.JSON.parse('{"a": [1, null, 1.5]}')),
            str(js.JSON.stringify(to_js({"a": [1, None]}, dict_converter=Object.fromEntries))),
            js.Date.new(0).toISOString(),
            js.btoa("hi"),
        ]
    )


@route
async def cloned(self, request):
    other = request.clone()
    response = Response("body", status=201, headers={"x-own": "1"})
    copy = response.clone()
    return Response.json(
        [
            await request.text(),
            await other.text(),
            await copy.text(),
            response.status,
            response.ok,
            response.body_used,
        ]
    )


@route
async def streams_in(self, request):
    pieces = []
    if request.body:
        async for piece in request.body:
            pieces.append(bytes(piece.to_py()).decode())
    return Response("".join(pieces))


@route
async def made_stream(self, request):
    def start(controller):
        controller.enqueue(to_js(b"from "))
        controller.enqueue(to_js(b"a source"))
        controller.close()

    source = to_js({"start": create_proxy(start)}, dict_converter=Object.fromEntries)
    return Response(ReadableStream.new(source))
