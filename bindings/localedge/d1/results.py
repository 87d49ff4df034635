"""Values on their way into D1 and out of it.

Source: reference/kv-d1-contract.md 2.2 to 2.5, read 2026-12-01.
"""

from __future__ import annotations

import math
from typing import Any

from localedge.coercion import js_string
from localedge.d1.engine import Result, Row, Value
from localedge.d1.errors import type_not_supported
from localedge.values import BigInt, JsFunction, JsSet, Undefined

JsRow = list[Any]


def bound(value: Any) -> Value:
    """A JavaScript value as the engine gets it: every number is a REAL.

    Errors: D1_TYPE_ERROR for what D1 cannot hold.
    """
    match value:
        case None | str() | bytes():
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
        case JsFunction():
            raise type_not_supported("function", js_string(value))
    raise type_not_supported("object", js_string(value))


def _is_byte(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool | BigInt)
    return is_number and 0 <= value < 256


def js_rows(rows: list[Row]) -> list[JsRow]:
    """`rows` as JavaScript arrays: a BLOB is a list of numbers, an infinity null."""
    kinds = {type(value) for row in rows for value in row}
    if bytes in kinds or float in kinds:
        return [[_js_value(value) for value in row] for row in rows]
    return [list(row) for row in rows]


def _js_value(value: Value) -> Any:
    if type(value) is bytes:
        return list(value)
    if type(value) is float and math.isinf(value):
        return None
    return value


def js_objects(result: Result) -> list[dict[str, Any]]:
    """The rows as objects; of columns with one name the last value stands at the first place."""
    columns = result.columns
    return [dict(zip(columns, row, strict=True)) for row in js_rows(result.rows)]


def js_meta(result: Result) -> dict[str, Any]:
    """The `meta` of one result."""
    return {
        "served_by": "localedge.db",
        "served_by_primary": True,
        "total_attempts": 1,
        "timings": {"sql_duration_ms": result.duration_ms},
        "duration": result.duration_ms,
        "changes": result.changes,
        "last_row_id": result.last_row_id,
        "changed_db": result.changed_db,
        "size_after": result.size_after,
        "rows_read": result.rows_read,
        "rows_written": result.rows_written,
    }


def js_result(result: Result) -> dict[str, Any]:
    """What `all`, `run` and each part of `batch` return."""
    return {"success": True, "meta": js_meta(result), "results": js_objects(result)}
