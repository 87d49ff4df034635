"""A FastAPI application as a worker: what such applications use, served by `localedge dev`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.platform.projects import template, write
from tests.runtime.edge import Edge, edge

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

APP = """
import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, BackgroundTasks, Depends, FastAPI, File, Form, HTTPException
from fastapi import Request, UploadFile
from fastapi.responses import PlainTextResponse, RedirectResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel


class Item(BaseModel):
    name: str
    price: float = 1.0


class Broken(Exception):
    pass


@asynccontextmanager
async def lifespan(app):
    app.state.events = ["started"]
    yield
    print("shut down after", app.state.events)


app = FastAPI(lifespan=lifespan)
app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
admin = APIRouter(prefix="/admin")


def kv_of(request: Request):
    return request.scope["env"].KV


def token(request: Request):
    if request.headers.get("authorization") != "Bearer me":
        raise HTTPException(401, "who are you", headers={"www-authenticate": "Bearer"})


@app.exception_handler(Broken)
async def broken(request, error):
    return PlainTextResponse(f"handled {error}", status_code=418)


@app.middleware("http")
async def named(request, call_next):
    response = await call_next(request)
    response.headers["x-middleware"] = "seen"
    return response


@app.get("/")
async def root(request: Request):
    return {"message": request.scope["env"].MESSAGE, "events": request.app.state.events}


@app.get("/items/{item_id}")
async def item(item_id: int, q: str | None = None, tags: str = "none"):
    return {"item": item_id, "q": q, "tags": tags}


@app.put("/items/{item_id}", status_code=201)
async def put_item(item_id: int, item: Item, kv=Depends(kv_of)):
    await kv.put(f"item {item_id}", item.model_dump_json())
    return {"stored": await kv.get(f"item {item_id}")}


@app.get("/sync")
def sync(kv=Depends(kv_of)):
    from pyodide.ffi import run_sync

    run_sync(kv.put("sync", "yes"))
    return {"sync": run_sync(kv.get("sync"))}


@app.get("/notes")
async def notes(request: Request):
    rows = (await request.scope["env"].DB.prepare("SELECT 1 AS n UNION SELECT 2").all()).results
    return [{"n": row.n} for row in rows]


@app.post("/form")
async def form(name: str = Form(), age: int = Form(default=0)):
    return {"name": name, "age": age}


@app.post("/files")
async def files(many: list[UploadFile] = File(), note: str = Form(default="")):
    return [[f.filename, f.content_type, len(await f.read())] for f in many] + [note]


@app.post("/raw")
async def raw(request: Request):
    sizes = [len(piece) async for piece in request.stream()]
    return {"total": sum(sizes)}


@app.get("/stream")
async def stream():
    async def pieces():
        for at in range(5):
            await asyncio.sleep(0)
            yield f"data: {at}\\n\\n"

    return StreamingResponse(pieces(), media_type="text/event-stream")


@app.get("/background")
async def background(tasks: BackgroundTasks, kv=Depends(kv_of)):
    async def later():
        await asyncio.sleep(0.01)
        await kv.put("later", "done")
        print("background done")

    tasks.add_task(later)
    return {"queued": True}


@app.get("/later")
async def later(kv=Depends(kv_of)):
    return {"later": await kv.get("later")}


@app.get("/missing")
async def missing():
    raise HTTPException(404, {"reason": "not here"})


@app.get("/broken")
async def raises_broken():
    raise Broken("it")


@app.get("/unhandled")
async def unhandled():
    raise ValueError("nobody handles this")


@app.get("/moved")
async def moved():
    return RedirectResponse("/items/1", status_code=307)


@app.get("/cookies")
async def cookies():
    response = PlainTextResponse("ok")
    response.set_cookie("a", "1")
    response.set_cookie("b", "2")
    return response


@admin.get("/panel", dependencies=[Depends(token)])
async def panel():
    return "panel"


app.include_router(admin)
"""
ENTRIES = {
    "asgi.fetch": """
import asgi
from app import app
from workers import WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return await asgi.fetch(app, request.js_object, self.env)
""",
    "asgi.entrypoint": """
from app import app
from workers import asgi

Default = asgi.entrypoint(app)
""",
    "on_fetch": """
import asgi
from app import app

async def on_fetch(request, env, ctx):
    return await asgi.fetch(app, request, env)
