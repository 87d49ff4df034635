"""What KV stores and gives back: kinds of values, sizes, metadata, bulk reads."""

from __future__ import annotations

import array
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from localedge.boundary import JsProxy
from localedge.errors import JsException
from localedge.stream import ReadableStream

pytestmark = pytest.mark.anyio

MAX_BYTES = 26_214_400


async def chunks(size: int, count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * size


async def failing_chunks() -> AsyncIterator[bytes]:
    yield b"x"
    raise OSError("the source is gone")


def stream(size: int, count: int) -> JsProxy:
    return JsProxy(ReadableStream(chunks(size, count)))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("", ""),
        (5, "5"),
        (1.0, "1"),
        (0.1, "0.1"),
        (-0.0, "0"),
        (1e-7, "1e-7"),
        (float("nan"), "NaN"),
        (2**60, "1152921504606846976"),
        (True, "true"),
        (None, "null"),
        (b"bytes", "bytes"),
        (memoryview(b"abcdef")[2:4], "cd"),
        (array.array("B", [97, 98]), "ab"),
        ("\ud83d\ude00", "😀"),
        ("a\ud800", "a\ufffd\ufffd\ufffd"),
    ],
)
async def test_a_value_is_stored_as_javascript_would(given: Any, text: str, kv: Any) -> None:
    await kv.put("k", given)

    assert await kv.get("k") == text


@pytest.mark.parametrize(
    "given", [{"a": 1}, [1], {1}, datetime(2024, 1, 1, tzinfo=UTC), object(), len, ValueError("x")]
)
async def test_an_object_is_no_value(given: Any, kv: Any) -> None:
    with pytest.raises(JsException) as caught:
        await kv.put("k", given)

    assert str(caught.value) == (
        "TypeError: KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and "
        "ReadableStreams as values."
    )


async def test_a_buffer_is_copied_when_the_call_is_made(kv: Any) -> None:
    buffer = bytearray(b"before")

    putting = kv.put("k", memoryview(buffer))
    buffer[:] = b"after!"
    await putting

    assert await kv.get("k") == "before"


async def test_bytes_come_back_as_they_were(kv: Any) -> None:
    content = bytes(range(256))
    await kv.put("k", content)

    value = await kv.get("k", "arrayBuffer")

    assert type(value) is memoryview
    assert value == content


async def test_a_byte_order_mark_stays_in_a_text(kv: Any) -> None:
    await kv.put("k", b"\xef\xbb\xbfv")

    assert await kv.get("k") == "\ufeffv"


async def test_a_stream_is_stored_and_can_be_read_as_one(kv: Any) -> None:
    await kv.put("k", stream(3, 4))

    read = await kv.get("k", type="stream")

    assert b"".join([chunk async for chunk in read._js]) == b"x" * 12


async def test_an_empty_stream_is_an_empty_value(kv: Any) -> None:
    await kv.put("k", stream(0, 0))

    assert await kv.get("k") == ""


async def test_a_stream_that_breaks_stores_nothing(kv: Any) -> None:
    with pytest.raises(OSError, match="the source is gone"):
        await kv.put("k", JsProxy(ReadableStream(failing_chunks())))

    assert await kv.get("k") is None


