"""The bindings of a worker that are no stores."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from typing import Any

from localedge import clock
from localedge.isolate.boot import Boot
from localedge.isolate.calls import Calls, service_binding
from localedge.isolate.hyperdrive import HyperdriveBinding
from localedge.isolate.rate_counters import Counters
from localedge.isolate.ratelimits import RateLimitBinding, Take


def attached_bindings(boot: Boot, calls: Calls | None) -> dict[str, Any]:
    """Services, assets, rate limits, hyperdrives and the version of `boot`'s project, by name."""
    attached = boot.project.attached
    values: dict[str, Any] = {
        service.binding: service_binding(service, calls) for service in attached.services
    }
    if attached.assets is not None and attached.assets.binding is not None:
        # Few workers have files; the others do not pay for the import.
        from localedge.isolate.assets import assets_binding

        values[attached.assets.binding] = assets_binding(attached.assets)
    if attached.ratelimits:
        take = _counting(calls)
        values |= {limit.binding: RateLimitBinding(limit, take) for limit in attached.ratelimits}
    values |= {drive.binding: HyperdriveBinding(drive) for drive in attached.hyperdrive}
    if attached.version_metadata is not None:
        values[attached.version_metadata] = _version(boot)
    return values


def _counting(calls: Calls | None) -> Take:
    """Counters that all isolates share, which outlive each of them; else this process's own."""
    if calls is None:
        counters = Counters()

        async def take_here(namespace_id: str, key: str, limit: float, period_s: int) -> bool:
            return counters.take(namespace_id, key, limit=limit, period_s=period_s, now=clock.now())

        return take_here

    async def take(namespace_id: str, key: str, limit: float, period_s: int) -> bool:
        return bool(await calls.ask("limit", namespace_id, key, limit, period_s))

    return take


def _version(boot: Boot) -> dict[str, str]:
    """What the platform tells of the version that runs: the same in all its isolates.

    Source: developers.cloudflare.com/workers/runtime-apis/bindings/version-metadata,
    read 2026-12-01.
    """
    since_ms = boot.since_ms or int(time.time() * 1000)
    name = f"{boot.project.file} {boot.generation} {since_ms}"
    moment = datetime.fromtimestamp(since_ms / 1000, UTC)
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
        "tag": "",
        "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S}.{since_ms % 1000:03d}Z",
    }
