"""What one event may ask of KV and D1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from localedge.errors import JsException
from localedge.isolate.ownership import EVENT
from localedge.probe import Call, Outcome

# Source: kv-d1-contract 1.11 and 2.13 (1,000 operations, 1,000 queries an invocation); measured by
# others on deployed workers in October 2026: the 1,001st call fails with this text, a batch is one
# call however many statements it holds. Read 2026-12-01.
LIMITS: Final[Mapping[str, int]] = {"kv": 1000, "d1": 1000}
TOO_MANY: Final = (
    "Too many API requests by single Worker invocation. To configure this limit, refer to "
    "https://developers.cloudflare.com/workers/wrangler/configuration/#limits"
)


class CallLimits:
    """Refuses the calls of an event beyond `LIMITS`; what `waitUntil` goes on with counts too.

    Shape: `kinds` of bindings are limited, others not.
    """

    def __init__(self, kinds: Iterable[str]) -> None:
        self._limits = {kind: LIMITS[kind] for kind in kinds}

    async def before(self, call: Call) -> None:
        """Count `call`. Errors: JsException when it is one too many."""
        event = EVENT.get()
        most = self._limits.get(call.kind)
        if event is None or most is None:
            return
        count = event.calls[call.kind] = event.calls.get(call.kind, 0) + 1
        if count > most:
            raise _refusal(call.kind)

    async def after(self, call: Call, outcome: Outcome) -> None:
        """Nothing is left to do."""


def _refusal(kind: str) -> JsException:
    plain = JsException(TOO_MANY)
    return JsException(f"D1_ERROR: {TOO_MANY}", cause=plain) if kind == "d1" else plain
