"""JSON as JavaScript reads and writes it: JSON.parse with V8's errors, and JSON.stringify.

Source: ECMA-262 JSON.stringify; the texts as node 22 prints them (V8's message templates), read
2026-12-01.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from localedge.coercion import in_js_order, js_number_text
from localedge.errors import JsException, js_type_error
from localedge.kv.jsonerrors import complaint
from localedge.values import BigInt, JsDate, JsFunction, JsObject, JsSet, PyObject, Undefined

_INDEX_KEY: Final = re.compile(r'"(?:\d|\\u003)')
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _integer(text: str) -> float:
    # A Number: beyond 2^53 a double, and no length that Python would refuse.
    return int(text) if len(text) < 16 else float(text)


def _refuse_constant(text: str) -> float:
    raise ValueError(text)


def _object_in_js_order(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return in_js_order(dict(pairs))


_decode = json.JSONDecoder(parse_int=_integer, parse_constant=_refuse_constant).decode
_decode_ordered = json.JSONDecoder(
    parse_int=_integer, parse_constant=_refuse_constant, object_pairs_hook=_object_in_js_order
).decode


def parse(text: str) -> Any:
    """`JSON.parse(text)`. Errors: a JavaScript SyntaxError with V8's words."""
    decode = _decode_ordered if _INDEX_KEY.search(text) else _decode
    try:
        return decode(text)
    except (ValueError, RecursionError) as exc:
        stumbled_at = exc.pos if isinstance(exc, json.JSONDecodeError) else 0
        raise JsException(complaint(text, stumbled_at), name="SyntaxError") from exc


def stringify(value: Any) -> str | None:
    """`JSON.stringify(value)`; None where that is undefined.

    Errors: a JavaScript TypeError for a BigInt.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case BigInt():
            raise js_type_error("Do not know how to serialize a BigInt")
        case int() | float():
            return js_number_text(value) if math.isfinite(value) else "null"
        case JsDate():
            return _quoted(value.iso()) if math.isfinite(value.epoch_ms) else "null"
        case bytes():
            return "{" + ",".join(f'"{i}":{byte}' for i, byte in enumerate(value)) + "}"
        case JsSet():
            return "{}"
        case list():
            return "[" + ",".join(stringify(item) or "null" for item in value) + "]"
        case dict():
            return _object(value)
        case Undefined() | JsFunction():
            return None
        case PyObject() | JsObject():
            return "{}"
    return "{}"


def _object(value: dict[str, Any]) -> str:
    members = ((key, stringify(item)) for key, item in in_js_order(value).items())
    return "{" + ",".join(f"{_quoted(key)}:{text}" for key, text in members if text) + "}"


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    if text.isascii():
        return quoted
    # Well-formed JSON.stringify escapes surrogates that have no partner.
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)
