"""Calls, outcomes and statements in a few words."""

from __future__ import annotations

import re
from typing import Any, Final

from localedge.boundary import JsProxy
from localedge.probe import Call, Outcome

_WIDE: Final = 100
_NARROW: Final = 44
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")


def call_text(call: Call, width: int = _WIDE) -> str:
    """What `call` does: its binding, method and first arguments."""
    if call.kind == "d1":
        return f"{call.binding}.{call.operation} {_cut(_sql(call), width)}"
    if call.kind == "tool":
        return f"tool {call.operation}{_cut(_list(call.arguments), width)}"
    if call.kind == "fetch":
        return f"fetch {_cut(' '.join(map(str, call.arguments)), width)}"
    return f"{call.binding}.{call.operation}{_cut(_list(call.arguments), width)}"


def _sql(call: Call) -> str:
    first = call.arguments[0] if call.arguments else None
    if call.operation == "batch" and isinstance(first, list):
        return "[" + "; ".join(_statement(one, _NARROW) for one in first) + "]"
    target = getattr(call.target, "statement", None)
    return _statement(call.target, _WIDE) if target is not None else _one_line(str(first))


def _statement(statement: Any, width: int) -> str:
    if isinstance(statement, JsProxy):
        statement = statement.js_value
    text = getattr(statement, "statement", None)
    if text is None:
        text = statement.get("statement", "") if isinstance(statement, dict) else str(statement)
    return _cut(_one_line(str(text)), width)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _list(arguments: tuple[object, ...]) -> str:
    shown = ", ".join(_one_line(repr(argument)) for argument in arguments)
    return "(" + _ADDRESS.sub("", shown) + ")"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def outcome_text(outcome: Outcome, width: int = 70) -> str:
    """How a call ended."""
    if outcome.error is not None:
        return _cut(f"raised {outcome.error}", width)
    value = outcome.value
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return _cut(", ".join(_result(one) for one in value), width)
    if isinstance(value, dict) and "meta" in value:
        return _cut(_result(value), width)
    status = getattr(value, "status", None)
    if isinstance(status, int):
        return f"status {status}"
    return _cut(_ADDRESS.sub("", _one_line(repr(value))), width)


def _result(result: dict[str, Any]) -> str:
    rows = result.get("results")
    changes = (result.get("meta") or {}).get("changes", 0)
    return f"{len(rows)} rows" if rows else f"{changes} changed"
