"""A load generator: N connections that each send the next request when the last is answered.

`python -m bench.load URL SECONDS CONNECTIONS` prints one line of JSON: requests, errors, seconds,
requests a second, latency percentiles in ms, and the generator's own CPU seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import cast
from urllib.parse import urlsplit

import httptools
import uvloop


class Connection(asyncio.Protocol):
    """One keep-alive connection."""

    def __init__(self, request: bytes, ends_at: float, latencies_s: list[float]) -> None:
        self._request = request
        self._ends_at = ends_at
        self._latencies_s = latencies_s
        self.errors = 0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not asyncio's classes, only their likes.
        self._transport = cast(asyncio.Transport, transport)
        self._send()

    def _send(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._sent_at = time.perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        now = time.perf_counter()
        self._latencies_s.append(now - self._sent_at)
        if self._parser.get_status_code() != 200:
            self.errors += 1
        if now < self._ends_at:
            asyncio.get_running_loop().call_soon(self._send)
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None:
            self.errors += 1
        if not self.done.done():
            self.done.set_result(None)


async def drive(url: str, seconds: float, connections: int) -> dict[str, float]:
    """Send requests for `url` for `seconds` over `connections` and return what was measured."""
    parts = urlsplit(url)
    request = f"GET {parts.path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode()
    loop = asyncio.get_running_loop()
    latencies_s: list[float] = []
    began, cpu = time.perf_counter(), time.process_time()
    protocols = []
    for _ in range(connections):
        _, protocol = await loop.create_connection(
            lambda: Connection(request, began + seconds, latencies_s), parts.hostname, parts.port
        )
        protocols.append(protocol)
    await asyncio.wait_for(asyncio.gather(*(p.done for p in protocols)), seconds + 10)
    took = time.perf_counter() - began
    latencies_s.sort()
    return {
        "requests": len(latencies_s),
        "errors": sum(p.errors for p in protocols),
        "seconds": round(took, 3),
        "per_second": round(len(latencies_s) / took, 1),
        "p50_ms": round(1000 * latencies_s[len(latencies_s) // 2], 3),
        "p99_ms": round(1000 * latencies_s[len(latencies_s) * 99 // 100], 3),
        "client_cpu_s": round(time.process_time() - cpu, 3),
    }


if __name__ == "__main__":
    print(json.dumps(uvloop.run(drive(sys.argv[1], float(sys.argv[2]), int(sys.argv[3])))))
