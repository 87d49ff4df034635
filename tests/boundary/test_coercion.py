"""JavaScript's own conversions, compared with what node answered."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localedge.boundary import to_js
from localedge.coercion import (
    in_js_order,
    is_index,
    js_number,
    js_number_text,
    js_string,
    js_truthy,
)
from localedge.values import UNDEFINED, BigInt, JsDate, JsErrorValue, JsMap, JsSet


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (1e21, "1e+21"),
        (123456789012345680000, "123456789012345680000"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e300, "1.5e+300"),
        (5e-324, "5e-324"),
        (0.1 + 0.2, "0.30000000000000004"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (BigInt(2**70), "1180591620717411303424"),
    ],
)
def test_the_text_of_a_number(number: float, text: str) -> None:
    assert js_number_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_number_is_that_number(number: float) -> None:
    assert float(js_number_text(number)) == number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (UNDEFINED, "undefined"),
        (True, "true"),
        ([], ""),
        ([None, UNDEFINED, [1, [2]]], ",,1,2"),
        ({}, "[object Object]"),
        (JsMap(), "[object Map]"),
        (JsSet(), "[object Set]"),
        (b"\x01\xff", "1,255"),
        (JsErrorValue("TypeError", "x"), "TypeError: x"),
        (JsDate(0), "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"),
    ],
)
def test_the_text_of_a_value(value: Any, text: str) -> None:
    assert js_string(value) == text


def test_the_text_of_a_python_object_is_its_own() -> None:
    class Named:
        def __str__(self) -> str:
            return "mine"

    assert js_string(to_js(Named())) == "mine"


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (None, 0),
        (True, 1),
        ("", 0),
        ("  12\n", 12),
        ("\ufeff\u00a012", 12),
        ("1e3", 1000),
        (".5", 0.5),
        ("5.", 5),
        ("+5", 5),
        ("0x1F", 31),
        ("0b11", 3),
        ("0o17", 15),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ([], 0),
        ([7], 7),
        (["7"], 7),
        (JsDate(5), 5),
    ],
)
def test_the_number_of_a_value(value: Any, number: float) -> None:
    assert js_number(value) == number


@pytest.mark.parametrize(
    "value",
    [UNDEFINED, "x", "1_000", "0x", "-0x1", "1 2", "infinity", "nan", "١", {}, [1, 2], JsSet([1])],
)
def test_what_has_no_number(value: Any) -> None:
    assert math.isnan(js_number(value))


@pytest.mark.parametrize("value", [None, UNDEFINED, False, 0, 0.0, float("nan"), "", BigInt(0)])
def test_what_is_false(value: Any) -> None:
    assert js_truthy(value) is False


@pytest.mark.parametrize("value", [True, 1, "0", [], {}, b"", JsMap()])
def test_what_is_true(value: Any) -> None:
    assert js_truthy(value) is True


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("0", True),
        ("10", True),
        ("4294967294", True),
        ("4294967295", False),
        ("01", False),
        ("-1", False),
        ("1.5", False),
        ("", False),
        ("١", False),
        ("9" * 5000, False),
    ],
)
def test_what_is_an_index(key: str, expected: bool) -> None:
    assert is_index(key) is expected


def test_indices_come_first_and_the_rest_keeps_its_order() -> None:
    assert list(in_js_order({"b": 1, "2": 1, "a": 1, "1": 1})) == ["1", "2", "b", "a"]
