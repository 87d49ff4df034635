"""What outlives a response, and what does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.runtime.edge import Edge, edge, worker, write_project
from tests.waiting import wait_until

from localedge.isolate.serving import WAIT_UNTIL_S

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

LASTING = (
    worker("""
    path = request.url.partition("//")[2].partition("/")[2]
    if path == "promised":
        self.ctx.waitUntil(later("promised done"))
    if path == "nested":
        self.ctx.waitUntil(spawning("nested done"))
    if path == "stray":
        asyncio.create_task(later("stray done"))
        await asyncio.sleep(0)
    if path == "failing":
        self.ctx.waitUntil(failing())
    if path == "patient":
        try:
            print("patient waits")
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            print("patient cancelled")
            raise
    return Response("answered")
""")
    + """

async def later(text):
    try:
        await asyncio.sleep(0.2)
        print(text)
    except asyncio.CancelledError:
        print(text, "not: cancelled")
        raise

async def spawning(text):
    await asyncio.sleep(0)
    await asyncio.create_task(later(text))

async def failing():
    raise ValueError("promise broken")
"""
)


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """One server for the tests that leave it as they found it."""
    folder = tmp_path_factory.mktemp("lifetime")
    write_project(folder, LASTING)
    async with edge(folder) as running:
        yield running


@pytest.mark.parametrize("path", ["promised", "nested"])
async def test_what_wait_until_was_given_goes_on_after_the_response(
    server: Edge, path: str
) -> None:
    answer = await server.get(f"/{path}")
    logged_at_once = server.logged()
    line = await server.wait_log(f"{path} done")

    assert answer.text == "answered"
    assert f"{path} done" not in logged_at_once
    assert line.endswith(f"{path} done")


async def test_a_task_outside_wait_until_ends_with_the_response(server: Edge) -> None:
    answer = await server.get("/stray")
    line = await server.wait_log("stray done")

    assert answer.text == "answered"
    assert line.endswith("stray done not: cancelled")


async def test_a_failure_in_wait_until_is_logged_with_its_request(server: Edge) -> None:
    answer = await server.get("/failing")
    line = await server.wait_log("waitUntil task failed")
    await server.wait_log("promise broken")

    assert answer.status_code == 200
    assert line.startswith("[")
    assert "pid" not in line


async def test_a_client_that_leaves_cancels_its_request(server: Edge) -> None:
    with pytest.raises(httpx.ReadTimeout):
        await server.get("/patient", timeout=0.3)
    await server.wait_log("patient cancelled")
    await wait_until(lambda: _is_idle(server.http))


async def test_a_client_that_leaves_at_once_leaves_nothing_behind(server: Edge) -> None:
    for _ in range(50):
        _, writer = await asyncio.open_connection("127.0.0.1", server.run.port)
        writer.write(b"GET /patient HTTP/1.1\r\nhost: x\r\n\r\n")
        writer.transport.abort()

    await wait_until(lambda: _is_idle(server.http))


async def test_a_draining_isolate_waits_for_wait_until(tmp_path: Path) -> None:
    write_project(tmp_path, LASTING)

    async with edge(tmp_path) as server:
        await server.get("/promised")

    assert "promised done" in server.logged()


def test_what_wait_until_was_given_has_thirty_seconds() -> None:
    assert WAIT_UNTIL_S == 30.0


async def _is_idle(http: httpx.AsyncClient) -> bool:
    status = (await http.get("/cdn-cgi/localedge/status")).json()["workers"][0]
    return all(isolate["in_flight"] == 0 for isolate in status["isolates"])
