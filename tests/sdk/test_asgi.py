"""ASGI applications as workers: plain ones, Starlette, FastAPI."""

from __future__ import annotations

import asyncio
import gzip
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import Bench, Client, LoadWorker

from localedge.stream import ReadableStream

pytestmark = pytest.mark.anyio

PLAIN = """
import asgi
from workers import WorkerEntrypoint

log = []

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        {lifespan}
        return
    {http}

Default = asgi.entrypoint(app)
"""
WITH_LIFESPAN = """assert (await receive())["type"] == "lifespan.startup"
        log.append("startup")
        scope["state"]["n"] = 1
        await send({"type": "lifespan.startup.complete"})
        assert (await receive())["type"] == "lifespan.shutdown"
        log.append("shutdown")
        await send({"type": "lifespan.shutdown.complete"})"""
OK = """log.append(scope)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x", b"1")]})
    await send({"type": "http.response.body", "body": b"ok"})"""


def plain(http: str = OK, lifespan: str = WITH_LIFESPAN) -> str:
    return PLAIN.replace("{lifespan}", lifespan).replace("{http}", http)


async def test_the_lifespan_runs_around_every_request(load: LoadWorker, client: Client) -> None:
    worker = load(plain(OK.replace("log.append(scope)", "log.append('request')")))

    for _ in range(2):
        await client.send(worker)

    assert worker.module.log == ["startup", "request", "shutdown"] * 2


async def test_the_scope_describes_the_request(
    bench: Bench, load: LoadWorker, client: Client
) -> None:
    bench.use({"NAME": "ada"})
    worker = load(plain())

    await client.send(
        worker, "/a%20b/%C3%BC?x=1&y=%20", method="PUT", headers=[("x-a", "1"), ("x-a", "2")]
    )

    scope = worker.module.log[1]
    assert (scope["method"], scope["scheme"], scope["type"]) == ("PUT", "https", "http")
    assert (scope["path"], scope["raw_path"]) == ("/a b/ü", b"/a%20b/%C3%BC")
    assert (scope["query_string"], scope["headers"]) == (b"x=1&y=%20", [(b"x-a", b"1, 2")])
    assert (scope["env"].NAME, scope["state"]) == ("ada", {"n": 1})


async def test_a_request_of_the_platform_is_taken_as_well(load: LoadWorker, client: Client) -> None:
    worker = load(
        plain().replace("Default = asgi.entrypoint(app)", "")
        + """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return await asgi.fetch(app, request.js_object, self.env)
"""
    )

    answer = await client.send(worker)

    assert (answer.text, answer.headers.get("x")) == ("ok", "1")


@pytest.mark.parametrize(
    "lifespan", ["return", "raise RuntimeError('no lifespan here')", "await receive()"]
)
async def test_an_application_without_a_lifespan_is_served(
    lifespan: str, load: LoadWorker, client: Client
) -> None:
    worker = load(plain(lifespan=lifespan))

    assert (await client.send(worker)).text == "ok"


async def test_a_failed_startup_is_the_requests_error(load: LoadWorker, client: Client) -> None:
    failing = 'await send({"type": "lifespan.startup.failed", "message": "no database"})'
    worker = load(plain(lifespan=failing))

    with pytest.raises(RuntimeError, match="no database"):
        await client.send(worker)


@pytest.mark.parametrize("phase", ["startup", "shutdown"])
async def test_a_failed_lifespan_names_what_the_application_raised(
    phase: str, load: LoadWorker, client: Client
) -> None:
    before = "" if phase == "startup" else 'await send({"type": "lifespan.startup.complete"})'
    failing = f"""await receive()
        {before or "pass"}
        await receive() if {bool(before)} else None
        await send({{"type": "lifespan.{phase}.failed", "message": ""}})
        raise ValueError("real reason")"""
    worker = load(plain(lifespan=failing))

    with pytest.raises(RuntimeError, match=f"ASGI lifespan {phase} failed") as raised:
        await client.send(worker)

    assert str(raised.value.__cause__) == "real reason"


async def test_an_error_before_the_response_is_the_requests_error(
    load: LoadWorker, client: Client
) -> None:
    worker = load(plain("raise KeyError('lost')"))

    with pytest.raises(KeyError, match="lost"):
        await client.send(worker)

    assert worker.module.log == ["startup", "shutdown"]


async def test_an_application_without_a_response_is_an_error(
    load: LoadWorker, client: Client
) -> None:
    worker = load(plain("return"))

    with pytest.raises(RuntimeError, match="did not generate a response"):
        await client.send(worker)


STREAM = """await send({"type": "http.response.start", "status": 200, "headers": []})
    for number in range(3):
        await send({"type": "http.response.body", "body": b"%d" % number, "more_body": True})
    {end}
    log.append("sent")"""
STREAM_END = 'await send({"type": "http.response.body", "body": b"!"})'


