"""Values on their way into D1 and out of it.

Source: reference/kv-d1-contract.md 2.2 to 2.5, read 2026-12-01.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from localedge.boundary import JsDict, number_from_js
from localedge.coercion import in_js_order, js_string
from localedge.d1.engine import Result, Row, Value
from localedge.d1.errors import type_not_supported
from localedge.values import BigInt, JsFunction, JsSet, PyObject, Undefined


def bound(value: Any) -> Value:
    """A JavaScript value as the engine gets it: every number is a REAL.

    Errors: D1_TYPE_ERROR for what D1 cannot hold.
    """
    kind = type(value)
    if kind is str or value is None:
        return value  # type: ignore[no-any-return]  # a text or None
    if kind is int or kind is float:
        number = float(value)
        return number if math.isfinite(number) else None
    match value:
        case str() | bytes():
            return value
        case BigInt():
            raise type_not_supported("bigint", js_string(value))
        case bool() | int() | float():
            number = float(value)
            return number if math.isfinite(number) else None
        case list() if not isinstance(value, JsSet) and all(map(_is_byte, value)):
            return bytes(int(number) for number in value)
        case Undefined():
            raise type_not_supported("undefined", "undefined")
        case PyObject():
            raise type_not_supported("object", "[object Object]")
        case JsFunction():
            raise type_not_supported("function", js_string(value))
    raise type_not_supported("object", js_string(value))


def _is_byte(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool | BigInt)
    return is_number and 0 <= value < 256


def _out(value: Any) -> Any:
    """A value of SQLite as worker code gets it: a BLOB is a list of ints, an infinity None."""
    kind = type(value)
    if kind is bytes:
        return list(value)
    if kind is float and math.isinf(value):
        return None
    return value if kind is str or value is None else number_from_js(value)


def rows_out(rows: list[Row]) -> list[list[Any]]:
    """`rows` as lists of what worker code gets."""
    return [[v if type(v) is str or v is None else _out(v) for v in row] for row in rows]


@lru_cache(maxsize=256)
def _places(columns: tuple[str, ...]) -> tuple[tuple[str, int], ...] | None:
    """Each property of a row's object with its column, or None when they are the same.

    Of columns with one name the last one's value stands at the first one's place, and indices
    come first.
    """
    places = in_js_order({name: place for place, name in enumerate(columns)})
    return None if tuple(places) == columns else tuple(places.items())


def objects_out(result: Result) -> list[JsDict]:
    """The rows of `result` as objects of what worker code gets."""
    columns = result.columns
    rows = rows_out(result.rows)
    places = _places(columns)
    if places is None:
        return [JsDict(zip(columns, row, strict=True)) for row in rows]
    return [JsDict([(name, row[place]) for name, place in places]) for row in rows]


def _meta(result: Result) -> JsDict:
    duration_ms = number_from_js(result.duration_ms)
    return JsDict(
        served_by="localedge.db",
        served_by_primary=True,
        total_attempts=1,
        timings=JsDict(sql_duration_ms=duration_ms),
        duration=duration_ms,
        changes=result.changes,
        last_row_id=number_from_js(result.last_row_id),
        changed_db=result.changed_db,
        size_after=result.size_after,
        rows_read=result.rows_read,
        rows_written=result.rows_written,
    )


def result_out(result: Result) -> JsDict:
    """What `all`, `run` and each part of `batch` return.

    It is made in the form that worker code gets, in one step: `from_js` leaves it as it is.
    """
    return JsDict(success=True, meta=_meta(result), results=objects_out(result))
