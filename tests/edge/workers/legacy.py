# mypy: ignore-errors
"""A worker of the older world: module functions, raw objects of JavaScript."""

import workers
from js import JSON, Headers, Object, Response
from pyodide.ffi import to_js
from workers import env as top_env
from workers import patch_env


async def on_fetch(request, env, ctx):
    path = request.url.split("/")[3]
    if path == "raw":
        await env.KV.put("k", "v", to_js({"metadata": {"a": 1}}, dict_converter=Object.fromEntries))
        got = await env.KV.getWithMetadata("k")
        rows = await env.DB.prepare("SELECT 1 AS a, NULL AS b").all()
        kind = type(rows.results).__name__
        told = [got.value, got.metadata.a, rows.results[0].a, kind, env.NAME, env.NESTED.a]
        headers = Headers.new({"x": "1"}.items())
        return Response.new(JSON.stringify(to_js(told)), headers=headers)
    if path == "top":
        with patch_env(NAME="patched"):
            inside = workers.env.NAME
        return workers.Response.json([top_env.NAME, inside, workers.env.NAME])
    if path == "later":

        async def later():
            await env.KV.put("later", "1")

        ctx.waitUntil(later())
        return Response.new("ok")
    return Response.new("none", status=404)


async def on_scheduled(controller, env, ctx):
    await env.KV.put("cron", controller.cron)
