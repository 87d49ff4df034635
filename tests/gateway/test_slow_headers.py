"""A client that does not finish its headers is sent away."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from localedge.gateway.connection import SLOW_HEADERS_S
from localedge.gateway.listening import listening
from localedge.gateway.port import bind

pytestmark = pytest.mark.anyio


async def hello(_scope: Any, _receive: Any, send: Any) -> None:
    """Answers "hello"."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello", "more_body": False})


@pytest.mark.parametrize("begun", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: x\r\n"])
async def test_headers_that_do_not_come_end_the_connection(begun: bytes) -> None:
    listener = bind("127.0.0.1", 0)

    async with listening(hello, listener, slow_headers_s=0.1):
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(begun)
        async with asyncio.timeout(5):
            answer = await reader.read()
        writer.close()

    assert answer.startswith(b"HTTP/1.1 408")


async def test_a_quiet_connection_after_an_answer_is_kept(anyio_backend: str) -> None:
    listener = bind("127.0.0.1", 0)

    async with listening(hello, listener, slow_headers_s=0.1):
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        async with asyncio.timeout(5):
            await reader.readuntil(b"0\r\n\r\n")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await reader.read(1)
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        async with asyncio.timeout(5):
            again = await reader.readuntil(b"0\r\n\r\n")
        writer.close()

    assert b"hello" in again


def test_the_server_gives_them_thirty_seconds() -> None:
    assert SLOW_HEADERS_S == 30.0
