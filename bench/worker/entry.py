"""The bench worker: the same logic as bench/miniflare/worker.mjs."""

from itertools import count
from urllib.parse import urlsplit

from workers import Response, WorkerEntrypoint

SELECT = "SELECT id, name, value FROM items WHERE id = ?"
INSERT = "INSERT INTO log (name, value) VALUES (?, ?)"
turns = count()


async def set_up(env):
    await env.KV.put("key", "v" * 100)
    await env.DB.exec(
        "CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, name TEXT, value REAL)"
    )
    await env.DB.exec(
        "CREATE TABLE IF NOT EXISTS log (id INTEGER PRIMARY KEY, name TEXT, value REAL)"
    )
    insert = env.DB.prepare("INSERT OR REPLACE INTO items VALUES (?, ?, ?)")
    await env.DB.batch([insert.bind(i, f"name {i}", i / 2) for i in range(100)])
    return Response("ready")


async def hello(env):
    return Response("hello")


async def kv_get(env):
    return Response(await env.KV.get("key"))


async def kv_put(env):
    await env.KV.put(f"key-{next(turns) % 1000}", "v" * 100)
    return Response("stored")


async def d1_select(env):
    return Response.json(await env.DB.prepare(SELECT).bind(next(turns) % 100).first())


async def d1_insert(env):
    await env.DB.prepare(INSERT).bind("name", 1.5).run()
    return Response("inserted")


async def d1_batch_100(env):
    insert = env.DB.prepare(INSERT)
    await env.DB.batch([insert.bind("name", i) for i in range(100)])
    return Response("inserted")


async def operations_500(env):
    for i in range(250):
        await env.KV.get("key")
        await env.DB.prepare(SELECT).bind(i % 100).first()
    return Response("done")


ROUTES = {
    "/set-up": set_up,
    "/hello": hello,
    "/kv-get": kv_get,
    "/kv-put": kv_put,
    "/d1-select": d1_select,
    "/d1-insert": d1_insert,
    "/d1-batch-100": d1_batch_100,
    "/operations-500": operations_500,
}


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        route = ROUTES.get(urlsplit(request.url).path)
        return await route(self.env) if route else Response("no such route", status=404)
