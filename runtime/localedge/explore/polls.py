"""Calls that a worker makes again and again while nothing changes: it waits for something."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any, Final

from localedge.explore.stores import State
from localedge.explore.trace import Trace
from localedge.jsproxy import JsProxy
from localedge.probe import Call

_NEAR_S: Final = 7 * 86_400.0
_TIME: Final = "the time"
_NEW_ID: Final = "a new id"
_ID: Final = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)


def question(call: Call, state: State) -> Hashable:
    """Equal for calls that ask the same of stores in this state.

    A time near that of `state` is any time, and an id that no store knows is any new one.
    """
    asked = (_plain(call.target), *map(_plain, call.arguments))
    return (call.kind, call.binding, call.operation, *(_common(one, state) for one in asked))


def _plain(value: Any) -> Any:
    if isinstance(value, JsProxy):
        value = value.js_value
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if hasattr(value, "statement"):
        return [value.statement, *value.params]
    return None if hasattr(value, "js_methods") else value


def _common(value: Any, state: State) -> Hashable:
    if isinstance(value, list):
        return tuple([_common(one, state) for one in value])
    if isinstance(value, int | float) and not isinstance(value, bool):
        now_s = state.wall_s
        is_time = any(abs(value - now_s * unit) < _NEAR_S * unit for unit in (1, 1000))
        return _TIME if is_time else value
    if isinstance(value, str) and _ID.fullmatch(value) and not state.mentions(value):
        return _NEW_ID
    return value if isinstance(value, str) else repr(value)


def repeated(trace: Trace) -> set[int]:
    """The points of a trace at which a worker asks what it has asked before and will ask again.

    Between them neither stores nor the outside have changed: what happens at one of them differs
    from what happens at the first and the last by the time at most.
    """
    asked: dict[Hashable, list[int]] = {}
    for point, info in sorted(trace.points.items()):
        key = (info.worker, question(info.call, info.state), info.state.timeless_key)
        asked.setdefault(key, []).append(point)
    return {point for points in asked.values() for point in points[1:-1]}
