"""`/cdn-cgi/localedge/metrics`: what was counted, in Prometheus' text form.

Source: prometheus.io/docs/instrumenting/exposition_formats, read 2026-12-01.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from localedge.supervisor.isolates import Isolate
from localedge.supervisor.supervisor import Supervisor
from localedge.tally import BOUNDS_S, Durations

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_PATIENCE_S: Final = 0.25
_PAUSE_S: Final = 0.005


async def metrics_text(supervisor: Supervisor) -> bytes:
    """All metrics of `supervisor`, those of its isolates as they are now.

    An isolate that does not answer within a quarter of a second counts as it did before.
    """
    isolates = [one for pool in supervisor.pools for one in pool.isolates()]
    await _all_told(isolates)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Measured(supervisor, isolates))
    return generate_latest(registry)


async def _all_told(isolates: list[Isolate]) -> None:
    asked = time.monotonic()
    for isolate in isolates:
        isolate.note("ping", None)
    while any(one.answered < asked and not one.is_gone for one in isolates):
        if time.monotonic() - asked > _PATIENCE_S:
            return
        await asyncio.sleep(_PAUSE_S)


class _Measured(Collector):
    """The metrics, made when somebody asks."""

    def __init__(self, supervisor: Supervisor, isolates: list[Isolate]) -> None:
        self._supervisor = supervisor
        self._isolates = isolates

    def collect(self) -> Iterator[Metric]:
        """All families."""
        measures = self._supervisor.history.measures
        yield _counted(
            "localedge_requests",
            "Requests that were answered, by outcome and HTTP status.",
            ("outcome", "status"),
            {(outcome, str(status)): n for (outcome, status), n in measures.requests.items()},
        )
        yield _histogram(
            "localedge_request_duration_seconds",
            "From a request's headers to the end of its response, by outcome.",
            ("outcome",),
            {(outcome,): taken for outcome, taken in measures.durations.items()},
        )
        calls = measures.calls(isolate.tally for isolate in self._isolates)
        by_kind: Counter[tuple[str, ...]] = Counter()
        for (kind, _, _, outcome), taken in calls.items():
            by_kind[kind, outcome] += sum(taken.counts)
        yield _counted(
            "localedge_binding_calls",
            "Calls of bindings, fetches, calls of other workers and of tools, by how they ended.",
            ("kind", "outcome"),
            by_kind,
        )
        yield _histogram(
            "localedge_binding_call_duration_seconds",
            "How long those calls took.",
            ("kind", "binding", "operation", "outcome"),
            {(*key,): taken for key, taken in calls.items()},
        )
        yield _counted(
            "localedge_isolate_restarts",
            "Isolates that ended, by cause.",
            ("cause",),
            {(cause,): count for cause, count in measures.endings.items()},
        )
        yield from self._now()

    def _now(self) -> Iterator[Metric]:
        states: Counter[str] = Counter()
        in_flight = 0
        for generation in self._supervisor.generations():
            for isolate in generation.isolates():
                states[generation.state_of(isolate)] += 1
                in_flight += len(isolate.exchanges)
        isolates = GaugeMetricFamily(
            "localedge_isolates",
            "Isolates that are loaded, by what they are for.",
            labels=["state"],
        )
        for state, count in states.items():
            isolates.add_metric([state], count)
        yield isolates
        yield GaugeMetricFamily(
            "localedge_events_in_flight", "Events that isolates are working on.", value=in_flight
        )


def _counted(
    name: str, text: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], int]
) -> Metric:
    family = CounterMetricFamily(name, text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _histogram(
    name: str, text: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], Durations]
) -> Metric:
    family = HistogramMetricFamily(name, text, labels=labels)
    bounds = [*map(str, BOUNDS_S), "+Inf"]
    for key, taken in values.items():
        buckets = list(zip(bounds, accumulate(taken.counts), strict=True))
        family.add_metric(key, buckets, taken.total_s)
    return family
