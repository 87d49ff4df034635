"""What a developer sees of each request on an ordinary day."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.runtime.edge import edge, worker, write_project

from localedge.gateway.journal import MOST_LINES, Journal
from localedge.gateway.requests import Request

pytestmark = pytest.mark.anyio


def request(target: str, **secrets: str) -> Request:
    """A GET for `target`."""
    path, _, query = target.partition("?")
    scope = {
        "headers": [(b"host", b"localhost:8787")],
        "method": "GET",
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "http_version": "1.1",
    }
    return Request(scope, secrets)


@pytest.mark.processes
async def test_an_answered_request_is_one_line_with_the_ray_of_its_output(tmp_path: Path) -> None:
    write_project(
        tmp_path,
        worker("""
        print("seen")
        return Response("x", status=201)
    """),
    )

    async with edge(tmp_path) as server:
        await server.get("/some/path?q=1")
        line = await server.wait_log("/some/path")
        seen = await server.wait_log("seen")

    assert "GET /some/path?q=1 201 Created (" in line
    assert line.endswith(" ms)")
    assert line.split()[0] == seen.split()[0]


async def test_of_many_requests_at_once_most_are_only_counted() -> None:
    said: list[str] = []
    journal = Journal(said.append)

    for number in range(MOST_LINES + 1000):
        journal.note(request(f"/{number}"), 200)
    await asyncio.sleep(0)
    journal.flush()

    lines = said[0].splitlines()
    assert len(said) == 1
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == "… and 1000 more requests"


async def test_a_secret_in_a_url_is_masked() -> None:
    said: list[str] = []
    journal = Journal(said.append)

    journal.note(request("/x?token=hidden%2Fvalue", TOKEN="hidden/value"), 200)
    journal.flush()

    assert "GET /x?token=*** 200 OK (" in said[0]


async def test_a_status_without_a_name_has_none() -> None:
    said: list[str] = []
    journal = Journal(said.append)

    journal.note(request("/"), 299)
    journal.flush()

    assert " GET / 299 (" in said[0]
