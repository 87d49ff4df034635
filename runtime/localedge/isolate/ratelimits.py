"""`ratelimits`: how often something may happen, by key.

Source: developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit and workers-sdk
packages/miniflare/src/workers/ratelimit/ratelimit.worker.ts, read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final

from localedge.binding import JsBinding
from localedge.coercion import js_string
from localedge.errors import JsException
from localedge.project.attached import RateLimit
from localedge.values import UNDEFINED, JsMap

PERIODS_S: Final = (10, 60)
_OPTIONS: Final = ("key", "limit", "period")


Take = Callable[[str, str, float, int], Awaitable[bool]]
"""Counts (namespace id, key, limit, period in s) and says whether that was within the limit."""


class RateLimitBinding(JsBinding):
    """`env.LIMITER`: `await env.LIMITER.limit(key="…")` is `{"success": bool}`."""

    js_class = "Ratelimit"
    kind = "ratelimit"
    js_methods: ClassVar[Mapping[str, str]] = {"limit": "limit"}

    def __init__(self, settings: RateLimit, take: Take) -> None:
        self._settings = settings
        self._take = take

    async def limit(self, options: Any = UNDEFINED) -> dict[str, bool]:
        """Whether one more call with this key is within the limit.

        Errors: JsException for options that are none.
        """
        if not isinstance(options, dict):
            raise JsException("invalid rate limit options")
        given: dict[str, Any] = {} if isinstance(options, JsMap) else options
        unknown = [name for name in given if name not in _OPTIONS]
        if unknown:
            raise JsException(f"bad rate limit options: [{','.join(unknown)}]")
        key = given.get("key", "")
        limit = given.get("limit", self._settings.limit)
        period = given.get("period", self._settings.period_s)
        _check(isinstance(key, str), f"invalid key: {js_string(key)}")
        _check(_is_number(limit), f"limit must be a number: {js_string(limit)}")
        _check(_is_number(period), f"period must be a number: {js_string(period)}")
        _check(period in PERIODS_S, f"unsupported period: {js_string(period)}")
        is_within = await self._take(self._settings.namespace_id, key, limit, int(period))
        return {"success": is_within}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise JsException(message)
