"""A worker loses its isolate: what its requests get, and that nobody else notices."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from tests.runtime.edge import LOCALEDGE, Edge, edge, kill, worker, write_project
from tests.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

PATIENT = worker("""
    if "wait" in request.url:
        print("waiting in", os.getpid())
        await asyncio.sleep(60)
    return Response(str(os.getpid()))
""")


async def test_a_request_in_a_killed_isolate_gets_a_500_that_says_so(tmp_path: Path) -> None:
    write_project(tmp_path, PATIENT)

    async with edge(tmp_path) as server:
        asking = asyncio.ensure_future(server.get("/wait"))
        line = await server.wait_log("waiting in")
        pid = int(line.rpartition(" ")[2])
        kill(pid)
        answer = await asking

    assert answer.status_code == 500
    assert answer.headers["x-localedge-outcome"] == "internalError"
    assert answer.headers["x-localedge-isolate"] == str(pid)
    assert f"pid {pid}" in answer.text


async def test_the_next_request_is_served_while_one_is_killed(tmp_path: Path) -> None:
    write_project(tmp_path, PATIENT)

    async with edge(tmp_path) as server:
        before = await server.wait_full()
        asking = asyncio.ensure_future(server.get("/wait"))
        line = await server.wait_log("waiting in")
        killed = int(line.rpartition(" ")[2])
        kill(killed)
        await asking
        answers = [int((await server.get("/")).text) for _ in range(4)]
        after = await server.wait_full()

    assert len(set(answers)) == 2
    assert set(answers) <= set(before) - {killed}
    assert set(before) - {killed} < set(after)


async def test_the_status_says_which_isolates_serve_and_which_one_stands_by(tmp_path: Path) -> None:
    write_project(tmp_path, PATIENT)

    async with edge(tmp_path) as server:
        await server.wait_full()
        before = {one["pid"]: one["state"] for one in (await server.status())["isolates"]}
        (standby,) = [pid for pid, state in before.items() if state == "standby"]
        kill(next(pid for pid, state in before.items() if state == "serving"))
        await wait_until(lambda: _serves(server, standby))

    assert sorted(before.values()) == ["serving", "serving", "standby"]


async def test_requests_are_spread_over_two_isolates(tmp_path: Path) -> None:
    write_project(tmp_path, PATIENT)

    async with edge(tmp_path) as server:
        await server.wait_full()
        answers = [(await server.get("/")).text for _ in range(6)]

    assert len(set(answers)) == 2
    assert answers.count(answers[0]) == 3


async def test_the_kill_endpoint_and_command_kill_the_named_isolate_or_the_busiest(
    tmp_path: Path,
) -> None:
    write_project(tmp_path, PATIENT)

    async with edge(tmp_path) as server:
        first, *_ = await server.wait_full()
        answer = await server.order("kill", pid=first)
        await wait_until(lambda: _without(server.http, first))
        second, *_ = await server.wait_full()
        named = await command(server, "kill", str(second))
        asking = asyncio.ensure_future(server.get("/wait"))
        line = await server.wait_log("waiting in")
        busiest = await command(server, "kill", "--json")
        lost = await asking
        nobody = await command(server, "kill", "1")

    assert answer.json() == {"killed": first}
    assert named == (0, f"Killed isolate {second}.\n")
    assert busiest == (0, f'{{"killed": {line.rpartition(" ")[2]}}}\n')
    assert lost.headers["x-localedge-outcome"] == "internalError"
    assert nobody == (1, "")


async def command(server: Edge, *words: str) -> tuple[int, str]:
    """The exit code and stdout of `localedge`, run in the server's project."""
    process = await asyncio.create_subprocess_exec(
        LOCALEDGE,
        *words,
        cwd=server.folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    async with asyncio.timeout(20):
        said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


async def _serves(server: Edge, pid: int) -> bool:
    isolates = (await server.status())["isolates"]
    return {"serving"} == {one["state"] for one in isolates if one["pid"] == pid}


async def _without(http: httpx.AsyncClient, pid: int) -> bool:
    status = (await http.get("/cdn-cgi/localedge/status")).json()["workers"][0]
    return pid not in [isolate["pid"] for isolate in status["isolates"]]


async def test_a_request_that_outlasts_the_server_is_cut_without_a_traceback(
    tmp_path: Path,
) -> None:
    write_project(tmp_path, PATIENT)

    async with edge(tmp_path) as server:
        asking = asyncio.ensure_future(server.get("/wait"))
        await server.wait_log("waiting in")
        server.process.terminate()
        with pytest.raises(httpx.TransportError):
            await asking

    assert "Stopped." in server.logged()
    assert "Traceback" not in server.logged()