""",
}
WORLDS = [
    ("asgi.fetch", "2026-11-01", []),
    ("asgi.entrypoint", "2026-03-01", []),
    ("on_fetch", "2025-08-01", ["python_workers_20250116"]),
]


@pytest.fixture(scope="module", params=WORLDS, ids=[f"{e} {d}" for e, d, _ in WORLDS])
async def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Edge]:
    """The application behind each form of entry, in the world of each date."""
    entry, date, flags = request.param
    folder = tmp_path_factory.mktemp("fastapi")
    write(folder, {"src/app.py": APP, "src/static/a.css": "a {}"})
    template(
        folder,
        ENTRIES[entry],
        compatibility_date=date,
        compatibility_flags=["python_workers", *flags],
        kv_namespaces=[{"binding": "KV"}],
        d1_databases=[{"binding": "DB"}],
        vars={"MESSAGE": "hello"},
    )
    async with edge(folder) as running:
        yield running


async def test_routes_take_parameters_and_bodies(server: Edge) -> None:
    root = await server.get("/")
    item = await server.get("/items/7?q=x")
    stored = await server.http.put("/items/7", json={"name": "n"})
    redirected = await server.get("/moved")

    assert root.json() == {"message": "hello", "events": ["started"]}
    assert root.headers["x-middleware"] == "seen"
    assert item.json() == {"item": 7, "q": "x", "tags": "none"}
    assert (stored.status_code, stored.json()) == (201, {"stored": '{"name":"n","price":1.0}'})
    assert (redirected.status_code, redirected.headers["location"]) == (307, "/items/1")


async def test_forms_and_uploaded_files_are_read(server: Edge) -> None:
    form = await server.http.post("/form", data={"name": "ada lovelace", "age": "36"})
    files = await server.http.post(
        "/files",
        files=[
            ("many", ("a.txt", b"text", "text/plain")),
            ("many", ("b.bin", bytes(300_000), "application/octet-stream")),
        ],
        data={"note": "ü"},
    )
    raw = await server.http.post("/raw", content=bytes(500_000))

    assert form.json() == {"name": "ada lovelace", "age": 36}
    assert files.json() == [
        ["a.txt", "text/plain", 4],
        ["b.bin", "application/octet-stream", 300_000],
        "ü",
    ]
    assert raw.json() == {"total": 500_000}


async def test_streams_cookies_and_static_files_are_sent(server: Edge) -> None:
    stream = await server.get("/stream")
    cookies = await server.get("/cookies")
    style = await server.get("/static/a.css")
    nothing = await server.get("/static/../app.py")

    assert stream.text == "".join(f"data: {at}\n\n" for at in range(5))
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert [c.split(";")[0] for c in cookies.headers.get_list("set-cookie")] == ["a=1", "b=2"]
    assert (style.text, style.headers["content-type"]) == ("a {}", "text/css; charset=utf-8")
    assert nothing.status_code == 404


async def test_errors_are_answered_by_whoever_handles_them(server: Edge) -> None:
    invalid = await server.get("/items/x")
    missing = await server.get("/missing")
    broken = await server.get("/broken")
    unknown = await server.get("/unknown")
    refused = await server.get("/admin/panel")
    allowed = await server.get("/admin/panel", headers={"authorization": "Bearer me"})

    assert (invalid.status_code, invalid.json()["detail"][0]["loc"]) == (422, ["path", "item_id"])
    assert (missing.status_code, missing.json()) == (404, {"detail": {"reason": "not here"}})
    assert (broken.status_code, broken.text) == (418, "handled it")
    assert (unknown.status_code, unknown.json()) == (404, {"detail": "Not Found"})
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert allowed.json() == "panel"


async def test_an_error_that_nobody_handles_is_in_the_log(server: Edge) -> None:
    answer = await server.get("/unhandled")
    line = await server.wait_log("nobody handles this")

    assert answer.status_code == 500
    assert "ValueError" in line


async def test_sync_handlers_run_inline_and_may_wait(server: Edge) -> None:
    answers = await asyncio.gather(*(server.get("/sync") for _ in range(4)))

    assert [answer.json() for answer in answers] == [{"sync": "yes"}] * 4


async def test_bindings_come_from_the_scope(server: Edge) -> None:
    answer = await server.get("/notes")

    assert answer.json() == [{"n": 1}, {"n": 2}]


async def test_background_tasks_are_done_after_the_answer(server: Edge) -> None:
    queued = await server.get("/background")
    await server.wait_log("background done")
    later = await server.get("/later")

    assert queued.json() == {"queued": True}
    assert later.json() == {"later": "done"}


async def test_the_documentation_of_an_application_is_served(server: Edge) -> None:
    schema = (await server.get("/openapi.json")).json()
    page = await server.get("/docs")

    assert "/items/{item_id}" in schema["paths"]
    assert page.status_code == 200