async def test_a_value_of_25_mib_is_the_largest(kv: Any) -> None:
    await kv.put("text", "x" * MAX_BYTES)
    await kv.put("stream", stream(MAX_BYTES // 4, 4))

    assert len(await kv.get("text")) == MAX_BYTES
    assert len(await kv.get("stream", "arrayBuffer")) == MAX_BYTES


async def test_a_larger_value_is_refused_with_its_size(kv: Any) -> None:
    text = f"KV PUT failed: 413 Value length of {MAX_BYTES + 2} exceeds limit of {MAX_BYTES}."

    with pytest.raises(JsException) as as_bytes:
        await kv.put("k", b"x" * (MAX_BYTES + 2))
    with pytest.raises(JsException) as as_text:
        await kv.put("k", "é" * (MAX_BYTES // 2 + 1))
    with pytest.raises(JsException) as as_stream:
        await kv.put("k", stream(MAX_BYTES // 2 + 1, 2))

    assert as_bytes.value.message == as_text.value.message == as_stream.value.message == text
    assert await kv.get("k") is None


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ("", "Unexpected end of JSON input"),
        ("{", "Expected property name or '}' in JSON at position 1 (line 1 column 2)"),
        ("[1,", "Unexpected end of JSON input"),
        (
            "[1 2]",
            "Expected ',' or ']' after array element in JSON at position 3 (line 1 column 4)",
        ),
        ("NaN", '"NaN" is not valid JSON'),
        ("hello", "Unexpected token 'h', \"hello\" is not valid JSON"),
    ],
)
async def test_what_is_no_json_is_a_syntax_error(stored: str, message: str, kv: Any) -> None:
    await kv.put("k", stored)

    with pytest.raises(JsException) as caught:
        await kv.get("k", "json")

    assert (caught.value.name, caught.value.message) == ("SyntaxError", message)


async def test_a_missing_key_is_none_whatever_the_type(kv: Any) -> None:
    for kind in ("text", "json", "arrayBuffer", "stream", "xml", None):
        assert await kv.get("k", type=kind) is None


async def test_a_put_without_metadata_and_ttl_clears_the_old_ones(kv: Any) -> None:
    await kv.put("k", "1", metadata={"a": 1}, expirationTtl=60)
    await kv.put("k", "2")

    assert (await kv.getWithMetadata("k"))["metadata"] is None
    assert (await kv.list())["keys"] == [{"name": "k"}]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({1: "a", None: "b", (1, 2): "c"}, {"1": "a", "undefined": "b", "1,2": "c"}),
        (datetime(2024, 1, 1, tzinfo=UTC), "2024-01-01T00:00:00.000Z"),
        (datetime(2024, 1, 1), "2024-01-01T00:00:00.000Z"),
        ([float("nan"), float("inf")], [None, None]),
        ({1, 2}, {}),
        (b"a", {"0": 97}),
        ({"f": len, "g": [len]}, {"g": [None]}),
        (1e21, 1e21),
        ("\ud800", "\ud800"),
        (False, False),
        (0, 0),
        ("", ""),
    ],
)
async def test_metadata_is_what_javascript_makes_of_it(given: Any, stored: Any, kv: Any) -> None:
    await kv.put("k", "v", metadata=given)

    assert (await kv.getWithMetadata("k"))["metadata"] == stored
    assert (await kv.list())["keys"][0]["metadata"] == stored


async def test_keys_that_are_numbers_come_first_in_metadata(kv: Any) -> None:
    await kv.put("k", "v", metadata={"b": 1, "10": 2, "9": 3, "01": 4})

    assert list((await kv.getWithMetadata("k"))["metadata"]) == ["9", "10", "b", "01"]


async def test_metadata_that_has_no_json_is_the_stores_failure(kv: Any) -> None:
    with pytest.raises(JsException, match="KV PUT failed: 500 Internal Server Error"):
        await kv.put("k", "v", metadata=len)


async def test_a_bigint_in_metadata_is_a_type_error(kv: Any) -> None:
    with pytest.raises(JsException) as caught:
        await kv.put("k", "v", metadata=[2**60])

    assert str(caught.value) == "TypeError: Do not know how to serialize a BigInt"


async def test_a_bulk_read_keeps_the_order_asked_for_and_every_key(kv: Any) -> None:
    await kv.put("b", "1")
    await kv.put("5", "2")

    found = await kv.get(["5", "b", "missing", "b", "__proto__", 1])

    assert list(found.items()) == [
        ("5", "2"),
        ("b", "1"),
        ("missing", None),
        ("__proto__", None),
        ("1", None),
    ]


async def test_a_bulk_read_with_metadata_has_none_for_a_missing_key(kv: Any) -> None:
    await kv.put("empty", "", metadata=1)
    await kv.put("zero", "0", metadata=2)
    await kv.put("null", "null", metadata=3)

    as_text = await kv.getWithMetadata(["empty", "missing"])
    as_json = await kv.getWithMetadata(["zero", "null"], "json")

    assert as_text == {"empty": {"value": "", "metadata": 1}, "missing": None}
    assert as_json == {"zero": {"value": 0, "metadata": 2}, "null": None}


@pytest.mark.parametrize(
    ("keys", "options", "text"),
    [
        (["a", "."], {}, '400 Illegal key name ".". Please use a different name.'),
        (["a", ".."], {}, '400 Illegal key name "..". Please use a different name.'),
        (["a" * 513], {}, "414 UTF-8 encoded length of 513 exceeds key length limit of 512."),
        (["a"], {"type": "stream"}, '400 "stream" is not a valid type. Use "json" or "text"'),
        (["a"], {"type": None}, '400 "null" is not a valid type. Use "json" or "text"'),
        (
            ["no json"],
            {"type": "json"},
            "400 At least one of the requested keys corresponds to a non-json value",
        ),
    ],
)
async def test_a_bulk_read_is_refused_by_the_store(
    keys: list[str], options: dict[str, Any], text: str, kv: Any
) -> None:
    await kv.put("no json", "{")

    with pytest.raises(JsException) as caught:
        await kv.get(keys, options)

    assert caught.value.message == f"KV GET_BULK failed: {text}"


async def test_a_bulk_read_of_more_than_25_mib_is_refused(kv: Any) -> None:
    await kv.put("a", b"x" * (MAX_BYTES - 1))
    await kv.put("b", "xy")

    with pytest.raises(JsException) as caught:
        await kv.get(["a", "b"])

    assert caught.value.message == (
        "KV GET_BULK failed: 413 Total size of request exceeds the limit of 25MB"
    )


async def test_a_list_made_by_to_js_is_a_bulk_read(kv: Any) -> None:
    await kv.put("a", "1")

    assert await kv.get(JsProxy(["a"])) == {"a": "1"}


async def test_namespaces_with_different_ids_share_nothing(
    connection: Any, binding_of: Any
) -> None:
    first = binding_of(connection.store("a}:h:b"))
    second = binding_of(connection.store("a"))

    await first.put("k", "v")

    assert await second.get("}:h:b}:h:k") is None
    assert (await second.list())["keys"] == []
