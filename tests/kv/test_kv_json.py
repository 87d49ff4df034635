"""JSON as JavaScript reads and writes it; `json_errors.json` is what node 24 said."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localedge.errors import JsException
from localedge.kv.jsontext import parse, stringify
from localedge.values import BigInt

RECORDED = json.loads((Path(__file__).parent / "json_errors.json").read_text("utf-8"))


@pytest.mark.parametrize(("text", "said"), RECORDED)
def test_a_text_that_is_no_json_is_refused_in_v8s_words(text: str, said: str) -> None:
    with pytest.raises(JsException) as caught:
        parse(text)

    assert (caught.value.name, caught.value.message) == ("SyntaxError", said)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e400", math.inf),
        ("9007199254740993", 9007199254740992.0),
        ("-" + "9" * 5000, -math.inf),
        (' {"a" : [ ] }\r\n', {"a": []}),
        ('{"a":1,"a":2}', {"a": 2}),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\ud800"', "\ud800"),
        ('{"__proto__":1}', {"__proto__": 1}),
    ],
)
def test_a_text_that_is_json_is_read(text: str, value: Any) -> None:
    assert parse(text) == value


def test_keys_that_are_indices_come_first_at_every_depth() -> None:
    found = parse('{"b":0,"2":{"a":0,"\\u0031":0},"1":0}')

    assert list(found) == ["1", "2", "b"]
    assert list(found["2"]) == ["1", "a"]


def test_json_deeper_than_python_follows_is_an_error_and_no_crash() -> None:
    with pytest.raises(JsException):
        parse("[" * 200_000 + "]" * 200_000)


@pytest.mark.slow
def test_a_long_text_that_breaks_off_is_refused_at_once() -> None:
    with pytest.raises(JsException, match="Unexpected end of JSON input"):
        parse("[" + "1," * 5_000_000)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ([1.0, -0.0, 1e21, 1e-7], "[1,0,1e+21,1e-7]"),
        ([math.nan, math.inf], "[null,null]"),
        ('\u0001"\\\n\u2028é😀', '"\\u0001\\"\\\\\\n\u2028é😀"'),
        ("é\udfffx", '"é\\udfffx"'),
        ({"b": 1, "1": {}}, '{"1":{},"b":1}'),
        ("\x7f", '"\x7f"'),
    ],
)
def test_a_value_is_written_without_a_space(value: Any, text: str) -> None:
    assert stringify(value) == text


def test_a_bigint_has_no_json() -> None:
    with pytest.raises(JsException, match="Do not know how to serialize a BigInt"):
        stringify({"a": [BigInt(1)]})


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_written_is_read_again(value: Any) -> None:
    text = stringify(value)

    assert text is not None
    assert parse(text) == value


@given(st.text(alphabet='{}[]",:01.eE+-tfnul \n\\x', max_size=12))
def test_a_text_is_either_read_or_refused_as_a_syntax_error(text: str) -> None:
    try:
        value = parse(text)
    except JsException as error:
        assert error.name == "SyntaxError"
    else:
        assert value == json.loads(text)
