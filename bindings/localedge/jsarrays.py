"""What an Array of the platform can do, by JavaScript's names.

Source: tc39.es/ecma262, Array.prototype, read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cmp_to_key
from typing import Any, Final

from localedge.coercion import js_number, js_string, js_truthy
from localedge.jsmembers import invoke, method
from localedge.values import UNDEFINED

Items = list[Any]


def same(one: Any, other: Any) -> bool:
    """`one === other`: numbers, texts and booleans by value, objects by identity."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float | str) and isinstance(other, int | float | str):
        return one == other
    return one is other


def _at(items: Items, index: Any = 0) -> Any:
    at = int(js_number(index))
    return items[at] if -len(items) <= at < len(items) else UNDEFINED


def _position(items: Items, given: Any, default: int) -> int:
    """Where `given` points in `items`, counted from the end when it is negative."""
    if given is UNDEFINED:
        return default
    at = int(js_number(given))
    return max(0, at + len(items)) if at < 0 else min(at, len(items))


def _first(items: Items, callback: Any, *, backwards: bool = False) -> int:
    """The index of the first item that `callback` likes; -1 when it likes none."""
    order = range(len(items))
    for at in reversed(order) if backwards else order:
        if js_truthy(invoke(callback, items[at], at, items)):
            return at
    return -1


def _found(items: Items, callback: Any, *, backwards: bool = False) -> Any:
    at = _first(items, callback, backwards=backwards)
    return UNDEFINED if at < 0 else items[at]


def _index(items: Items, value: Any, *, backwards: bool = False) -> int:
    order = range(len(items))
    for at in reversed(order) if backwards else order:
        if same(items[at], value):
            return at
    return -1


def _each(items: Items, callback: Any) -> Any:
    for at, item in enumerate(items):
        invoke(callback, item, at, items)
    return UNDEFINED


def _mapped(items: Items, callback: Any) -> Items:
    return [invoke(callback, item, at, items) for at, item in enumerate(items)]


def _filtered(items: Items, callback: Any) -> Items:
    return [i for at, i in enumerate(items) if js_truthy(invoke(callback, i, at, items))]


def _reduced(items: Items, callback: Any, *start: Any, backwards: bool = False) -> Any:
    pairs = [*enumerate(items)]
    if backwards:
        pairs.reverse()
    if not start and not pairs:
        from localedge.errors import js_type_error

        raise js_type_error("Reduce of empty array with no initial value")
    value = start[0] if start else pairs.pop(0)[1]
    for at, item in pairs:
        value = invoke(callback, value, item, at, items)
    return value


def _join(items: Items, separator: Any = UNDEFINED) -> str:
    glue = "," if separator is UNDEFINED else js_string(separator)
    return glue.join("" if i is None or i is UNDEFINED else js_string(i) for i in items)


def _push(items: Items, *values: Any) -> int:
    items.extend(values)
    return len(items)


def _unshift(items: Items, *values: Any) -> int:
    items[:0] = values
    return len(items)


def _slice(items: Items, start: Any = UNDEFINED, end: Any = UNDEFINED) -> Items:
    return items[_position(items, start, 0) : _position(items, end, len(items))]


def _splice(items: Items, start: Any, count: Any = UNDEFINED, *values: Any) -> Items:
    begin = _position(items, start, 0)
    most = len(items) - begin
    end = begin + (most if count is UNDEFINED else max(0, min(int(js_number(count)), most)))
    taken = items[begin:end]
    items[begin:end] = values
    return taken


def _fill(items: Items, value: Any, start: Any = UNDEFINED, end: Any = UNDEFINED) -> Items:
    for at in range(_position(items, start, 0), _position(items, end, len(items))):
        items[at] = value
    return items


def _concat(items: Items, *more: Any) -> Items:
    made = list(items)
    for one in more:
        made.extend(one if isinstance(one, list) else [one])
    return made


def _flat(items: Items, depth: Any = 1) -> Items:
    levels = js_number(depth)
    made: Items = []
    for item in items:
        made.extend(_flat(item, levels - 1) if isinstance(item, list) and levels >= 1 else [item])
    return made


def _sorted(items: Items, callback: Any = UNDEFINED) -> Items:
    if callback is UNDEFINED:
        return sorted(items, key=js_string)

    def compared(one: Any, other: Any) -> int:
        wanted = js_number(invoke(callback, one, other))
        return (wanted > 0) - (wanted < 0)

    return sorted(items, key=cmp_to_key(compared))


def _sort(items: Items, callback: Any = UNDEFINED) -> Items:
    items[:] = _sorted(items, callback)
    return items


_METHODS: Final[Mapping[str, Callable[..., Any]]] = {
    "at": _at,
    "concat": _concat,
    "entries": lambda items: [[at, item] for at, item in enumerate(items)],
    "every": lambda items, f: all(js_truthy(one) for one in _mapped(items, f)),
    "fill": _fill,
    "filter": _filtered,
    "find": _found,
    "findIndex": _first,
    "findLast": lambda items, f: _found(items, f, backwards=True),
    "findLastIndex": lambda items, f: _first(items, f, backwards=True),
    "flat": _flat,
    "flatMap": lambda items, f: _flat(_mapped(items, f)),
    "forEach": _each,
    "includes": lambda items, value: _index(items, value) >= 0,
    "indexOf": _index,
    "join": _join,
    "lastIndexOf": lambda items, value: _index(items, value, backwards=True),
    "map": _mapped,
    "push": _push,
    "reduce": _reduced,
    "reduceRight": lambda items, f, *start: _reduced(items, f, *start, backwards=True),
    "shift": lambda items: items.pop(0) if items else UNDEFINED,
    "slice": _slice,
    "some": lambda items, f: _first(items, f) >= 0,
    "sort": _sort,
    "splice": _splice,
    "toReversed": lambda items: items[::-1],
    "toSorted": _sorted,
    "unshift": _unshift,
}
ARRAY: Final[Mapping[str, Callable[[Any], Any]]] = {
    "length": len,
    **{name: method(name, function) for name, function in _METHODS.items()},
}
"""Members of an Array: each makes the value, or the function bound to the array."""
