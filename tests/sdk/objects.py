"""Expressions on objects of the platform, and a worker that shows what each of them is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "recorded"
SOURCES: Final = FOLDER / "objects.txt"
RECORDED: Final = FOLDER / "objects.json"
WORKER: Final = '''
import ast
import inspect

from workers import Response, WorkerEntrypoint

PREPARED = """
import asyncio, datetime, http, inspect, json
import js, workers
from js import Array, ArrayBuffer, Boolean, Date, Error, Headers, Map, Math, Number, Object, Promise
from js import JSON as J, Request as JQ, Response as JR, Set, String, TextDecoder, TextEncoder
from js import URL, URLSearchParams, Uint8Array, atob, btoa, decodeURI, decodeURIComponent
from js import encodeURI, encodeURIComponent, isFinite, isNaN, parseFloat, parseInt
from js import structuredClone, ReadableStream, queueMicrotask, setTimeout
from pyodide.ffi import JsArray, JsBuffer, JsDoubleProxy, JsException, JsMap, JsProxy
from pyodide.ffi import create_once_callable, create_proxy, jsnull, run_sync, to_js
from workers import Blob, File, FormData, Request, Response, python_from_rpc, python_to_rpc
def O(value):
    return to_js(value, dict_converter=Object.fromEntries)
async def pieces(stream):
    return [bytes(piece.to_py()) async for piece in stream]
"""
PREPARATIONS = {}
WAITING = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(await shown(await request.text()))


async def shown(source):
    """The type and the repr of the last part of `source`, or what was raised."""
    if not PREPARATIONS:
        exec(PREPARED, PREPARATIONS)
    scope = dict(PREPARATIONS)
    value = None
    try:
        for part in source.split(" ;; "):
            tree = compile(part, "<part>", "exec", flags=WAITING | ast.PyCF_ONLY_AST)
            mode = "exec"
            if isinstance(tree.body[0], ast.Expr):
                tree, mode = ast.Expression(tree.body[0].value), "eval"
            code = compile(tree, "<part>", mode, flags=WAITING)
            value = eval(code, scope)
            if code.co_flags & inspect.CO_COROUTINE:
                value = await value
    except scope["JsException"] as error:
        return f"RAISED JsException {error.name}"  # the engine's own words are left out
    except Exception as error:
        return f"RAISED {type(error).__name__}: {error}".replace("pyodide.ffi.", "")
    return f"{type(value).__name__} {value!r}"
'''


def sources() -> list[str]:
    """The expressions: one on a line, its parts separated by two semicolons."""
    lines = SOURCES.read_text("utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("#")]


def recorded() -> dict[str, str]:
    """What the real parts showed, by expression."""
    found: dict[str, str] = json.loads(RECORDED.read_text("utf-8"))
    return found
