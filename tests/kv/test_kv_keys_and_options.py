"""Names, numbers and options of KV's methods: what is allowed, coerced and refused."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from typing import Any

import pytest

from localedge import clock
from localedge.boundary import JsProxy
from localedge.errors import JsException

pytestmark = pytest.mark.anyio

ODD_KEYS = [
    "/",
    "a/b",
    "%",
    "%20",
    " ",
    "\0",
    "é",
    "😀",
    "__proto__",
    "a\nb",
    "...",
    "\x7f",
    "{a}:h:b",
]


@pytest.mark.parametrize("key", ODD_KEYS)
async def test_any_text_is_a_key_as_it_is(key: str, kv: Any) -> None:
    await kv.put(key, "v")

    listed = await kv.list()

    assert await kv.get(key) == "v"
    assert [entry["name"] for entry in listed["keys"]] == [key]


async def test_keys_are_not_normalised(kv: Any) -> None:
    await kv.put("\u00e9", "composed")

    assert await kv.get("e\u0301") is None


@pytest.mark.parametrize("size", [256, 257])
async def test_a_key_is_measured_in_bytes(size: int, kv: Any) -> None:
    key = "é" * size

    if size == 256:
        await kv.put(key, "v")
        assert await kv.get(key) == "v"
        return
    with pytest.raises(JsException) as caught:
        await kv.put(key, "v")

    assert caught.value.message == (
        "KV PUT failed: 414 UTF-8 encoded length of 514 exceeds key length limit of 512."
    )


@pytest.mark.parametrize(
    ("method", "word"),
    [("get", "GET"), ("getWithMetadata", "GET"), ("put", "PUT"), ("delete", "DELETE")],
)
async def test_a_lone_surrogate_is_no_key(method: str, word: str, kv: Any) -> None:
    value = ["v"] if method == "put" else []

    with pytest.raises(JsException) as caught:
        await getattr(kv, method)("a\ud800", *value)

    assert caught.value.message == f"KV {word} failed: 400 Could not URL-decode key name"


async def test_a_pair_of_surrogates_is_the_character_it_stands_for(kv: Any) -> None:
    await kv.put("\ud83d\ude00", "v")

    assert await kv.get("😀") == "v"


class Number(IntEnum):
    FIVE = 5


class Word(StrEnum):
    FIVE = "5"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (5, "5"),
        (Number.FIVE, "5"),
        (Word.FIVE, "5"),
        (1.0, "1"),
        (1e21, "1e+21"),
        (2**60, "1152921504606846976"),
        (True, "true"),
        (None, "null"),
        ({"a": 1}, "[object Object]"),
        (b"\x01\x02", "1,2"),
        ({1}, "[object Set]"),
        (
            datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
            "Tue Jan 02 2024 03:04:05 GMT+0000 (Coordinated Universal Time)",
        ),
    ],
)
async def test_what_is_no_text_is_a_key_by_its_text(given: Any, name: str, kv: Any) -> None:
    await kv.put(given, "v")

    assert await kv.get(name) == "v"


async def test_a_list_where_one_key_is_expected_is_joined(kv: Any) -> None:
    await kv.put(["a", 1, None, ["b"]], "v")

    assert await kv.get("a,1,,b") == "v"


@pytest.mark.parametrize(
    ("method", "args", "position", "expected"),
    [
        ("get", [], 1, "string or Array"),
        ("getWithMetadata", [], 1, "Array or string"),
        ("put", [], 1, "string"),
        ("put", ["k"], 2, "string or Object"),
        ("put", ["k", "v", 60], 3, "PutOptions"),
        ("delete", [], 1, "string"),
        ("list", ["prefix"], 1, "ListOptions"),
    ],
)
async def test_an_argument_that_is_missing_or_cannot_be_is_a_type_error(
    method: str, args: list[Any], position: int, expected: str, kv: Any
) -> None:
    with pytest.raises(JsException) as caught:
        await getattr(kv, method)(*args)

    assert str(caught.value) == (
        f"TypeError: Failed to execute '{method}' on 'KvNamespace': "
        f"parameter {position} is not of type '{expected}'."
    )


@pytest.mark.parametrize(
    ("ttl", "said"),
    [
        (59.9, "59. Expiration TTL must be at least 60."),
        ("59", "59. Expiration TTL must be at least 60."),
        ("0x3b", "59. Expiration TTL must be at least 60."),
        ([59], "59. Expiration TTL must be at least 60."),
        (-0.5, "0. Please specify integer greater than 0."),
        (float("nan"), "0. Please specify integer greater than 0."),
        (float("inf"), "0. Please specify integer greater than 0."),
        ("sixty", "0. Please specify integer greater than 0."),
        (True, "1. Expiration TTL must be at least 60."),
        ({}, "0. Please specify integer greater than 0."),
    ],
)
async def test_a_ttl_is_made_an_integer_before_it_is_judged(ttl: Any, said: str, kv: Any) -> None:
    with pytest.raises(JsException) as caught:
        await kv.put("k", "v", expirationTtl=ttl)

    assert caught.value.message == f"KV PUT failed: 400 Invalid expiration_ttl of {said}"


@pytest.mark.parametrize("option", ["expirationTtl", "expiration"])
@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 1e300, "99999999999"])
async def test_a_number_outside_32_bits_is_a_type_error(option: str, number: Any, kv: Any) -> None:
    with pytest.raises(JsException) as caught:
        await kv.put("k", "v", {option: number})

    assert str(caught.value) == (
        "TypeError: Value out of range. Must be between -2147483648 and 2147483647 (inclusive)."
    )


async def test_a_number_loses_its_fraction_before_its_range_is_looked_at(kv: Any) -> None:
    await kv.put("k", "v", expiration=2**31 - 0.5)

    assert (await kv.list())["keys"][0].expiration == 2**31 - 1


async def test_one_byte_is_the_number_that_it_reads_as(kv: Any) -> None:
    await kv.put("k", "v")

    assert await kv.get("k", cacheTtl=b"<") == "v"


async def test_a_bigint_is_no_option(kv: Any) -> None:
    with pytest.raises(JsException, match="Cannot convert a BigInt value to a number"):
        await kv.put("k", "v", expirationTtl=2**60)


async def test_the_key_is_judged_before_the_options(kv: Any) -> None:
    with pytest.raises(JsException, match="Key name cannot be empty"):
        await kv.put("", "v", expirationTtl=1)


@pytest.mark.parametrize("options", [None, {}, [], {"unknown": 1}])
async def test_options_that_say_nothing_are_none(options: Any, kv: Any) -> None:
    await kv.put("k", "v", options)

    assert await kv.get("k", options) == "v"
    assert (await kv.list(options))["keys"] == [{"name": "k"}]


async def test_options_come_as_keywords_as_a_dict_or_as_an_object(kv: Any) -> None:
    await kv.put("k", "1", expirationTtl=90)
    await kv.put("l", "1", {"expirationTtl": 90})
    await kv.put("m", "1", JsProxy({"expirationTtl": 90}))

    keys = (await kv.list())["keys"]

    now = clock.now_s()
    assert all(now + 88 <= key["expiration"] <= now + 90 for key in keys)
    assert await kv.get("k", JsProxy({"type": "json"})) == 1


@pytest.mark.parametrize("option", ["prefix", "cursor", "limit"])
async def test_a_list_option_of_none_is_not_given(option: str, kv: Any) -> None:
    await kv.put("k", "v")

    page = await kv.list(**{option: None})

    assert page == {"keys": [{"name": "k"}], "list_complete": True, "cacheStatus": None}


@pytest.mark.parametrize(
    ("cache_ttl", "shown"), [(29, "29"), (None, "0"), ("x", "0"), (29.9, "29"), (-1, "-1")]
)
async def test_a_cache_ttl_under_30_is_refused(cache_ttl: Any, shown: str, kv: Any) -> None:
    text = f"400 Invalid cache_ttl of {shown}. Cache TTL must be at least 30."

    with pytest.raises(JsException) as single:
        await kv.get("k", cacheTtl=cache_ttl)
    with pytest.raises(JsException) as bulk:
        await kv.get(["k"], cacheTtl=cache_ttl)

    assert single.value.message == f"KV GET failed: {text}"
    assert bulk.value.message == f"KV GET_BULK failed: {text}"


async def test_a_cache_ttl_of_30_is_accepted(kv: Any) -> None:
    await kv.put("k", "v")

    assert await kv.get("k", cacheTtl=30) == "v"


async def test_methods_that_kv_has_not_are_missing(kv: Any) -> None:
    assert not hasattr(kv, "has")
    assert not hasattr(kv, "deleteBulk")
