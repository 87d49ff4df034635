"""What a Python value becomes on the other side, and what comes back."""

from __future__ import annotations

import array
import re
from datetime import datetime, timedelta, timezone
from enum import IntEnum, StrEnum
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localedge.boundary import JsDict, JsProxy, call_arguments, from_js, to_js
from localedge.errors import JsException
from localedge.values import (
    UNDEFINED,
    BigInt,
    JsDate,
    JsErrorValue,
    JsFunction,
    JsMap,
    JsSet,
    PyObject,
)


class Number(IntEnum):
    ONE = 1


class Word(StrEnum):
    ONE = "one"


class Text(str):
    pass


class Real(float):
    pass


@pytest.mark.parametrize(
    ("given", "crossed", "kind"),
    [
        (None, None, type(None)),
        (True, True, bool),
        (1, 1, int),
        (Number.ONE, 1, int),
        (Word.ONE, "one", str),
        (Text("x"), "x", str),
        (Real(1.5), 1.5, float),
        (2**53 - 2, 2**53 - 2, int),
        (2**53 - 1, 2**53 - 1, BigInt),
        (-(2**53) + 1, -(2**53) + 1, BigInt),
        (b"ab", b"ab", bytes),
        (memoryview(b"abcd")[1:3], b"bc", bytes),
        (array.array("B", [1, 2]), b"\x01\x02", bytes),
        ([1, [None]], [1, [None]], list),
        ({"a": {"b": 1}}, {"a": {"b": 1}}, dict),
        ({1}, [1], JsSet),
        (frozenset({1}), [1], JsSet),
        (ValueError("x"), JsErrorValue("Error", "x"), JsErrorValue),
        ("\ud83d\ude00", "😀", str),
        ("\ud800", "\ud800", str),
        (len, JsFunction(len), JsFunction),
    ],
)
def test_a_value_crosses_as(given: Any, crossed: Any, kind: type) -> None:
    result = to_js(given)

    assert result == crossed
    assert type(result) is kind


@pytest.mark.parametrize("refused", [(), bytearray(), re.compile("x")])
@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [v], lambda v: {"a": [v]}])
def test_a_tuple_a_bytearray_and_a_pattern_are_refused_at_any_depth(
    refused: Any, wrap: Any
) -> None:
    with pytest.raises(TypeError, match=re.escape(f"{type(refused)} cannot be sent over RPC.")):
        to_js(wrap(refused))


def test_an_awaitable_is_refused() -> None:
    async def work() -> None:
        """Never awaited."""

    coroutine = work()

    with pytest.raises(TypeError, match=r"Awaitable <class 'coroutine'> cannot be sent over RPC\."):
        to_js(coroutine)

    coroutine.close()


def test_the_keys_of_a_dict_are_property_names() -> None:
    crossed = to_js({1: 0, 1.5: 0, False: 0, None: 0, (1, None, "x"): 0, b"a": 0})

    assert list(crossed) == ["1", "97", "1.5", "false", "undefined", "1,,x"]


def test_keys_that_are_indices_come_first() -> None:
    assert list(to_js({"b": 0, "10": 0, "9": 0, "01": 0, "-1": 0})) == ["9", "10", "b", "01", "-1"]


def test_a_naive_datetime_means_utc_as_on_the_platform() -> None:
    assert to_js(datetime(1970, 1, 1, 0, 0, 1)) == JsDate(1000)


def test_an_aware_datetime_keeps_its_moment_in_whole_milliseconds() -> None:
    zone = timezone(timedelta(hours=2))

    crossed = to_js(datetime(1970, 1, 1, 2, 0, 0, 1999, tzinfo=zone))

    assert crossed == JsDate(1)


def test_what_crosses_is_a_copy() -> None:
    inner = [1]
    given = {"a": inner}

    crossed = to_js(given)
    inner.append(2)

    assert crossed == {"a": [1]}


def test_a_proxy_crosses_as_the_object_that_it_stands_for() -> None:
    held = ["a", "b"]

    assert to_js(JsProxy(held)) is held


def test_an_object_with_a_js_object_crosses_as_that() -> None:
    held = {"a": 1}

    assert to_js(SimpleNamespace(js_object=JsProxy(held))) is held


def test_another_object_stays_a_python_object_on_the_other_side() -> None:
    thing = object()

    assert to_js(thing) == PyObject(thing)


@pytest.mark.parametrize(
    ("value", "back", "kind"),
    [
        (UNDEFINED, None, type(None)),
        (2.0, 2, int),
        (-0.0, 0, int),
        (2.5, 2.5, float),
        (2**53 - 1, 2**53 - 1, int),
        (2**53, 9007199254740992.0, float),
        (float(2**53), 9007199254740992.0, float),
        (BigInt(2**60), 2**60, int),
        (b"a", b"a", memoryview),
        (JsSet([1, 2]), {1, 2}, set),
        (JsMap(a=1), {"a": 1}, JsDict),
        (JsDate(1001), datetime(1970, 1, 1, 0, 0, 1, 1000), datetime),
    ],
)
def test_a_value_comes_back_as(value: Any, back: Any, kind: type) -> None:
    result = from_js(value)

    assert result == back
    assert type(result) is kind


def test_an_error_comes_back_as_an_exception() -> None:
    error = from_js(JsErrorValue("Error", "too far"))
    other = from_js(JsErrorValue("RangeError", "too far"))

    assert (type(error), str(error)) == (Exception, "Error: too far")
    assert (type(other), str(other)) == (JsException, "RangeError: too far")


def test_objects_read_as_attributes_at_every_depth_but_methods_win() -> None:
    found = from_js({"a": {"b": [{"c": 1}]}, "keys": 2})

    assert found.a.b[0].c == 1
    assert callable(found.keys)
    assert found["keys"] == 2


def test_a_name_that_an_object_has_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nope"):
        _ = from_js({}).nope


def test_keyword_arguments_are_one_object_at_the_end() -> None:
    assert call_arguments((1, {"a": 1}), {"b": None, "c": [2]}) == [
        1,
        {"a": 1},
        {"b": None, "c": [2]},
    ]


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(PLAIN)
def test_plain_values_survive_the_way_there_and_back(value: Any) -> None:
    assert from_js(to_js(value)) == value
