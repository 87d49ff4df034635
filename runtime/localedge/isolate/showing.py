"""Values on their way past the probe, as a text that a person can read: cut, and masked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from localedge.d1.database import D1PreparedStatement
from localedge.isolate.secrets import Mask
from localedge.isolate.texts import CUT, MOST_CHARACTERS, cut
from localedge.values import JsBuffer, JsDate, JsFunction, JsObject, PyObject, Undefined

_MOST_ITEMS: Final = 20
_MOST_DEPTH: Final = 5
_MOST_BYTES: Final = 48
_MASKED_WHOLE: Final = 1_000_000


def shown(value: object, mask: Mask, most: int = MOST_CHARACTERS) -> str:
    """`value` as JSON where it can be, at most `most` characters, without secrets.

    Shape: a text is in quotes; bytes are their size and their first ones in hex; what was left
    out is an ellipsis.
    """
    if isinstance(value, str):
        return cut(mask(json.dumps(value[:_MASKED_WHOLE], ensure_ascii=False)), most)
    return cut(mask(json.dumps(_plain(value, 0), ensure_ascii=False)), most)


def _plain(value: Any, depth: int) -> Any:
    """`value` with what JSON has only, and not more of it than anybody reads."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        # Whole up to a size beyond what is shown: a secret that is cut in two is not masked.
        return value[:_MASKED_WHOLE]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes | bytearray | memoryview | JsBuffer):
        return _bytes(bytes(value.view if isinstance(value, JsBuffer) else value))
    if depth >= _MOST_DEPTH:
        return CUT
    if isinstance(value, D1PreparedStatement):
        return {"sql": value.statement, "params": _plain(value.params, depth + 1)}
    if isinstance(value, Mapping):
        return _mapping(value, depth)
    if isinstance(value, Sequence | set | frozenset):
        return _sequence(list(value), depth)
    return _named(value)


def _mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    some = list(value.items())[:_MOST_ITEMS]
    plain = {str(name): _plain(item, depth + 1) for name, item in some}
    if len(value) > len(some):
        plain[CUT] = f"{len(value) - len(some):,} more"
    return plain


def _sequence(value: list[Any], depth: int) -> list[Any]:
    plain = [_plain(item, depth + 1) for item in value[:_MOST_ITEMS]]
    if len(value) > len(plain):
        plain.append(f"{CUT} {len(value) - len(plain):,} more")
    return plain


def _bytes(value: bytes) -> str:
    rest = CUT if len(value) > _MOST_BYTES else ""
    return f"{len(value):,} bytes: {value[:_MOST_BYTES].hex(' ')}{rest}"


def _named(value: object) -> str:
    match value:
        case Undefined():
            return "undefined"
        case JsDate():
            return value.text()
        case JsFunction() | PyObject():
            return f"[{type(value).__name__}]"
        case JsObject():
            return _platform_object(value)
    return repr(value)[:_MASKED_WHOLE]


def _platform_object(value: JsObject) -> str:
    status, url = getattr(value, "status", None), getattr(value, "url", None)
    known = " ".join(str(one) for one in (status, url) if one)
    return f"[{value.js_class}{' ' if known else ''}{known}]"
