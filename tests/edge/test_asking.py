"""A request as a side gets it: what was asked for, and nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from localedge.errors import Exit, OperatorError
from localedge.port.verify.answers import Outgoing, ask, plain_client

pytestmark = pytest.mark.anyio

_ANSWER = (
    b"HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n"
    b"content-encoding: gzip\r\ncontent-length: 2\r\n\r\nno"
)


class Server:
    """Takes one request a connection, and answers each alike."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            self.seen.append(head)
            writer.write(_ANSWER)
            await writer.drain()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await made.serve(reader, writer)
        except asyncio.IncompleteReadError:
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    made.url = f"http://127.0.0.1:{port}"
    async with listening:
        yield made


def get(*headers: tuple[str, str]) -> Outgoing:
    return Outgoing("GET", "/a?b=%20", (("host", "worker.test"), *headers), b"")


async def test_nothing_is_added_to_a_request_and_no_cookie_is_kept(server: Server) -> None:
    async with plain_client() as client:
        await ask(client, server.url, get(("x-own", "1")), {})
        await ask(client, server.url, get(("x-own", "1")), {})

    assert server.seen == [b"GET /a?b=%20 HTTP/1.1\r\nhost: worker.test\r\nx-own: 1\r\n\r\n"] * 2


async def test_an_answer_is_taken_as_it_is(server: Server) -> None:
    async with plain_client() as client:
        answer = await ask(client, server.url, get(), {})

    assert (answer.status, answer.body) == (302, b"no")
    assert [value for name, value in answer.headers if name == "set-cookie"] == ["a=1", "b=2"]


async def test_a_request_that_http_does_not_allow_is_refused(server: Server) -> None:
    async with plain_client() as client:
        with pytest.raises(OperatorError, match="cannot be sent") as caught:
            await ask(client, server.url, get(("x-own", " spaces ")), {})

    assert caught.value.exit == Exit.USAGE


async def test_a_server_that_is_not_there_is_no_answer() -> None:
    async with plain_client() as client:
        answer = await ask(client, "http://127.0.0.1:9", get(), {})

    assert answer.failure is not None
