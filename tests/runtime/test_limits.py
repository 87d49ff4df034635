"""An isolate that uses more than it may is killed, with the platform's word for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.runtime.edge import edge, worker, write_project

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

GREEDY = worker("""
    if "cpu" in request.url:
        while True:
            pass
    if "wall" in request.url:
        time.sleep(60)
    if "memory" in request.url:
        kept = b"x" * 300_000_000
        await asyncio.sleep(60)
    if "awaits" in request.url:
        await asyncio.sleep(0.8)
    return Response(str(os.getpid()))
""")


@pytest.mark.parametrize(
    ("path", "config", "local", "outcome"),
    [
        ("/cpu", "limits = { cpu_ms = 200 }", "loop_block_s = 20", "exceededCpu"),
        ("/wall", "", "loop_block_s = 0.3", "exceededWallTime"),
        ("/memory", "", "memory_mb = 64", "exceededMemory"),
    ],
)
async def test_a_greedy_request_ends_with_its_outcome_and_the_others_are_served(
    tmp_path: Path, path: str, config: str, local: str, outcome: str
) -> None:
    write_project(tmp_path, GREEDY, config=config, local=local)

    async with edge(tmp_path) as server:
        await server.wait_full()
        greedy = asyncio.ensure_future(server.get(path))
        others = [await server.get("/") for _ in range(6)]
        answer = await greedy
        after = await server.get("/")

    assert answer.status_code == 500
    assert answer.headers["x-localedge-outcome"] == outcome
    assert [other.status_code for other in others] == [200] * 6
    assert after.status_code == 200
    assert after.text != answer.headers["x-localedge-isolate"]


async def test_waiting_is_neither_cpu_time_nor_a_blocked_loop(tmp_path: Path) -> None:
    write_project(tmp_path, GREEDY, config="limits = { cpu_ms = 200 }", local="loop_block_s = 0.3")

    async with edge(tmp_path) as server:
        answer = await server.get("/awaits")

    assert answer.status_code == 200


async def test_a_worker_that_blocks_while_it_loads_is_given_up(tmp_path: Path) -> None:
    write_project(tmp_path, f"import time\ntime.sleep(60)\n{GREEDY}", local="loop_block_s = 0.3")

    async with edge(tmp_path) as server:
        answer = await server.get("/")

    assert answer.status_code == 500
    assert "did not finish loading within 0.3 s" in answer.text