async def test_a_streamed_response_arrives_whole_and_is_finished_after(
    load: LoadWorker, client: Client
) -> None:
    worker = load(plain(STREAM.replace("{end}", STREAM_END)))

    answer = await client.send(worker)

    assert answer.text == "012!"
    assert worker.module.log == ["startup", "sent", "shutdown"]


async def test_an_error_in_a_stream_ends_it_and_is_logged(
    load: LoadWorker, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    worker = load(plain(STREAM.replace("{end}", "raise KeyError('late')")))

    with caplog.at_level(logging.ERROR):
        answer = await client.send(worker)

    assert answer.text == "012"
    assert "after response started" in caplog.text
    assert worker.module.log == ["startup", "shutdown"]


async def test_the_request_body_is_received_piece_by_piece(
    load: LoadWorker, client: Client
) -> None:
    async def pieces() -> Any:
        yield b"ab"
        yield b"c"

    worker = load(
        plain(
            """while True:
        message = await receive()
        log.append((message["body"], message["more_body"]))
        if not message["more_body"]:
            break
    """
            + OK.replace("log.append(scope)\n    ", "")
        )
    )

    await client.send(worker, method="POST", body=ReadableStream(pieces()))

    assert worker.module.log[1:4] == [(b"ab", True), (b"c", True), (b"", False)]


@pytest.mark.parametrize("status", [204, 304])
async def test_a_status_without_a_body_gets_none(
    status: int, load: LoadWorker, client: Client
) -> None:
    worker = load(plain(OK.replace("200", str(status)).replace('b"ok"', 'b""')))

    answer = await client.send(worker)

    assert (answer.status, answer.content) == (status, b"")


async def test_a_client_that_leaves_a_stream_is_a_disconnect(
    bench: Bench, load: LoadWorker
) -> None:
    from localedge.sdk import web
    from localedge.sdk.context import ExecutionContext

    endless = """await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x", "more_body": True})
    log.append((await receive())["type"])"""
    worker = load(plain(endless))
    context = ExecutionContext()
    response = await worker.fetch(web.Request("GET", "https://a.test/"), bench.env, context)
    assert isinstance(response.body, ReadableStream)
    chunks = aiter(response.body)

    first = await anext(chunks)
    await chunks.aclose()  # type: ignore[attr-defined]
    await context.drain(5)

    assert first == b"x"
    assert worker.module.log == ["startup", "http.disconnect", "shutdown"]


async def test_websockets_say_that_they_are_not_here(load: LoadWorker, client: Client) -> None:
    worker = load(plain())

    with pytest.raises(NotImplementedError, match="WebSockets exist on the platform"):
        await client.send(worker, headers=[("upgrade", "websocket")])


STARLETTE = """
import asyncio
from contextlib import asynccontextmanager
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route
import asgi

log = []

@asynccontextmanager
async def lifespan(app):
    log.append("up")
    yield {"token": "t"}
    log.append("down")

def sync(request):
    import threading
    return JSONResponse([threading.current_thread() is threading.main_thread()])

async def background(request):
    async def later():
        log.append("background")
    return PlainTextResponse(request.state.token, background=BackgroundTask(later))

async def stream(request):
    async def parts():
        for n in range(3):
            yield f"{n};"
    return StreamingResponse(parts())

async def echo(request):
    response = PlainTextResponse(await request.body())
    response.set_cookie("a", "1")
    response.set_cookie("b", "2")
    return response

app = Starlette(routes=[
    Route("/sync", sync), Route("/background", background), Route("/stream", stream),
    Route("/echo", echo, methods=["POST"]),
], lifespan=lifespan)
Default = asgi.entrypoint(app)
"""


async def test_starlette_runs_sync_handlers_inline(load: LoadWorker, client: Client) -> None:
    assert (await client.send(load(STARLETTE), "/sync")).json == [True]


async def test_starlette_runs_background_tasks_before_its_shutdown(
    load: LoadWorker, client: Client
) -> None:
    worker = load(STARLETTE)

    answer = await client.send(worker, "/background")

    assert answer.text == "t"
    assert worker.module.log == ["up", "background", "down"]


async def test_starlette_streams(load: LoadWorker, client: Client) -> None:
    assert (await client.send(load(STARLETTE), "/stream")).text == "0;1;2;"


async def test_starlette_sets_several_cookies(load: LoadWorker, client: Client) -> None:
    answer = await client.send(load(STARLETTE), "/echo", method="POST", body=b"body")

    assert answer.text == "body"
    assert len(answer.headers.get_set_cookie()) == 2


async def test_starlette_answers_unknown_paths_itself(load: LoadWorker, client: Client) -> None:
    answer = await client.send(load(STARLETTE), "/nope")

    assert (answer.status, answer.text) == (404, "Not Found")


FASTAPI = """
from typing import Annotated
from fastapi import FastAPI, Form, HTTPException, Request, UploadFile
from fastapi.responses import StreamingResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from workers import WorkerEntrypoint, asgi

app = FastAPI()

class Item(BaseModel):
    name: str
    price: float = 1.5

@app.get("/env")
async def env(req: Request):
    return {"name": req.scope["env"].NAME}

@app.get("/depends")
async def depends(env = asgi.env):
    return {"name": env.NAME}

@app.get("/items/{item_id}")
def item(item_id: int, q: str | None = None):
    return {"id": item_id, "q": q}

@app.post("/items")
async def create(item: Item):
    return item

@app.post("/form")
async def form(title: Annotated[str, Form()], file: UploadFile):
    return {"title": title, "name": file.filename, "size": len(await file.read())}

@app.get("/teapot")
async def teapot():
    raise HTTPException(418, "short and stout")

@app.get("/boom")
async def boom():
    raise ValueError("boom")

app.mount("/static", StaticFiles(directory="{static}"))

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return await asgi.fetch(app, request.js_object, self.env)
"""


@pytest.fixture
def fastapi(bench: Bench, load: LoadWorker, tmp_path: Path) -> Any:
    bench.use({"NAME": "ada"})
    static = tmp_path / "static"
    static.mkdir()
    (static / "hello.txt").write_text("hello", "utf-8")
    return load(FASTAPI.replace("{static}", str(static)))


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/env", 200, {"name": "ada"}),
        ("/depends", 200, {"name": "ada"}),
        ("/items/5?q=x", 200, {"id": 5, "q": "x"}),
        ("/teapot", 418, {"detail": "short and stout"}),
    ],
)
async def test_fastapi_answers(
    path: str, status: int, body: Any, fastapi: Any, client: Client
) -> None:
    answer = await client.send(fastapi, path)

    assert (answer.status, answer.json) == (status, body)


