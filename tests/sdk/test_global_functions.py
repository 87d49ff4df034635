"""Functions and constants of JavaScript's global scope, as Node 24 under Pyodide 314 answers."""

from __future__ import annotations

import math
from typing import Any

import pytest

from localedge.errors import JsException

pytestmark = pytest.mark.usefixtures("platform")


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("encodeURIComponent", "a/é b!*'();&", "a%2F%C3%A9%20b!*'()%3B%26"),
        ("encodeURI", "https://x/é?a=1&b=#f [", "https://x/%C3%A9?a=1&b=#f%20%5B"),
        ("decodeURIComponent", "a%2F%C3%A9+%20", "a/é+ "),
        ("decodeURI", "%2F%C3%A9%23", "%2Fé%23"),
        ("parseInt", " 42px", 42),
        ("parseInt", "-0x1F", -31),
        ("parseFloat", "3.50abc", 3.5),
        ("parseFloat", "-Infinity!", -math.inf),
        ("isNaN", "x", True),
        ("isFinite", "12", True),
    ],
)
def test_a_function_of_the_global_scope(name: str, given: str, expected: Any) -> None:
    import js

    assert getattr(js, name)(given) == expected


def test_digits_are_read_in_the_asked_radix() -> None:
    import js

    assert (js.parseInt("ff", 16), js.parseInt("102", 2)) == (255, 2)
    assert math.isnan(js.parseInt("9", 8))
    assert math.isnan(js.parseFloat("none"))


@pytest.mark.parametrize("text", ["%", "%e9", "%zz"])
def test_what_no_encoding_made_cannot_be_decoded(text: str) -> None:
    import js

    with pytest.raises(JsException, match="URI malformed") as caught:
        js.decodeURIComponent(text)

    assert caught.value.name == "URIError"


def test_math_rounds_half_up_and_has_no_exceptions() -> None:
    import js

    rounded = [js.Math.round(number) for number in (0.5, 1.5, 2.5, -0.5, -1.5)]

    assert rounded == [1, 2, 3, 0, -1]
    assert (js.Math.max(1, 3, 2), js.Math.min(), js.Math.abs(-2)) == (3, math.inf, 2)
    assert math.isnan(js.Math.sqrt(-1))
    assert math.isnan(js.Math.max(1, js.NaN))
    assert (js.Math.floor(1.5), js.Math.trunc(-1.5), js.Math.sign(-3)) == (1, -1, -1)
    assert js.Math.log(0) == -js.Infinity
    assert 0 <= js.Math.random() < 1
    assert math.pi == js.Math.PI
