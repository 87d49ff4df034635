"""Where a fresh answer says the same as a recorded one, though not in the same words."""

from __future__ import annotations

import re
from typing import Any, Final

_SECONDS: Final = 2


def like(stored: Any, fresh: Any, now: int) -> Any:
    """`fresh` as it is recorded: where `stored` allows it, in the words of `stored`.

    Shape: what differs is as in `fresh`; `now` is the epoch second of the answer.
    """
    if isinstance(stored, dict):
        loose = _loose(stored, fresh, now)
        if loose is not None:
            return loose
        if isinstance(fresh, dict):
            return {
                key: like(stored[key], item, now) if key in stored else item
                for key, item in fresh.items()
            }
    if isinstance(stored, list) and isinstance(fresh, list):
        matched = [like(old, new, now) for old, new in zip(stored, fresh, strict=False)]
        return [*matched, *fresh[len(matched) :]]
    return fresh


def _loose(stored: dict[str, Any], fresh: Any, now: int) -> dict[str, Any] | None:
    """`stored`, if it stands for a set of values that `fresh` is one of."""
    match stored:
        case {"$any": kind}:
            if not _is_any(kind, fresh):
                return None
            return {**stored, "recorded": fresh} if "recorded" in stored else stored
        case {"$now_plus": offset_s}:
            is_near = type(fresh) is int and abs(fresh - now - offset_s) <= _SECONDS
            return stored if is_near else None
        case {"$str": length}:
            return stored if isinstance(fresh, str) and len(fresh) == length else None
    return None


def _is_any(kind: str, value: Any) -> bool:
    is_int = type(value) is int
    match kind:
        case "int":
            return is_int
        case "number":
            return is_int or (isinstance(value, dict) and "$float" in value)
        case "string":
            return isinstance(value, str)
    raise ValueError(f"unknown kind {kind!r} in a vector")


def like_error(stored: dict[str, Any], fresh: dict[str, Any]) -> dict[str, Any]:
    """The error `fresh` as it is recorded, in the words of `stored` where these allow it."""
    if (stored.get("type"), stored.get("name")) != (fresh["type"], fresh["name"]):
        return fresh
    wanted = stored.get("message")
    if wanted is None or _pattern(wanted).fullmatch(fresh["message"]):
        return stored
    return fresh


def _pattern(message: str) -> re.Pattern[str]:
    text = re.escape(message)
    text = text.replace(re.escape("<epoch>"), r"\d{10}")
    text = text.replace(re.escape("<offset>"), r"( at offset \d+)?")
    return re.compile(text, re.DOTALL)


def without_recorded(value: Any) -> Any:
    """`value` without what was seen where any value would do: that is not to be compared."""
    if isinstance(value, list):
        return [without_recorded(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: without_recorded(item) for key, item in value.items()}
    if "$any" in kept:
        kept.pop("recorded", None)
    return kept