async def test_fastapi_refuses_bad_input(fastapi: Any, client: Client) -> None:
    answer = await client.send(fastapi, "/items/x")

    assert answer.status == 422
    assert answer.json["detail"][0]["loc"] == ["path", "item_id"]


async def test_fastapi_reads_a_json_body(fastapi: Any, client: Client) -> None:
    answer = await client.send(
        fastapi,
        "/items",
        method="POST",
        headers=[("content-type", "application/json")],
        body=b'{"name": "pen"}',
    )

    assert answer.json == {"name": "pen", "price": 1.5}


async def test_fastapi_reads_an_uploaded_file(fastapi: Any, client: Client) -> None:
    import workers

    form = workers.FormData({"title": "t", "file": workers.File(b"12345", "a.bin")})
    sent = workers.Response(form)

    answer = await client.send(
        fastapi,
        "/form",
        method="POST",
        headers=[("content-type", sent.headers["content-type"])],
        body=await sent.bytes(),
    )

    assert answer.json == {"title": "t", "name": "a.bin", "size": 5}


async def test_fastapi_serves_static_files(fastapi: Any, client: Client) -> None:
    answer = await client.send(fastapi, "/static/hello.txt")

    assert (answer.status, answer.text) == (200, "hello")


async def test_an_unhandled_error_in_fastapi_is_its_own_500(fastapi: Any, client: Client) -> None:
    answer = await client.send(fastapi, "/boom")

    assert (answer.status, answer.text) == (500, "Internal Server Error")


async def test_requests_at_the_same_time_do_not_meet(load: LoadWorker, client: Client) -> None:
    worker = load(STARLETTE)

    answers = await asyncio.gather(
        *[client.send(worker, "/echo", method="POST", body=str(n).encode()) for n in range(20)]
    )

    assert [answer.text for answer in answers] == [str(n) for n in range(20)]


@pytest.mark.parametrize(("options", "times"), [("None", 2), ('BaseOptions("manual")', 1)])
async def test_an_application_that_compresses_has_to_say_manual(
    options: str, times: int, load: LoadWorker, client: Client
) -> None:
    worker = load(
        f"""
        import asgi
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.gzip import GZipMiddleware
        from starlette.responses import PlainTextResponse
        from starlette.routing import Route
        from workers import WorkerEntrypoint
        from workers.gateway import BaseOptions

        async def home(request):
            return PlainTextResponse("plain")

        app = Starlette(
            routes=[Route("/", home)], middleware=[Middleware(GZipMiddleware, minimum_size=1)]
        )

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return await asgi.fetch(app, request, self.env, options={options})
        """
    )

    content = (await client.send(worker, headers=[("accept-encoding", "gzip")])).content
    for _ in range(times):
        content = gzip.decompress(content)

    assert content == b"plain"


async def test_a_background_task_that_fails_is_logged(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    import asgi

    async def fail() -> None:
        raise ValueError("broken")

    with caplog.at_level(logging.ERROR):
        await asyncio.wait((asgi.run_in_background(fail()),))

    assert "Unhandled exception in background task" in caplog.text


def test_the_scope_can_be_asked_for(bench: Bench) -> None:
    import asgi
    import js

    scope = asgi.request_to_scope(js.Request.new("https://a.test/x", headers=[["A", "b"]]), {})

    assert (scope["path"], scope["headers"]) == ("/x", [(b"a", b"b")])
