"""structuredClone: a copy of a value, all the way down."""

from __future__ import annotations

from typing import Any

from localedge.coercion import js_string
from localedge.errors import JsException
from localedge.values import (
    BigInt,
    JsBuffer,
    JsDate,
    JsErrorValue,
    JsMap,
    JsSet,
    Undefined,
)


def structured_clone(value: Any, _options: Any = None) -> Any:
    """A copy of `value` that shares nothing with it.

    Errors: JsException, a DataCloneError, for a function or an object with methods.
    Source: html.spec.whatwg.org, structured cloning, read 2026-12-01.
    """
    return _cloned(value, {})


def _cloned(value: Any, known: dict[int, Any]) -> Any:
    if value is None or isinstance(
        value, str | int | float | BigInt | Undefined | JsDate | JsErrorValue | bytes
    ):
        return value
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, JsBuffer):
        made: Any = type(value)(bytes(value.view))
        return made
    if isinstance(value, dict):
        copy: Any = JsMap() if isinstance(value, JsMap) else {}
        known[id(value)] = copy
        copy.update((_cloned(key, known), _cloned(item, known)) for key, item in value.items())
        return copy
    if isinstance(value, list):
        items: Any = JsSet() if isinstance(value, JsSet) else []
        known[id(value)] = items
        items.extend(_cloned(item, known) for item in value)
        return items
    raise JsException(f"{js_string(value)} could not be cloned.", name="DataCloneError")
