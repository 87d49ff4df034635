"""What a client sees of a worker's exception, and what it must not see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.runtime.edge import Edge, edge, worker, write_project

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

RAISING = (
    worker("""
    helper("<script>alert(1)</script>" if "markup" in request.url else self.env.TOKEN)
""")
    + """

def helper(text):
    deeper(text)

def deeper(text):
    raise ValueError(f"refused {text}")
"""
)
SECRET = "s3cr3t-value"


def write(folder: Path) -> None:
    """The project, with a secret."""
    write_project(folder, RAISING)
    (folder / ".dev.vars").write_text(f"TOKEN={SECRET}\n", "utf-8")


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """One server for the tests that leave it as they found it."""
    folder = tmp_path_factory.mktemp("errors")
    write(folder)
    async with edge(folder) as running:
        yield running


async def test_a_browser_gets_a_page_with_the_traceback_source_lines_request_and_ray(
    server: Edge,
) -> None:
    page = await server.get("/some/path?q=1", headers={"accept": "text/html,*/*;q=0.8"})
    log = server.logged()

    assert page.status_code == 500
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "ValueError: refused" in page.text
    assert "raise ValueError(f&quot;refused {text}&quot;)" in page.text
    assert "entry.py:" in page.text
    assert "in deeper" in page.text
    assert "/some/path?q=1" in page.text
    ray = page.headers["x-localedge-ray"]
    assert ray in page.text
    assert ray in log
    assert "dispatch.py" not in page.text


async def test_markup_in_an_error_is_shown_as_text(server: Edge) -> None:
    page = await server.get("/markup?<script>alert(2)</script>", headers={"accept": "text/html"})

    assert "<script>" not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


async def test_others_get_json_or_text(server: Edge) -> None:
    json = await server.get("/markup", headers={"accept": "application/json"})
    text = await server.get("/markup")

    error = json.json()["error"]
    assert json.json()["outcome"] == "exception"
    assert error["kind"] == "ValueError"
    assert "in deeper" in error["traceback"]
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert text.text.startswith("exception: The worker raised an exception.\n")
    assert "ValueError: refused" in text.text


async def test_a_secret_in_an_exception_reaches_neither_page_nor_log(server: Edge) -> None:
    page = await server.get(f"/?{SECRET}", headers={"accept": "text/html"})
    json = await server.get("/", headers={"accept": "application/json"})
    log = server.logged()

    for shown in (page.text, json.text, log):
        assert SECRET not in shown
    assert "ValueError: refused ***" in log


async def test_secrets_are_masked_however_they_are_written(tmp_path: Path) -> None:
    telling = worker("""
        import json, logging
        from urllib.parse import quote_plus
        key = self.env.KEY
        print(key)
        print({"key": key}, json.dumps(key), quote_plus(key), key.encode())
        logging.getLogger("mine").warning("sent to https://example.com/?key=%s", quote_plus(key))
        self.ctx.waitUntil(failing(key))
        raise KeyError(key)
    """)
    write_project(tmp_path, telling + "\n\nasync def failing(key):\n    raise ValueError([key])\n")
    (tmp_path / ".dev.vars").write_text("KEY=\"first='line'\\nsecond+line\"\n", "utf-8")

    async with edge(tmp_path) as server:
        page = await server.get("/", headers={"accept": "text/html"})
        await server.wait_log("waitUntil task failed")
        await server.wait_log("ValueError")
        await server.wait_log("example.com")
        log = server.logged()

    for shown in (page.text, log):
        assert "***" in shown
        assert "first" not in shown
        assert "second" not in shown


async def test_a_handler_that_gives_no_response_is_an_exception(tmp_path: Path) -> None:
    write_project(tmp_path, worker('return {"not": "a response"}'))

    async with edge(tmp_path) as server:
        answer = await server.get("/")

    assert answer.status_code == 500
    assert "did not resolve to 'Response'" in answer.text
    assert "localedge/" not in answer.text


@pytest.mark.parametrize("given", ["Response(None, status=101)", "js.Response.error()"])
async def test_a_status_that_cannot_be_sent_is_an_exception(tmp_path: Path, given: str) -> None:
    write_project(tmp_path, "import js\n" + worker(f"return {given}"))

    async with edge(tmp_path) as server:
        answer = await server.get("/")
        log = server.logged()

    assert answer.headers["x-localedge-outcome"] == "exception"
    assert "cannot be sent" in answer.text
    assert "cannot be sent" in log
    assert "localedge/" not in answer.text


async def test_a_task_that_the_worker_cancelled_itself_is_an_exception(tmp_path: Path) -> None:
    cancelling = worker("""
        waiting = asyncio.ensure_future(asyncio.sleep(60))
        waiting.cancel()
        await waiting
    """)
    write_project(tmp_path, cancelling)

    async with edge(tmp_path) as server:
        answer = await server.get("/")

    assert answer.headers["x-localedge-outcome"] == "exception"
    assert "await waiting" in answer.text
    assert "CancelledError" in answer.text


async def test_an_unknown_binding_is_named(tmp_path: Path) -> None:
    write_project(tmp_path, worker("return Response(self.env.MISSING)"))

    async with edge(tmp_path) as server:
        answer = await server.get("/")

    assert "AttributeError" in answer.text
    assert "MISSING" in answer.text


async def test_a_worker_that_exits_does_not_take_its_isolate_along(tmp_path: Path) -> None:
    write_project(tmp_path, worker("raise SystemExit(3)"), local="isolates = 1")

    async with edge(tmp_path) as server:
        before = await server.wait_full(2)
        answer = await server.get("/")
        after = await server.isolates()

    assert answer.headers["x-localedge-outcome"] == "exception"
    assert before == after


async def test_our_own_frames_are_nowhere_in_a_traceback(tmp_path: Path) -> None:
    failing = worker("""
        try:
            await self.env.DB.prepare("SELECT nonsense").all()
        except Exception as error:
            raise RuntimeError("the query failed") from error
    """)
    database = '[[d1_databases]]\nbinding = "DB"\ndatabase_name = "d"\ndatabase_id = "d"'
    write_project(tmp_path, failing, config=database)

    async with edge(tmp_path) as server:
        answer = await server.get("/")

    assert "no such column: nonsense" in answer.text
    assert answer.text.count("entry.py") == 2
    assert "localedge/" not in answer.text.partition("Traceback")[2]
