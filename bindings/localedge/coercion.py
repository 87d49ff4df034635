"""JavaScript's own conversions: String(x), Number(x), Boolean(x)."""

from __future__ import annotations

import math
import re
from typing import Any

from localedge.values import (
    UNDEFINED,
    BigInt,
    JsBuffer,
    JsDate,
    JsErrorValue,
    JsFunction,
    JsMap,
    JsObject,
    JsSet,
    NativeFunction,
    PyObject,
)


def js_string(value: Any) -> str:
    """`String(value)`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int() | float():
            return js_number_text(value)
        case JsMap():
            return "[object Map]"
        case JsSet():
            return "[object Set]"
        case list():
            return ",".join(
                "" if item is None or item is UNDEFINED else js_string(item) for item in value
            )
        case bytes():
            return ",".join(str(byte) for byte in value)
        case dict():
            return "[object Object]"
        case PyObject():
            return str(value.value)
        case JsDate():
            return value.text()
        case JsErrorValue():
            return f"{value.name}: {value.message}"
        case JsFunction():
            return str(value.function)
        case NativeFunction():
            return f"function {value.name}() {{ [native code] }}"
        case JsBuffer() if value.js_class.endswith("Array"):
            return ",".join(js_number_text(item) for item in value.items)
        case JsObject() if "toString" in value.js_methods:
            return str(getattr(value, value.js_methods["toString"])())
        case JsObject():
            return f"[object {value.js_class}]"
    return repr(value)


def js_number_text(value: float) -> str:
    """A Number's text: the shortest digits, in JavaScript's notation."""
    if isinstance(value, BigInt):
        return int.__repr__(int(value))
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent_text = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent_text or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    """ECMA-262 Number::toString, radix 10: `digits`, `point` of them before the decimal point."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    exponent = point - 1
    mantissa = digits[0] + (f".{digits[1:]}" if count > 1 else "")
    return f"{mantissa}e{'+' if exponent >= 0 else '-'}{abs(exponent)}"


_DECIMAL = re.compile(r"[+-]?(Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)\Z", re.ASCII)
_RADIX = re.compile(r"0([xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)\Z")
JS_SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    chr(code) for code in range(0x2000, 0x200B)
)
"""What JavaScript's `trim()` takes away: unlike Python's `strip()`, the byte order mark too."""


def js_number(value: Any) -> float:
    """`Number(value)`; a BigInt gives its number."""
    match value:
        case None | False:
            return 0.0
        case True:
            return 1.0
        case int():
            return float(value)
        case float():
            return value
        case str():
            return _number_of_text(value.strip(JS_SPACE))
        case JsDate():
            return value.epoch_ms
        case bytes() | list() if not isinstance(value, JsSet):
            return _number_of_text(js_string(value).strip(JS_SPACE))
    return math.nan


def _number_of_text(text: str) -> float:
    if text == "":
        return 0.0
    if _RADIX.match(text):
        return float(int(text, 0))
    if not _DECIMAL.match(text):
        return math.nan
    return float(text.replace("Infinity", "inf"))


def is_index(key: str) -> bool:
    """Whether JavaScript takes `key` for an array index: objects enumerate those first."""
    return (
        key.isascii()
        and key.isdigit()
        and (key == "0" or key[0] != "0")
        and len(key) <= 10
        and int(key) < 2**32 - 1
    )


def in_js_order(properties: dict[str, Any]) -> dict[str, Any]:
    """`properties` in the order in which JavaScript enumerates them: indices first, ascending."""
    indices = [key for key in properties if is_index(key)]
    if not indices:
        return properties
    return {**{key: properties[key] for key in sorted(indices, key=int)}, **properties}


def js_truthy(value: Any) -> bool:
    """`Boolean(value)`."""
    if isinstance(value, float) and math.isnan(value):
        return False
    if value is None or value is UNDEFINED or isinstance(value, bool | int | float | str):
        return bool(value)
    return True
