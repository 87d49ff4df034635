"""The stream of what happens, the clock, and who may ask for them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.inspector.shop import API, get, post, shop
from tests.runtime.edge import Edge

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.processes,
    # One server for all of them, in one process of the test run.
    pytest.mark.xdist_group("inspector-events"),
]
PAGE = "/cdn-cgi/localedge/"


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    async with shop(tmp_path_factory.mktemp("shop")) as running:
        yield running


@asynccontextmanager
async def stream(
    server: Edge, query: str = "", headers: dict[str, str] | None = None
) -> AsyncIterator[AsyncIterator[tuple[str, Any]]]:
    """The messages of the stream as (event, data)."""
    async with server.http.stream("GET", f"{API}/events{query}", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield messages(answer.aiter_lines())


async def messages(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, Any]]:
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield fields.get("event", "message"), json.loads(fields["data"])
            fields = {}


async def until(source: AsyncIterator[tuple[str, Any]], kind: str) -> list[dict[str, Any]]:
    """What comes, up to the first of that kind."""
    found = []
    async for _, one in source:
        found.append(one)
        if one.get("kind") == kind:
            return found
    raise AssertionError(f"the stream ended before {kind}: {found}")


async def test_a_request_is_told_as_it_goes(server: Edge) -> None:
    async with stream(server) as source:
        event, hello = await anext(source)
        await server.get("/order")
        seen = await until(source, "request.over")

    assert (event, set(hello)) == ("hello", {"server", "newest"})
    told = [one["kind"] for one in seen if one["kind"] not in ("call.began", "call.ended")]
    assert told == ["request.opened", "console", "request.closed", "request.over"]
    assert len({one["ray"] for one in seen}) == 1
    numbers = [one["number"] for one in seen]
    assert numbers == [*range(hello["newest"] + 1, hello["newest"] + 1 + len(seen))]


async def test_only_the_wanted_kinds_come(server: Edge) -> None:
    async with stream(server, "?kinds=console,clock.") as source:
        await anext(source)
        await server.get("/order")
        await post(server, "clock", advance=5)
        seen = await until(source, "clock.moved")

    assert [one["kind"] for one in seen] == ["console", "clock.moved"]


async def test_who_comes_back_gets_what_was_missed(server: Edge) -> None:
    async with stream(server) as source:
        _, hello = await anext(source)
    await server.get("/hello")

    async with stream(server, headers={"last-event-id": str(hello["newest"])}) as source:
        await anext(source)
        seen = await until(source, "request.closed")

    assert seen[0]["number"] == hello["newest"] + 1
    assert seen[0]["kind"] == "request.opened"


async def test_the_clock_is_told_and_moved(server: Edge) -> None:
    await post(server, "clock", reset="")
    moved = await post(server, "clock", advance=3600)
    told = await get(server, "clock")
    set_to = await post(server, "clock", set=1_800_000_000)

    assert moved["offset_s"] == 3600
    assert 3599 < told["now"] - told["machine"] < 3601
    assert 1_800_000_000 <= set_to["now"] < 1_800_000_010
    assert set_to["crons"][0]["next"] == 1_800_000_300
    assert (await post(server, "clock", reset=""))["offset_s"] == 0


async def test_a_clock_is_not_moved_by_what_is_no_number(server: Edge) -> None:
    answer = await server.order("api/clock", advance="soon")

    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "that is not a number of seconds"


@pytest.mark.parametrize("limit", ["many", "²", "1" + "0" * 5000])
async def test_a_limit_that_is_no_number_is_refused(server: Edge, limit: str) -> None:
    answer = await server.get(f"{API}/requests", params={"limit": limit})

    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == '"limit" is not a whole number'


async def test_a_stream_from_a_number_that_is_none_begins_with_what_comes(server: Edge) -> None:
    async with stream(server, "?after=²") as source:
        event, _ = await anext(source)
        await server.get("/hello")
        seen = await until(source, "request.closed")

    assert event == "hello"
    assert seen[0]["kind"] == "request.opened"


@pytest.mark.parametrize("path", ["isolates/1/kill", "clock?advance=1", "crons/fire?worker=tested"])
async def test_whatever_changes_something_needs_the_token(server: Edge, path: str) -> None:
    answer = await server.http.post(f"{API}/{path}")

    assert answer.status_code == 403
    assert "token" in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site"},
    ],
)
@pytest.mark.parametrize("path", [PAGE, f"{API}/requests", f"{API}/events", f"{PAGE}static/app.js"])
async def test_nothing_is_shown_to_others(server: Edge, path: str, headers: dict[str, str]) -> None:
    answer = await server.get(path, headers=headers)

    assert answer.status_code == 403


@pytest.mark.parametrize("path", [PAGE, f"{PAGE}view/isolates", f"{PAGE}view/clock"])
async def test_a_page_runs_nothing_but_its_own_files(server: Edge, path: str) -> None:
    answer = await server.get(path)

    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert server.run.token not in answer.text
    assert "<script>" not in answer.text
    assert " style=" not in answer.text


async def test_a_page_shows_markup_as_text(server: Edge) -> None:
    # An ordinary client would encode it.
    reader, writer = await asyncio.open_connection(server.run.host, server.run.port)
    writer.write(b"GET /hello?<b>bold</b> HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 200")
    writer.close()

    answer = await server.get(PAGE)

    assert "<b>" not in answer.text
    assert "hello?&lt;b&gt;bold&lt;/b&gt;" in answer.text
