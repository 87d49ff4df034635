"""Streams: readers, tees, pipes, and those that worker code makes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localedge.errors import JsException
from localedge.jsproxy import JsProxy
from localedge.stream import ReadableStream

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("platform")]


def stream(*parts: bytes, ended: list[str] | None = None) -> Any:
    async def pieces() -> AsyncIterator[bytes]:
        try:
            for part in parts:
                yield part
        finally:
            if ended is not None:
                ended.append("ended")

    return JsProxy(ReadableStream(pieces()))


async def read(held: Any) -> list[bytes]:
    return [piece.to_bytes() async for piece in held]


async def test_a_reader_gives_each_piece_and_then_done() -> None:
    reader = stream(b"a", b"b").getReader()

    results = [await reader.read() for _ in range(3)]

    assert [result.done for result in results] == [False, False, True]
    assert [result.value.to_bytes() for result in results[:2]] == [b"a", b"b"]


async def test_a_stream_has_one_reader_until_it_is_released() -> None:
    held = stream(b"a", b"b")
    reader = held.getReader()

    assert held.locked
    with pytest.raises(JsException, match="currently locked to a reader"):
        held.getReader()
    await reader.read()
    reader.releaseLock()
    assert await read(held) == [b"b"]


async def test_cancelling_a_reader_tells_the_source() -> None:
    ended: list[str] = []
    reader = stream(b"a", b"b", ended=ended).getReader()
    await reader.read()

    await reader.cancel()

    assert ended == ["ended"]


async def test_leaving_a_loop_ends_the_source() -> None:
    ended: list[str] = []
    chunks = aiter(ReadableStream(_numbers(ended)))

    await anext(chunks)
    await chunks.aclose()  # type: ignore[attr-defined]

    assert ended == ["ended"]


async def _numbers(ended: list[str]) -> AsyncIterator[bytes]:
    try:
        while True:
            yield b"x"
    finally:
        ended.append("ended")


@given(
    st.lists(st.binary(min_size=1, max_size=4), max_size=5), st.lists(st.booleans(), max_size=12)
)
def test_both_branches_of_a_tee_get_every_piece_in_any_order(
    parts: list[bytes], turns: list[bool]
) -> None:
    async def run() -> list[list[bytes]]:
        branches = [branch.getReader() for branch in stream(*parts).tee()]
        got: list[list[bytes]] = [[], []]
        for turn in [*turns, *[True] * 6, *[False] * 6]:
            result = await branches[turn].read()
            if not result.done:
                got[turn].append(result.value.to_bytes())
        return got

    assert asyncio.run(run()) == [parts, parts]


async def test_both_branches_of_a_tee_can_be_read_at_once() -> None:
    first, second = stream(b"a", b"b").tee()

    got = await asyncio.gather(read(first), read(second))

    assert list(got) == [[b"a", b"b"], [b"a", b"b"]]


async def test_what_is_written_to_a_transform_is_read_from_it() -> None:
    from js import TransformStream
    from pyodide.ffi import to_js

    pair = TransformStream.new()
    writer = pair.writable.getWriter()

    async def write() -> None:
        for part in (b"a", b"b"):
            await writer.write(to_js(part))
        await writer.close()

    _, got = await asyncio.gather(write(), read(pair.readable))

    assert got == [b"a", b"b"]


async def test_a_write_waits_until_it_is_read() -> None:
    from js import TransformStream
    from pyodide.ffi import to_js

    pair = TransformStream.new()
    writing = asyncio.ensure_future(_awaited(pair.writable.getWriter().write(to_js(b"a"))))

    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waited = not writing.done()
    await pair.readable.getReader().read()
    await asyncio.wait_for(writing, 5)

    assert waited


async def _awaited(promise: Any) -> Any:
    return await promise


async def test_a_transformer_changes_the_pieces() -> None:
    from js import TransformStream, Uint8Array

    def transform(chunk: Any, controller: Any) -> None:
        controller.enqueue(Uint8Array.new([chunk[0] + 1]))

    def flush(controller: Any) -> None:
        controller.enqueue(Uint8Array.new([33]))

    changed = stream(b"a", b"b").pipeThrough(TransformStream.new(transform=transform, flush=flush))

    assert await read(changed) == [b"b", b"c", b"!"]


async def test_an_aborted_writer_is_an_error_for_the_reader() -> None:
    from js import TransformStream

    pair = TransformStream.new()
    await pair.writable.getWriter().abort("broken")

    with pytest.raises(JsException, match="broken"):
        await pair.readable.getReader().read()


async def test_a_stream_of_a_pulling_source_is_made_on_demand() -> None:
    from js import ReadableStream as Made
    from js import Response, Uint8Array

    pulled: list[int] = []

    async def pull(controller: Any) -> None:
        pulled.append(1)
        if len(pulled) == 3:
            controller.close()
        else:
            controller.enqueue(Uint8Array.new([64 + len(pulled)]))

    held = Made.new(pull=pull)
    before = list(pulled)

    assert before == []
    assert await Response.new(held).text() == "AB"


async def test_a_stream_of_a_starting_source_holds_what_was_enqueued() -> None:
    from js import ReadableStream as Made
    from js import Uint8Array

    def start(controller: Any) -> None:
        controller.enqueue(Uint8Array.new([65]))
        controller.close()

    assert await read(Made.new(start=start)) == [b"A"]


async def test_the_error_of_a_source_reaches_the_reader() -> None:
    from js import Error, Response
    from js import ReadableStream as Made

    held = Made.new(start=lambda controller: controller.error(Error.new("broken")))

    with pytest.raises(JsException, match="broken"):
        await Response.new(held).text()


async def test_cancelling_a_made_stream_calls_its_source() -> None:
    from js import ReadableStream as Made
    from js import Uint8Array

    seen: list[str] = []
    held = Made.new(
        pull=lambda controller: controller.enqueue(Uint8Array.new([65])),
        cancel=lambda reason: seen.append("cancelled"),
    )
    reader = held.getReader()
    await reader.read()

    await reader.cancel()

    assert seen == ["cancelled"]


async def test_a_stream_of_texts_is_no_body() -> None:
    from js import ReadableStream as Made
    from js import Response

    def start(controller: Any) -> None:
        controller.enqueue("text")
        controller.close()

    with pytest.raises(JsException, match="did not return bytes"):
        await Response.new(Made.new(start=start)).text()


async def test_a_stream_can_be_piped_into_a_sink() -> None:
    from js import WritableStream

    seen: list[Any] = []

    await stream(b"a", b"b").pipeTo(
        WritableStream.new(
            write=lambda chunk, _controller: seen.append(chunk.to_bytes()),
            close=lambda: seen.append("closed"),
        )
    )

    assert seen == [b"a", b"b", "closed"]
