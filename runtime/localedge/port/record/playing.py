"""Carries out programs of calls, and writes answers as the recorded vectors have them.

The text of this file also runs on Pyodide, as it is: it imports the standard library only.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_MAX_SAFE = 2**53 - 1


async def play(
    env: Any, calls: Sequence[list[Any]], names: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """What each of `calls` comes to, one after the other: `returns` or `raises`, and `now`.

    Shape: a call is `[binding, [method, args, kwargs], …]`; `names` maps a binding's name in it to
    the one that it has in `env`; `now` is the epoch second of the answer.
    """
    told: list[dict[str, Any]] = []
    for name, *links in calls:
        root = getattr(env, (names or {}).get(name, name))
        outcome = await _outcome(_chained(root, _filled(links, told)))
        told.append({**outcome, "now": int(time.time())})
    return told


def _filled(value: Any, told: Sequence[dict[str, Any]]) -> Any:
    """`value` with `{"$answer": [n, key]}` replaced by that member of the n-th answer, or None.

    Shape: -1 is the answer before.
    """
    if isinstance(value, list):
        return [_filled(item, told) for item in value]
    if not isinstance(value, dict):
        return value
    if "$answer" in value:
        number, key = value["$answer"]
        returned = told[number].get("returns") if -len(told) <= number < len(told) else None
        return returned.get(key) if isinstance(returned, dict) else None
    return {key: _filled(item, told) for key, item in value.items()}


async def run(code: Sequence[str], scope: dict[str, Any]) -> dict[str, Any]:
    """What `out` is after the lines of `code` ran in a coroutine, or what they raised."""
    lines = "\n".join(code).replace("\n", "\n    ")
    arguments = ", ".join(scope)
    program = f"async def case({arguments}):\n    out = None\n    {lines}\n    return out"
    defined: dict[str, Any] = {}
    exec(program, defined)
    return await _outcome(defined["case"](**scope))


async def _chained(root: Any, links: Sequence[Any]) -> Any:
    target = root
    for method, args, kwargs in links:
        arguments = decode(args, root)
        target = getattr(target, method)(*arguments, **decode(kwargs, root))
        if inspect.isawaitable(target):
            target = await target
    return target


async def _outcome(answer: Any) -> dict[str, Any]:
    try:
        return {"returns": encode(await answer)}
    except Exception as error:  # noqa: BLE001  (whatever comes out is the answer)
        return {"raises": _error(error)}


def _error(error: Exception) -> dict[str, Any]:
    kind = type(error).__name__
    if kind == "JsException":
        return {"type": kind, "name": error.name, "message": error.message}  # type: ignore[attr-defined]  # of either side's class
    return {"type": kind, "name": None, "message": str(error)}


def decode(value: Any, root: Any = None) -> Any:
    """An encoded argument as Python; `root` is the binding that `$stmt` prepares on."""
    if isinstance(value, list):
        return [decode(item, root) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, inner),) = value.items()
        if tag in _DECODERS:
            return _DECODERS[tag](inner)
        if tag == "$tuple":
            return tuple(decode(item, root) for item in inner)
        if tag == "$stmt":
            sql, *bound = decode(inner, root)
            statement = root.prepare(sql)
            return statement.bind(*bound) if bound else statement
    return {key: decode(item, root) for key, item in value.items()}


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "$bytes": bytes.fromhex,
    "$bytearray": bytearray.fromhex,
    "$int": int,
    "$float": float,
    "$repeat": lambda pair: pair[0] * pair[1],
    "$now": lambda offset_s: int(time.time()) + offset_s,
    "$keys": lambda pair: [f"{pair[0]}{i}" for i in range(pair[1])],
}


def encode(value: Any) -> Any:
    """`value` as JSON that tells its Python type."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if abs(value) <= _MAX_SAFE else {"$int": str(value)}
    if kind is float:
        return {"$float": repr(value)}
    if kind in (bytes, memoryview):
        return {"$type": kind.__name__, "$bytes": bytes(value).hex()}
    if kind in (list, tuple):
        items = [encode(item) for item in value]
        return items if kind is list else {"$tuple": items}
    if isinstance(value, dict):
        encoded = {str(key): encode(item) for key, item in value.items()}
        return {"$type": "dict", **encoded} if kind is dict else encoded
    return {"$type": kind.__name__}
