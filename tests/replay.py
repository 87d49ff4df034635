"""Replaying recorded answers: how vectors are written, and how an answer is compared with one."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from localedge import clock
from localedge.errors import JsException

HERE = Path(__file__).parent
VECTORS = HERE / "vectors"
DIFFERENCES = HERE.parent / "docs" / "differences.md"


def load(name: str) -> dict[str, Any]:
    """The cases of `tests/vectors/<name>.json` by name."""
    cases: dict[str, Any] = json.loads((VECTORS / f"{name}.json").read_text("utf-8"))
    return cases


def sampled(names: Iterable[str], *, every: int) -> list[Any]:
    """A parameter for each of `names`; all but one in `every` are marked as slow."""
    return [
        pytest.param(name, marks=pytest.mark.slow if number % every else ())
        for number, name in enumerate(names)
    ]


def differences(kind: str) -> frozenset[str]:
    """The cases of `kind` that docs/differences.md says we answer otherwise on purpose."""
    text = DIFFERENCES.read_text("utf-8")
    return frozenset(re.findall(rf"^\| `{kind}:([^`]+)` \|", text, re.MULTILINE))


def decode(value: Any, root: Any = None) -> Any:
    """An encoded argument as Python; `root` is the binding that `$stmt` prepares on."""
    if isinstance(value, list):
        return [decode(item, root) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$bytes": text}:
            return bytes.fromhex(text)
        case {"$bytearray": text}:
            return bytearray.fromhex(text)
        case {"$tuple": items}:
            return tuple(decode(item, root) for item in items)
        case {"$int": text}:
            return int(text)
        case {"$float": text}:
            return float(text)
        case {"$repeat": [text, times]}:
            return text * times
        case {"$now": offset_s}:
            return clock.now_s() + offset_s
        case {"$keys": [stem, count]}:
            return [f"{stem}{i}" for i in range(count)]
        case {"$stmt": [sql, *bound]}:
            statement = root.prepare(decode(sql, root))
            return statement.bind(*decode(bound, root)) if bound else statement
    return {key: decode(item, root) for key, item in value.items()}


@dataclass(frozen=True)
class Raised:
    """An answer that was an exception."""

    error: BaseException


async def perform(env: Any, call: list[Any]) -> Any:
    """The answer of a chain of calls that starts at `env`: its value, or Raised."""
    name, *links = call
    root = target = getattr(env, name)
    try:
        for method, args, kwargs in links:
            arguments = decode(args, root)
            target = getattr(target, method)(*arguments, **decode(kwargs, root))
            if inspect.isawaitable(target):
                target = await target
    except (JsException, TypeError, ValueError, OSError, AttributeError) as error:
        return Raised(error)
    return target


def mismatch(step: dict[str, Any], answer: Any) -> str | None:
    """What is wrong with `answer` to `step`, or None."""
    if "raises" in step:
        return _mismatch_error(step["raises"], answer)
    if isinstance(answer, Raised):
        return f"raised {answer.error!r} instead of returning {_short(step['returns'])}"
    if same(step["returns"], answer):
        return None
    return f"returned {_short(answer)} instead of {_short(step['returns'])}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 600 else text[:600] + "…"


def _mismatch_error(expected: dict[str, Any], answer: Any) -> str | None:
    if not isinstance(answer, Raised):
        return f"returned {_short(answer)} instead of raising {expected}"
    error = answer.error
    message = error.message if isinstance(error, JsException) else str(error)
    found = {
        "type": type(error).__name__,
        "name": error.name if isinstance(error, JsException) else None,
        "message": message,
    }
    wanted_message = expected.get("message")
    right = (
        found["type"] == expected["type"]
        and found["name"] == expected.get("name")
        and (wanted_message is None or phrase_pattern(wanted_message).fullmatch(message))
    )
    return None if right else f"raised {found} instead of {expected}"


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """A recorded text as a pattern: `<epoch>` a ten-digit second, `<offset>` ` at offset N`."""
    pattern = re.escape(phrase)
    pattern = pattern.replace(re.escape("<epoch>"), r"\d{10}")
    pattern = pattern.replace(re.escape("<offset>"), r"( at offset \d+)?")
    return re.compile(pattern, re.DOTALL)


def same(expected: Any, value: Any) -> bool:
    """Whether `value` is what was recorded, its Python types included."""
    if isinstance(expected, dict):
        return _same_tagged(expected, value)
    if isinstance(expected, list):
        return (
            type(value) is list
            and len(value) == len(expected)
            and all(same(e, v) for e, v in zip(expected, value, strict=True))
        )
    return type(value) is type(expected) and bool(value == expected)


def _same_tagged(expected: dict[str, Any], value: Any) -> bool:
    match expected:
        case {"$float": text}:
            return type(value) is float and _same_float(float(text), value)
        case {"$int": text}:
            return type(value) is int and value == int(text)
        case {"$type": "memoryview", "$bytes": text}:
            return type(value) is memoryview and bytes(value) == bytes.fromhex(text)
        case {"$type": "bytes", "$bytes": text}:
            return type(value) is bytes and value == bytes.fromhex(text)
        case {"$str": length}:
            return type(value) is str and len(value) == length
        case {"$now_plus": offset_s}:
            return type(value) is int and abs(value - clock.now_s() - offset_s) <= 2
        case {"$any": kind}:
            return _is_any(kind, value)
        case {"$type": "dict", **items}:
            return type(value) is dict and _same_items(items, value)
        case {"$type": str(kind)} if kind.startswith("binding:"):
            return type(value).__name__ == "_BindingWrapper"
    return (
        isinstance(value, dict)
        and _same_items(expected, value)
        and all(
            hasattr(dict, key) or not key.isidentifier() or getattr(value, key) is value[key]
            for key in expected
        )
    )


def _same_items(expected: dict[str, Any], value: dict[str, Any]) -> bool:
    return list(expected) == list(value) and all(same(e, value[k]) for k, e in expected.items())


def _same_float(expected: float, value: float) -> bool:
    return value == expected or (math.isnan(expected) and math.isnan(value))


def _is_any(kind: str, value: Any) -> bool:
    match kind:
        case "number":
            return type(value) in (int, float)
        case "int":
            return type(value) is int
        case "string":
            return type(value) is str
    raise ValueError(f"unknown kind {kind!r} in a vector")
