"""However the server ends, nothing of it is left and the next one starts."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import httpx
import pytest
from tests.runtime.edge import (
    Edge,
    children,
    edge,
    ended,
    gone,
    kill,
    start,
    worker,
    write_project,
)
from tests.waiting import wait_until

from localedge.supervisor.state import read_run

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

KV = '[[kv_namespaces]]\nbinding = "KV"\nid = "n"'
STORING = worker("""
    if request.method == "PUT":
        await self.env.KV.put("key", await request.text())
    if "block" in request.url:
        print("blocking")
        time.sleep(60)
    return Response(await self.env.KV.get("key") or "nothing")
""")


def temporary_of(server: Edge) -> Path:
    """The private folder of the server's sockets."""
    assert server.run.temporary is not None
    return Path(server.run.temporary)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_every_process_and_socket(tmp_path: Path, number: int) -> None:
    write_project(tmp_path, STORING, config=KV)

    async with edge(tmp_path) as server:
        await server.wait_full()
        started = children(server.process.pid)
        temporary = temporary_of(server)
        server.process.send_signal(number)
        async with asyncio.timeout(10):
            code = await server.process.wait()

    assert code == 0
    assert len(started) == 5
    await gone(started)
    assert not temporary.exists()
    assert not (tmp_path / ".localedge" / "run.json").exists()


async def test_a_killed_parent_leaves_nothing_even_with_a_blocked_isolate(tmp_path: Path) -> None:
    write_project(tmp_path, STORING, config=KV)

    async with edge(tmp_path) as server:
        await server.wait_full()
        temporary = temporary_of(server)
        asking = asyncio.ensure_future(server.get("/block"))
        await server.wait_log("blocking")
        started = children(server.process.pid)
        server.process.kill()
        with pytest.raises(httpx.TransportError):
            await asking

        await gone(started)

    assert len(started) == 5
    assert not temporary.exists()
    assert read_run(tmp_path / ".localedge") is None


async def test_acknowledged_writes_survive_a_killed_parent(tmp_path: Path) -> None:
    write_project(tmp_path, STORING, config=KV)

    async with edge(tmp_path) as server:
        await server.http.put("/", content="kept")
        server.process.kill()
        await server.process.wait()
    async with edge(tmp_path) as server:
        answer = await server.get("/")

    assert answer.text == "kept"


async def test_a_second_server_on_the_same_state_says_who_has_it(tmp_path: Path) -> None:
    write_project(tmp_path, STORING)

    async with edge(tmp_path) as server:
        code, said = await ended(await start(tmp_path))

    assert code == 4
    assert f"process {server.process.pid} has the local state" in said
    assert "--persist-to" in said


async def test_a_port_in_use_is_named_with_what_to_do(tmp_path: Path) -> None:
    write_project(tmp_path / "a", STORING)
    write_project(tmp_path / "b", STORING)

    async with edge(tmp_path / "a") as server:
        code, said = await ended(await start(tmp_path / "b", "--port", str(server.run.port)))

    assert code == 4
    assert f"port {server.run.port} on 127.0.0.1 is in use" in said
    assert f"--port {server.run.port + 1}" in said


async def test_valkey_that_cannot_start_ends_with_its_reason(tmp_path: Path) -> None:
    write_project(tmp_path, STORING, config=KV)
    data = tmp_path / ".localedge" / "kv" / "appendonlydir"
    data.mkdir(parents=True)
    (data / "appendonly.aof.manifest").write_text("nonsense\n", "utf-8")

    code, said = await ended(await start(tmp_path))

    assert code == 4
    assert "kv/" in said
    assert "Traceback" not in said


async def test_a_file_in_the_place_of_valkeys_folder_ends_with_its_name(tmp_path: Path) -> None:
    write_project(tmp_path, STORING, config=KV)
    (tmp_path / ".localedge").mkdir()
    (tmp_path / ".localedge" / "kv").touch()

    code, said = await ended(await start(tmp_path))

    assert code == 4
    assert f"kv/no-folder: The KV server cannot keep its data in {tmp_path}" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("port", ["-1", "65536"])
async def test_a_port_that_does_not_exist_is_a_usage_error(tmp_path: Path, port: str) -> None:
    write_project(tmp_path, STORING)

    code, said = await ended(await start(tmp_path, "--port", port))

    assert code == 2
    assert "--port" in said
    assert "Traceback" not in said


async def test_a_redis_url_without_a_server_is_named_in_the_log(tmp_path: Path) -> None:
    write_project(tmp_path, STORING, config=KV, local='redis_url = "redis://127.0.0.1:1"')

    async with edge(tmp_path) as server:
        answer = await server.get("/")
        line = await server.wait_log("kv server does not answer")

    assert "KV GET failed: 500 Internal Server Error" in answer.text
    assert "127.0.0.1:1" in line


async def test_a_missing_main_is_a_config_error(tmp_path: Path) -> None:
    write_project(tmp_path, STORING)
    (tmp_path / "src" / "entry.py").unlink()

    code, said = await ended(await start(tmp_path))

    assert code == 3
    assert "entry.py" in said
    assert "Traceback" not in said


async def test_a_killed_fork_server_is_replaced_and_acknowledged_writes_survive(
    tmp_path: Path,
) -> None:
    write_project(tmp_path, STORING, config=KV)

    async with edge(tmp_path) as server:
        await server.http.put("/", content="kept")
        started = children(server.process.pid)
        kill(started[0])
        await gone(started)
        await server.wait_full()
        answer = await server.get("/")

    assert answer.text == "kept"


async def test_a_killed_valkey_is_replaced_and_acknowledged_writes_survive(tmp_path: Path) -> None:
    write_project(tmp_path, STORING, config=KV)

    async with edge(tmp_path) as server:
        await server.http.put("/", content="kept")
        await server.wait_full()
        isolates = await server.isolates()
        server_pid, *rest = children(server.process.pid)
        (valkey,) = set(rest) - set(isolates)
        kill(valkey)
        await server.wait_log("KV server died")
        answer = await server.get("/")

    assert answer.text == "kept"
    assert valkey != server_pid


async def test_a_fork_server_that_ends_again_and_again_ends_the_server_with_its_reason(
    tmp_path: Path,
) -> None:
    write_project(tmp_path, STORING)

    async with edge(tmp_path) as server:
        killed: set[int] = set()

        def ended() -> bool:
            fork_servers = children(server.process.pid)[:1]
            for pid in set(fork_servers) - killed:
                killed.add(pid)
                kill(pid)
            return server.process.returncode is not None

        await wait_until(ended, within_s=20)

    assert server.process.returncode == 1
    assert "has ended 5 times in a row" in server.logged()
    assert "Traceback" not in server.logged()
