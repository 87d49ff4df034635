"""A running server: what it counts, and the trace that goes through it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.runtime.edge import Edge, edge, worker, write_project
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.processes,
    pytest.mark.xdist_group("watched-edge"),
]

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
STORES = """\
[[d1_databases]]
binding = "DB"
database_id = "d"
[[kv_namespaces]]
binding = "KV"
id = "k"
[[services]]
binding = "OTHER"
service = "other"
"""
FRONT = "from edgestate.team import trace_id\n" + worker("""
    from workers import fetch
    from urllib.parse import urlsplit
    path = urlsplit(request.url).path
    if path == "/calls":
        await self.env.DB.prepare("SELECT 1").first()
        await self.env.KV.put("a", "1")
        try:
            await self.env.DB.prepare("SELEC").first()
        except Exception:
            pass
    if path == "/raises":
        raise ValueError("no")
    if path == "/die":
        os.kill(os.getpid(), 9)
    if path == "/outside":
        answer = await fetch(request.headers.get("x-to"))
        return Response(await answer.text())
    if path == "/own":
        answer = await fetch(request.headers.get("x-to"), headers={"traceparent": "my own"})
        return Response(await answer.text())
    if path == "/service":
        answer = await self.env.OTHER.fetch("http://other/")
        return Response(await answer.text())
    if path == "/method":
        return Response.json(await self.env.OTHER.seen())
    if path == "/edgestate":
        answer = await fetch(request.headers.get("x-to"))
        begun = trace_id()
        after = await fetch(request.headers.get("x-to"))
        return Response.json([begun, await answer.text(), await after.text()])
    return Response("ok")
""")
OTHER = """\
from workers import Response, WorkerEntrypoint, fetch

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(request.headers.get("traceparent") or "none")

    async def seen(self):
        answer = await fetch(self.env.OUTSIDE)
        return await answer.text()
"""


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers with the `traceparent` that came."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    found = re.search(r"(?im)^traceparent: *(.*?)\r$", head)
    body = (found[1] if found else "none").encode()
    writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body))
    writer.write(body)
    await writer.drain()
    writer.close()


@asynccontextmanager
async def _outside() -> AsyncIterator[str]:
    server = await asyncio.start_server(_echo, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


@pytest.fixture(scope="module")
async def outside() -> AsyncIterator[str]:
    async with _outside() as url:
        yield url


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory, outside: str) -> AsyncIterator[Edge]:
    """A server of two workers that all tests of this module ask."""
    folder = tmp_path_factory.mktemp("watched")
    write_project(folder, FRONT, config=STORES)
    other = folder / "other"
    write_project(other, OTHER, config=f'[vars]\nOUTSIDE = "{outside}"')
    config = other / "wrangler_like.toml"
    config.write_text(config.read_text().replace('"tested"', '"other"'))
    async with edge(folder, "-c", "wrangler_like.toml", "-c", str(config)) as found:
        yield found


async def _metrics(running: Edge) -> dict[str, dict[tuple[str, ...], float]]:
    """Every sample, by its name and the values of its labels."""
    answer = await running.get("/cdn-cgi/localedge/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    samples: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            key = tuple(sample.labels[name] for name in sorted(sample.labels))
            samples.setdefault(sample.name, {})[key] = sample.value
    return samples


async def test_requests_are_counted_by_outcome_and_status(running: Edge) -> None:
    for path in ("/", "/", "/raises"):
        await running.get(path)

    found = await _metrics(running)

    assert found["localedge_requests_total"]["ok", "200"] >= 2
    assert found["localedge_requests_total"]["exception", "500"] == 1
    assert found["localedge_request_duration_seconds_count"]["exception",] == 1


async def test_the_buckets_of_a_duration_grow_up_to_the_count(running: Edge) -> None:
    await running.get("/")

    found = await _metrics(running)

    buckets = found["localedge_request_duration_seconds_bucket"]
    counts = [count for (bound, outcome), count in buckets.items() if outcome == "ok"]
    assert counts == sorted(counts)
    total = found["localedge_request_duration_seconds_count"]["ok",]
    assert buckets["+Inf", "ok"] == total


async def test_calls_are_counted_by_kind_and_outcome_at_once(running: Edge) -> None:
    before = (await _metrics(running)).get("localedge_binding_calls_total", {})
    await running.get("/calls")

    after = (await _metrics(running))["localedge_binding_calls_total"]

    grown = {key: after[key] - before.get(key, 0.0) for key in after}
    assert grown["d1", "ok"] == 1
    assert grown["d1", "error"] == 1
    assert grown["kv", "ok"] == 1


async def test_a_crash_and_a_kill_are_two_causes_of_a_restart(running: Edge) -> None:
    await running.wait_full()
    await running.get("/die")
    await running.wait_full()
    await running.order("kill")

    async def both() -> bool:
        found = (await _metrics(running)).get("localedge_isolate_restarts_total", {})
        return found.get(("crashed",)) == 1 and found.get(("killed",)) == 1

    assert await wait_until(both)


async def test_metrics_are_for_this_machine_under_its_own_name(running: Edge) -> None:
    for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
        answer = await running.get("/cdn-cgi/localedge/metrics", headers=headers)

        assert answer.status_code == 403


async def _asked(running: Edge, path: str, outside: str, parent: str | None) -> httpx.Response:
    headers = {"x-to": outside} | ({"traceparent": parent} if parent else {})
    return await running.get(path, headers=headers)


@pytest.mark.parametrize("path", ["/outside", "/service", "/method"])
async def test_a_trace_goes_on_to_whomever_a_worker_asks(
    running: Edge, outside: str, path: str
) -> None:
    answer = await _asked(running, path, outside, PARENT)

    said = answer.text.strip('"')
    version, trace, parent, flags = said.split("-")
    assert (version, trace, flags) == ("00", TRACE, "01")
    assert re.fullmatch("[0-9a-f]{16}", parent)
    assert parent != PARENT.split("-")[2]


@pytest.mark.parametrize("parent", [None, "00-zz-zz-00", PARENT.upper()])
@pytest.mark.parametrize("path", ["/outside", "/service", "/method"])
async def test_without_a_valid_trace_none_goes_on(
    running: Edge, outside: str, path: str, parent: str | None
) -> None:
    answer = await _asked(running, path, outside, parent)

    assert answer.text.strip('"') == "none"


async def test_a_header_of_the_workers_own_stays(running: Edge, outside: str) -> None:
    answer = await _asked(running, "/own", outside, PARENT)

    assert answer.text == "my own"


async def test_edgestate_is_in_the_trace_that_the_request_came_with(
    running: Edge, outside: str
) -> None:
    answer = await _asked(running, "/edgestate", outside, PARENT)

    begun, first, second = json.loads(answer.text)
    assert begun == TRACE
    assert first.split("-")[1] == second.split("-")[1] == TRACE


async def test_a_trace_that_edgestate_begins_goes_out_from_then_on(
    running: Edge, outside: str
) -> None:
    answer = await _asked(running, "/edgestate", outside, None)

    begun, first, second = json.loads(answer.text)
    assert first == "none"
    assert second.split("-")[1] == begun.removeprefix("trace-")
