"""What the probe costs a call while nobody looks: `python -m bench.probe`.

Two numbers, each the best of many rounds in one thread: what a call of an empty method through a
binding takes with all that belongs to it, and the part of that which is there for those who may
look: the look for observers, two readings of the clock, and the counting.
"""

from __future__ import annotations

import asyncio
import time
from time import perf_counter
from typing import ClassVar, Final

from localedge.binding import JsBinding
from localedge.probe import Probe

_CALLS: Final = 20_000
_ROUNDS: Final = 15


class _Empty(JsBinding):
    """A binding whose one method does nothing."""

    js_class = "Empty"
    kind = "kv"
    goes_on_by_itself = True
    js_methods: ClassVar = {"get": "get"}

    async def get(self) -> None:
        """Nothing."""


async def _calls_ns() -> float:
    env = _Empty().wrapped("KV", Probe())
    began = time.perf_counter_ns()
    for _ in range(_CALLS):
        await env.get()
    return (time.perf_counter_ns() - began) / _CALLS


def _probe_ns() -> float:
    probe = Probe()
    began = time.perf_counter_ns()
    for _ in range(_CALLS):
        if not probe.observers:
            call_began = perf_counter()
            probe.tally.ended("kv", "KV", "get", call_began)
    return (time.perf_counter_ns() - began) / _CALLS


def measured_ns() -> tuple[float, float]:
    """A whole call, and the probe's part in it. Units: nanoseconds."""
    whole = min(asyncio.run(_calls_ns()) for _ in range(_ROUNDS))
    return whole, min(_probe_ns() for _ in range(_ROUNDS))


def main() -> None:
    """Print both numbers."""
    whole, probe = measured_ns()
    print(f"A call of an empty method through a binding takes {whole:,.0f} ns.")
    print(f"With nobody looking, the probe is {probe:,.0f} ns of it.")


if __name__ == "__main__":
    main()
