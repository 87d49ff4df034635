"""Recorded answers against fresh ones: what is the same, and how a difference is shown."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests import replay

from localedge.boundary import JsDict
from localedge.errors import JsException
from localedge.port.record.loosening import like, like_error
from localedge.port.record.playing import decode, encode, play, run
from localedge.port.record.recording import differences

NOW = 1_800_000_000


@pytest.mark.parametrize(
    ("stored", "fresh"),
    [
        ({"$any": "number"}, {"$float": "1.5"}),
        ({"$any": "number"}, 0),
        ({"$any": "string"}, "miniflare.db"),
        ({"$now_plus": 60}, NOW + 61),
        ({"$str": 3}, "abc"),
        ([1, {"a": {"$any": "int"}}], [1, {"a": 7}]),
    ],
)
def test_an_answer_that_fits_is_written_in_the_stored_words(stored: Any, fresh: Any) -> None:
    assert like(stored, fresh, NOW) == stored


@pytest.mark.parametrize(
    ("stored", "fresh"),
    [
        ({"$any": "number"}, "1"),
        ({"$any": "int"}, {"$float": "1.5"}),
        ({"$now_plus": 60}, NOW + 64),
        ({"$str": 3}, "abcd"),
        ([1, 2], [1]),
        ({"a": 1}, {"b": 1}),
        (None, {"$float": "2.0"}),
    ],
)
def test_an_answer_that_does_not_fit_is_written_as_it_came(stored: Any, fresh: Any) -> None:
    assert like(stored, fresh, NOW) == fresh


def test_what_was_seen_is_recorded_afresh_and_is_no_difference() -> None:
    stored = {"$any": "int", "recorded": 4096}

    fresh = like(stored, 8192, NOW)

    assert fresh == {"$any": "int", "recorded": 8192}
    before = {"kv": {}, "d1": {"a": [{"call": [], "returns": stored}]}, "sdk": {}}
    after = {"kv": {}, "d1": {"a": [{"call": [], "returns": fresh}]}, "sdk": {}}
    assert list(differences(before, after)) == []


def test_an_error_fits_whatever_its_second_and_offset() -> None:
    stored = {"type": "JsException", "name": "Error", "message": 'at <epoch>: near "x"<offset>.'}

    for message in ('at 1800000000: near "x".', 'at 1700000000: near "x" at offset 12.'):
        assert like_error(stored, {**stored, "message": message}) == stored
    other = {**stored, "message": "something else"}
    assert like_error(stored, other) == other
    assert like_error(stored, {**stored, "name": "TypeError"})["name"] == "TypeError"


def test_a_difference_is_shown_under_the_name_of_its_case() -> None:
    call = ["KV", ["get", ["a"], {}]]
    before = {"kv": {"one": [{"call": call, "returns": "x"}], "same": []}, "d1": {}, "sdk": {}}
    after = {"kv": {"one": [{"call": call, "returns": "y"}], "same": []}, "d1": {}, "sdk": {}}

    lines = list(differences(before, after))

    assert lines[0] == "kv:one"
    assert '  -  "returns": "x"' in lines
    assert '  +  "returns": "y"' in lines


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (2**53 - 1, 2**53 - 1),
        (2**53, {"$int": "9007199254740992"}),
        (1.0, {"$float": "1.0"}),
        (b"\x00", {"$type": "bytes", "$bytes": "00"}),
        (memoryview(b"\x01"), {"$type": "memoryview", "$bytes": "01"}),
        ({"a": True}, {"$type": "dict", "a": True}),
        (JsDict(a=[None]), {"a": [None]}),
        ((1,), {"$tuple": [1]}),
        (object(), {"$type": "object"}),
    ],
)
def test_answers_tell_their_python_types(value: Any, encoded: Any) -> None:
    assert encode(value) == encoded


def test_arguments_mean_what_they_mean_in_a_replay() -> None:
    argument = [
        {"$bytes": "00ff"},
        {"$tuple": [{"$int": "5"}]},
        {"$repeat": ["x", 3]},
        {"$keys": ["k", 2]},
        {"a": {"$float": "inf"}, "b": [1]},
    ]

    assert decode(argument) == replay.decode(argument)


def test_lines_of_code_come_to_their_out_or_their_error() -> None:
    async def play() -> tuple[Any, Any]:
        good = await run(["out = [n for n in given]", "out.append(1.5)"], {"given": [1]})
        return good, await run(["raise error"], {"error": JsException("no", name="RangeError")})

    good, bad = asyncio.run(play())

    assert good == {"returns": [1, {"$float": "1.5"}]}
    assert bad == {"raises": {"type": "JsException", "name": "RangeError", "message": "no"}}


def test_a_program_can_use_what_it_was_told_before() -> None:
    class Pages:
        def list(self, **options: Any) -> JsDict:
            return JsDict(cursor=f"after {options.get('cursor')}")

    class Env:
        KV = Pages()

    following = ["KV", ["list", [], {"cursor": {"$answer": [-1, "cursor"]}}]]

    answers = asyncio.run(play(Env(), [following, following]))

    cursors = [answer["returns"]["cursor"] for answer in answers]
    assert cursors == ["after None", "after after None"]
