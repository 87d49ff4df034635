"""Functions and constants of JavaScript's global scope that belong to no class.

Source: ECMA-262 sections 19.2 and 21.3, read 2026-12-01.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

from localedge.coercion import js_number, js_string
from localedge.errors import JsException
from localedge.values import NativeFunction

_NAN: Final = float("nan")
_MARKS: Final = "-_.!~*'()"
_URI: Final = _MARKS + ";/?:@&=+$,#"
_ESCAPES: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+|%")
_FLOAT: Final = re.compile(r"[+-]?(?:Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def _encoded(text: Any, safe: str) -> str:
    try:
        return quote(js_string(text).encode("utf-8"), safe=safe)
    except UnicodeEncodeError as error:
        raise JsException("URI malformed", name="URIError") from error


def _decoded(text: Any, kept: str) -> str:
    def decode(found: re.Match[str]) -> str:
        try:
            if found[0] == "%":
                raise ValueError(found[0])
            plain = unquote_to_bytes(found[0]).decode("utf-8")
        except ValueError as error:
            raise JsException("URI malformed", name="URIError") from error
        return "".join(quote(one, safe="") if one in kept else one for one in plain)

    return _ESCAPES.sub(decode, js_string(text))


def _parse_int(text: Any, radix: Any = 0) -> float:
    given, base = js_string(text).strip(), _to_int(radix)
    sign = -1 if given.startswith("-") else 1
    given = given.lstrip("+-") if given[:1] in ("+", "-") else given
    if base in (0, 16) and given[:2].lower() == "0x":
        given, base = given[2:], 16
    base = base or 10
    if not 2 <= base <= 36:
        return _NAN
    digits = _DIGITS[:base]
    found = re.match(f"[{digits}]+", given.lower())
    return float(sign * int(found[0], base)) if found else _NAN


def _parse_float(text: Any) -> float:
    found = _FLOAT.match(js_string(text).strip())
    return float(found[0].replace("Infinity", "inf")) if found else _NAN


def _to_int(value: Any) -> int:
    number = js_number(value)
    return int(number) if math.isfinite(number) else 0


def _number(function: Callable[..., float]) -> Callable[..., float]:
    """`function` of numbers, NaN where it has no answer; missing arguments are NaN too."""

    def called(*arguments: Any) -> float:
        try:
            return float(function(*(js_number(one) for one in arguments)))
        except (ValueError, TypeError):
            return _NAN
        except OverflowError:
            return math.inf

    return called


def _rounded(number: float) -> float:
    return math.floor(number + 0.5) if math.isfinite(number) else number


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    return lambda number: function(number) if math.isfinite(number) else number


def _extreme(choose: Callable[..., float], otherwise: float) -> Callable[..., float]:
    def chosen(*numbers: float) -> float:
        return _NAN if any(map(math.isnan, numbers)) else choose(numbers, default=otherwise)

    return chosen


_MATH: Final[dict[str, Callable[..., float]]] = {
    **{name: getattr(math, name) for name in ("acos", "acosh", "asin", "asinh", "atan", "atan2")},
    **{name: getattr(math, name) for name in ("atanh", "cos", "cosh", "exp", "expm1", "hypot")},
    **{name: getattr(math, name) for name in ("log1p", "sin", "sinh", "sqrt", "tan", "tanh")},
    "abs": abs,
    "cbrt": lambda number: math.copysign(abs(number) ** (1 / 3), number),
    "ceil": _whole(math.ceil),
    "floor": _whole(math.floor),
    "log": lambda number: math.log(number) if number else -math.inf,
    "log10": lambda number: math.log10(number) if number else -math.inf,
    "log2": lambda number: math.log2(number) if number else -math.inf,
    "max": _extreme(max, -math.inf),
    "min": _extreme(min, math.inf),
    "pow": math.pow,
    "round": _rounded,
    "sign": lambda number: number and math.copysign(1, number),
    "trunc": _whole(math.trunc),
}
MATH: Final[dict[str, Any]] = {
    **{name: NativeFunction(name, _number(function)) for name, function in _MATH.items()},
    "random": NativeFunction("random", random.random),
    "E": math.e,
    "LN10": math.log(10),
    "LN2": math.log(2),
    "LOG10E": math.log10(math.e),
    "LOG2E": math.log2(math.e),
    "PI": math.pi,
    "SQRT1_2": math.sqrt(0.5),
    "SQRT2": math.sqrt(2),
}
FUNCTIONS: Final[dict[str, Any]] = {
    name: NativeFunction(name, function)
    for name, function in {
        "decodeURI": lambda text: _decoded(text, ";/?:@&=+$,#"),
        "decodeURIComponent": lambda text: _decoded(text, ""),
        "encodeURI": lambda text: _encoded(text, _URI),
        "encodeURIComponent": lambda text: _encoded(text, _MARKS),
        "isFinite": lambda value: math.isfinite(js_number(value)),
        "isNaN": lambda value: math.isnan(js_number(value)),
        "parseFloat": _parse_float,
        "parseInt": _parse_int,
    }.items()
}
CONSTANTS: Final[dict[str, Any]] = {"Infinity": math.inf, "NaN": _NAN, "Math": MATH}
