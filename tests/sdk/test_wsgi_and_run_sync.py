"""WSGI applications as workers, and calls that wait without `await`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from tests.sdk.conftest import Bench, Client, LoadWorker

from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.sdk import stack_switch

pytestmark = pytest.mark.anyio


@pytest.fixture
async def database(bench: Bench, tmp_path: Path) -> AsyncIterator[None]:
    async with open_engine(tmp_path / "db.sqlite") as engine:
        bench.use({"DB": D1Database(engine), "NAME": "ada"})
        yield


WSGI = """
from workers import wsgi

log = []

def app(environ, start_response):
    log.append(environ)
    {body}

Default = wsgi.entrypoint(app)
"""
OK = """start_response("201 Made", [("X-A", "1"), ("Set-Cookie", "a"), ("Set-Cookie", "b")])
    return [b"hello ", b"", b"there"]"""


def wsgi(body: str = OK) -> str:
    return WSGI.replace("{body}", body)


async def test_the_applications_answer_reaches_the_client(load: LoadWorker, client: Client) -> None:
    answer = await client.send(load(wsgi()))

    assert (answer.status, answer.text, answer.headers.get("x-a")) == (201, "hello there", "1")
    assert answer.headers.get_set_cookie() == ["a", "b"]


async def test_the_environ_describes_the_request(
    database: None, load: LoadWorker, client: Client
) -> None:
    worker = load(wsgi("log.append(environ['wsgi.input'].read())\n    " + OK))

    await client.send(
        worker,
        "/a%20b/%C3%BC?x=%20",
        method="POST",
        headers=[("content-type", "text/x"), ("x-b", "1")],
        body=b"body",
    )

    environ = worker.module.log[0]
    assert (environ["REQUEST_METHOD"], environ["QUERY_STRING"]) == ("POST", "x=%20")
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/a b/ü"
    assert (environ["SERVER_NAME"], environ["SERVER_PORT"]) == ("edge.test", "443")
    assert (environ["CONTENT_TYPE"], environ["CONTENT_LENGTH"]) == ("text/x", "4")
    assert (environ["HTTP_X_B"], worker.module.log[1]) == ("1", b"body")
    assert environ["wsgi.input"].closed
    assert environ["workers.env"].NAME == "ada"


async def test_start_response_may_come_with_the_first_piece(
    load: LoadWorker, client: Client
) -> None:
    body = """def parts():
        start_response("200 OK", [])
        yield b""
        yield b"late"
    return parts()"""

    assert (await client.send(load(wsgi(body)))).text == "late"


async def test_an_application_that_never_starts_is_an_error(
    load: LoadWorker, client: Client
) -> None:
    with pytest.raises(RuntimeError, match="did not call start_response"):
        await client.send(load(wsgi("return []")))


async def test_what_the_application_returns_is_closed(load: LoadWorker, client: Client) -> None:
    body = """class Parts:
        def __iter__(self): return iter([b"x"])
        def close(self): log.append("closed")
    start_response("200 OK", [])
    return Parts()"""
    worker = load(wsgi(body))

    await client.send(worker)

    assert worker.module.log[1:] == ["closed"]


async def test_write_comes_before_what_is_returned(load: LoadWorker, client: Client) -> None:
    body = """write = start_response("200 OK", [])
    write(b"first ")
    return [b"second"]"""

    assert (await client.send(load(wsgi(body)))).text == "first second"


async def test_a_wsgi_application_reads_d1_without_await(
    database: None, load: LoadWorker, client: Client
) -> None:
    body = """from pyodide.ffi import run_sync
    row = run_sync(environ["workers.env"].DB.prepare("SELECT 1 + 1 AS n").first())
    start_response("200 OK", [])
    return [str(row["n"]).encode()]"""

    assert (await client.send(load(wsgi(body)))).text == "2"


async def test_the_pieces_of_a_wsgi_response_may_wait_too(load: LoadWorker, client: Client) -> None:
    body = """import asyncio
    from pyodide.ffi import run_sync
    start_response("200 OK", [])
    def parts():
        for n in range(3):
            run_sync(asyncio.sleep(0))
            yield b"%d" % n
    return parts()"""

    assert (await client.send(load(wsgi(body)))).text == "012"


@pytest.mark.parametrize(("serialize", "most"), [(True, 1), (False, 2)])
async def test_serialized_requests_do_not_overlap(serialize: bool, most: int, bench: Bench) -> None:
    import js
    from pyodide.ffi import run_sync
    from workers import wsgi as adapter

    active: list[int] = []
    seen: list[int] = []

    def app(environ: Any, start_response: Any) -> list[bytes]:
        active.append(1)
        seen.append(len(active))
        for _ in range(3):
            run_sync(asyncio.sleep(0))
        active.pop()
        start_response("200 OK", [])
        return [b"ok"]

    requests = [js.Request.new("https://a.test/") for _ in range(2)]
    responses = await asyncio.gather(
        *[adapter.fetch(app, r, bench.env, serialize=serialize) for r in requests]
    )

    assert [await response.text() for response in responses] == ["ok", "ok"]
    assert max(seen) == most


HANDLER = """
import asyncio
import inspect
from pyodide.ffi import can_run_sync, run_sync
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        {body}
"""


def handler(body: str) -> str:
    return HANDLER.replace("{body}", body)


async def test_run_sync_waits_inside_an_async_handler(
    database: None, load: LoadWorker, client: Client
) -> None:
    worker = load(
        handler(
            """await asyncio.sleep(0)
        def deep(): return run_sync(self.env.DB.prepare("SELECT 5 AS n").first("n"))
        first = deep()
        await asyncio.sleep(0)
        return Response(str([first, deep(), can_run_sync()]))"""
        )
    )

    assert (await client.send(worker)).text == "[5, 5, True]"


async def test_the_loop_goes_on_while_run_sync_waits(load: LoadWorker, client: Client) -> None:
    worker = load(
        handler(
            """gate = request.headers["x"]
        if gate == "open":
            GATE.set()
        else:
            run_sync(GATE.wait())
        return Response(gate)"""
        )
        + "\nGATE = asyncio.Event()\n"
    )

    answers = await asyncio.wait_for(
        asyncio.gather(
            client.send(worker, headers=[("x", "wait")]),
            client.send(worker, headers=[("x", "open")]),
        ),
        timeout=10,
    )

    assert [answer.text for answer in answers] == ["wait", "open"]


async def test_an_error_comes_out_of_run_sync(load: LoadWorker, client: Client) -> None:
    worker = load(
        handler(
            """async def fail(): raise KeyError("lost")
        try:
            run_sync(fail())
        except KeyError as error:
            return Response(str(error))"""
        )
    )

    assert (await client.send(worker)).text == "'lost'"


async def test_a_handler_that_uses_run_sync_still_raises_its_own_errors(
    load: LoadWorker, client: Client
) -> None:
    worker = load(handler("await asyncio.sleep(0); raise KeyError('own')"))

    with pytest.raises(KeyError, match="own"):
        await client.send(worker)


async def test_context_variables_survive_run_sync(load: LoadWorker, client: Client) -> None:
    worker = load(
        "import contextvars\nVAR = contextvars.ContextVar('v')\n"
        + handler(
            """VAR.set("kept")
        run_sync(asyncio.sleep(0))
        await asyncio.sleep(0)
        return Response(VAR.get())"""
        )
    )

    assert (await client.send(worker)).text == "kept"


async def test_a_cancelled_handler_is_cancelled_in_run_sync(
    bench: Bench, load: LoadWorker, client: Client
) -> None:
    worker = load(
        handler(
            """try:
            run_sync(asyncio.Event().wait())
        except asyncio.CancelledError:
            SEEN.append("cancelled")
            raise"""
        )
        + "\nSEEN = []\n"
    )
    running = asyncio.ensure_future(client.send(worker))
    await asyncio.sleep(0)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert worker.module.SEEN == ["cancelled"]


async def test_run_sync_outside_of_a_handler_is_refused(platform: None) -> None:
    from pyodide.ffi import run_sync

    async def nothing() -> None: ...

    with pytest.raises(RuntimeError, match="Cannot stack switch"):
        run_sync(nothing())


async def test_a_worker_without_run_sync_runs_plainly(load: LoadWorker, client: Client) -> None:
    load(
        """
        from pyodide.ffi import JsException, to_js
        from workers import WorkerEntrypoint

        class Default(WorkerEntrypoint): ...
        """
    )

    assert not stack_switch.is_wanted()


async def test_a_sync_handler_of_a_framework_reads_d1_without_await(
    database: None, load: LoadWorker, client: Client
) -> None:
    worker = load(
        """
        from fastapi import FastAPI, Request
        from pyodide.ffi import run_sync
        from workers import asgi

        app = FastAPI()

        @app.get("/")
        def home(req: Request):
            return run_sync(req.scope["env"].DB.prepare("SELECT 2 AS n").first("n"))

        Default = asgi.entrypoint(app)
        """
    )

    assert (await client.send(worker)).text == "2"


async def test_a_task_can_be_made_switchable(platform: None) -> None:
    stack_switch.want()

    async def work() -> str:
        return str(stack_switch.run_sync(asyncio.sleep(0, "done")))

    task = asyncio.get_running_loop().create_task(stack_switch.switchable(work()))

    assert await task == "done"


async def test_a_switchable_task_that_never_began_can_be_cancelled(platform: None) -> None:
    stack_switch.want()

    async def work() -> None: ...

    task = asyncio.get_running_loop().create_task(stack_switch.switchable(work()))
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("where", ["entry", "another module"])
async def test_the_first_event_may_import_run_sync_inside_a_function(
    where: str, load: LoadWorker, client: Client
) -> None:
    waiting = """
        def wait(awaitable):
            from pyodide.ffi import run_sync

            return run_sync(awaitable)
        """
    code = """
        import asyncio
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return Response(wait(asyncio.sleep(0, "waited")))
        """
    if where == "entry":
        worker = load(dedent(waiting) + dedent(code))
    else:
        worker = load("from waiting import wait\n" + dedent(code), waiting=waiting)

    answer = await client.send(worker)

    assert answer.text == "waited"


async def test_a_switching_task_inside_another_goes_on_in_its_next_steps(
    load: LoadWorker, client: Client
) -> None:
    worker = load(
        """
        import asyncio
        from pyodide.ffi import run_sync
        from workers import WorkerEntrypoint, wsgi

        def app(environ, start_response):
            found = [run_sync(asyncio.sleep(0.001, n)) for n in range(3)]
            start_response("200 OK", [])
            return [str(found).encode()]

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return await wsgi.fetch(app, request, self.env)
        """
    )

    answer = await client.send(worker)

    assert answer.text == "[0, 1, 2]"


async def test_a_task_group_may_cancel_a_switching_task(platform: None) -> None:
    from localedge.sdk.stack_switch import Switching

    stack_switch.want()
    never, begun = asyncio.Event(), asyncio.Event()

    async def waits() -> None:
        begun.set()
        await never.wait()

    switching = Switching(waits())
    states = [inspect.getcoroutinestate(switching)]
    task = asyncio.get_running_loop().create_task(switching)
    shown = repr(task)
    await begun.wait()
    states.append(inspect.getcoroutinestate(switching))
    task.cancel()
    await asyncio.wait((task,))
    states.append(inspect.getcoroutinestate(switching))

    assert "coro=<waits() running at " in shown
    assert states == [inspect.CORO_CREATED, inspect.CORO_SUSPENDED, inspect.CORO_CLOSED]
