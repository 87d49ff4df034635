"""Bodies in both directions: whole, streamed, too large, cut short."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.runtime.edge import Edge, edge, kill, worker, write_project
from tests.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

BODIES = worker("""
    path = request.url.partition("//")[2].partition("/")[2]
    if path == "echo":
        return Response(request.body)
    if path == "size":
        return Response(str(len(await request.bytes())))
    if path == "big":
        return Response(b"x" * 3_000_000)
    if path == "claims":
        return Response(request.body, headers={"content-length": "3"})
    if path == "head":
        return Response("four", headers={"content-length": "99", "x-mine": "1"})
    if path == "none":
        return Response(None, status=204)
    if path == "cookies":
        return Response("", headers=[("set-cookie", "a=1"), ("set-cookie", "b=2")])
    if path == "unread":
        return Response("did not read")
    return Response(request.headers.get("x-given") or "nothing")
""")
LIMIT = 100_000_000


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """One server for the tests that leave it as they found it."""
    folder = tmp_path_factory.mktemp("bodies")
    write_project(folder, BODIES)
    async with edge(folder) as running:
        yield running


async def pieces(size: int, count: int) -> AsyncIterator[bytes]:
    """A body of `count` pieces whose length is not announced."""
    for number in range(count):
        yield bytes([number % 256]) * size


async def raw(server: Edge, request: bytes) -> bytes:
    """Everything that the server answers to `request` on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.run.port)
    writer.write(request)
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    return answer


async def test_a_streamed_body_comes_back_as_it_went(server: Edge) -> None:
    sent = b"".join([piece async for piece in pieces(100_000, 30)])

    answer = await server.http.post("/echo", content=pieces(100_000, 30))

    assert answer.content == sent


async def test_a_large_body_comes_back_in_one_piece(server: Edge) -> None:
    answer = await server.get("/big")

    assert answer.content == b"x" * 3_000_000


async def test_a_body_of_exactly_100_mb_passes_and_one_byte_more_is_refused(
    server: Edge,
) -> None:
    passes = await server.http.post("/size", content=pieces(1_000_000, 100))
    announced = await server.http.post("/size", content=b"x" * (LIMIT + 1))
    streamed = await server.http.post("/size", content=_one_more())

    assert passes.text == str(LIMIT)
    assert announced.status_code == 413
    assert streamed.status_code == 413
    assert "100,000,000 bytes" in announced.text


async def _one_more() -> AsyncIterator[bytes]:
    async for piece in pieces(1_000_000, 100):
        yield piece
    yield b"x"


async def test_a_worker_that_does_not_read_its_request_answers_all_the_same(
    server: Edge,
) -> None:
    answer = await server.http.post("/unread", content=pieces(500_000, 10))
    again = await server.get("/")

    assert answer.text == "did not read"
    assert again.status_code == 200


async def test_a_kill_while_streaming_cuts_the_connection_short(server: Edge) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.run.port)
    writer.write(b"POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
    writer.write(b"5\r\nbegun\r\n")
    async with asyncio.timeout(10):
        head = await reader.readuntil(b"begun")
    (pid,) = [
        int(line.split(b": ")[1])
        for line in head.split(b"\r\n")
        if line.startswith(b"x-localedge-isolate")
    ]
    kill(pid)
    async with asyncio.timeout(10):
        rest = await _rest(reader)
    writer.close()

    assert b"200 OK" in head
    assert b"0\r\n\r\n" not in rest


async def _rest(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def test_a_slow_reader_does_not_fill_the_servers_memory(server: Edge) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", server.run.port)
    writer.write(b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 90000000\r\n\r\n")
    sent = 0
    try:
        while sent < 90_000_000:
            writer.write(b"x" * 1_000_000)
            async with asyncio.timeout(0.5):
                await writer.drain()
            sent += 1_000_000
    except TimeoutError:
        pass
    writer.transport.abort()
    await wait_until(lambda: _idle(server))

    assert sent < 40_000_000


async def _idle(server: Edge) -> bool:
    return all(i["in_flight"] == 0 for i in (await server.status())["isolates"])


async def test_head_has_the_headers_and_no_body(server: Edge) -> None:
    head = await server.http.head("/head")
    got = await server.get("/head")
    none = await server.get("/none")

    assert (head.headers["content-length"], head.content) == ("99", b"")
    assert (got.headers["content-length"], got.content) == ("4", b"four")
    assert (none.status_code, none.headers.get("content-length")) == (204, None)


async def test_headers_keep_their_lines_in_both_directions(server: Edge) -> None:
    cookies = await server.get("/cookies")
    given = await server.get("/", headers={"x-given": "grüße".encode()})

    assert cookies.headers.get_list("set-cookie") == ["a=1", "b=2"]
    assert given.text == "grüße"


async def test_a_connection_serves_requests_one_after_another_and_pipelined(
    server: Edge,
) -> None:
    one = b"GET / HTTP/1.1\r\nhost: x\r\nx-given: %d\r\n\r\n"
    last = b"GET / HTTP/1.1\r\nhost: x\r\nx-given: 3\r\nconnection: close\r\n\r\n"

    answers = await raw(server, one % 1 + one % 2 + last)

    bodies = [part[:1] for part in answers.split(b"\r\n\r\n")[1:]]
    assert bodies == [b"1", b"2", b"3"]


async def test_expect_100_continue_is_answered_before_the_body(server: Edge) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.run.port)
    writer.write(
        b"POST /size HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\nexpect: 100-continue\r\n\r\n"
    )
    async with asyncio.timeout(10):
        first = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"abc")
        second = await reader.readuntil(b"\r\n\r\n")
    writer.close()

    assert first.startswith(b"HTTP/1.1 100")
    assert b"200 OK" in second


async def test_a_length_that_a_worker_claims_of_a_stream_is_not_believed(server: Edge) -> None:
    answer = await server.http.post("/claims", content=b"longer than that")

    assert answer.content == b"longer than that"
    assert "content-length" not in answer.headers
