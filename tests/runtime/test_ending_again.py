"""Killed again and again at odd moments, under writes: nothing is left and nothing is lost."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from itertools import count, cycle
from pathlib import Path
from random import Random

import httpx
import pytest
from tests.runtime.edge import Edge, children, edge, is_running, kill, start, write_project
from tests.runtime.storing import BINDINGS, STORING, lost, valkey_of
from tests.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

WRITERS = 4


class Writing:
    """Clients that write until it is over; `kept` are the paths of acknowledged writes."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.is_over = False
        self._numbers = count()

    async def write(self, server: Edge) -> None:
        """Write new keys; a server that is gone ends it, a request without an answer fails it."""
        while not self.is_over:
            number = next(self._numbers)
            path = f"/{('kv', 'd1')[number % 2]}/key-{number}"
            try:
                answer = await server.http.put(path, timeout=10)
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                return
            if answer.status_code == 200:
                self.kept.append(path)


def kill_parent(server: Edge) -> None:
    server.process.kill()


def kill_both(server: Edge) -> None:
    kill(children(server.process.pid)[0])
    server.process.kill()


def kill_fork_server(server: Edge) -> None:
    kill(children(server.process.pid)[0])


def kill_valkey(server: Edge) -> None:
    kill(valkey_of(server.process.pid))


def terminate(server: Edge) -> None:
    server.process.terminate()


SURVIVED = (kill_fork_server, kill_valkey)
HARMS = (kill_both, *SURVIVED, kill_parent, terminate)


async def one_round(
    folder: Path, writing: Writing, harm: Callable[[Edge], None], after_s: float
) -> None:
    """A server is harmed under writes; what it does not survive leaves nothing behind."""
    async with edge(folder) as server:
        writing.is_over = False
        writers = [asyncio.ensure_future(writing.write(server)) for _ in range(WRITERS)]
        await asyncio.sleep(after_s)  # the moment of the harm is what is tested
        harm(server)
        before = len(writing.kept)
        if harm in SURVIVED:
            await wait_until(lambda: len(writing.kept) > before + WRITERS)
        else:
            async with asyncio.timeout(10):
                await server.process.wait()
        writing.is_over = True
        await asyncio.gather(*writers)
    await wait_until(lambda: not processes_of(folder))
    if harm is not kill_both:
        assert not has_folder(server)
    assert "Traceback" not in server.logged()


def has_folder(server: Edge) -> bool:
    """Whether the folder of the server's sockets is there."""
    assert server.run.temporary is not None
    return Path(server.run.temporary).exists()


def processes_of(folder: Path) -> list[int]:
    """The pids of the processes that work in `folder` or are told of it."""
    return [pid for pid in _pids() if is_running(pid) and str(folder) in _about(pid)]


def _pids() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _about(pid: int) -> str:
    try:
        told = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
        return told + os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


async def ended_again_and_again(folder: Path, rounds: int) -> None:
    """Every kind of harm in turn, at moments that a seed gives; then all that was kept is read."""
    write_project(folder, STORING, config=BINDINGS)
    moments, writing = Random(rounds), Writing()
    harms = cycle(HARMS)
    for _ in range(rounds):
        early = await start(folder)
        await asyncio.sleep(moments.random() * 0.3)  # as above, before it has said anything
        early.kill()
        await early.communicate()
        await one_round(folder, writing, next(harms), moments.random() * 0.4)
    async with edge(folder) as server:
        missing = await lost(server, writing.kept)

    assert missing == []
    assert len(writing.kept) > 10 * rounds
    assert sorted(os.listdir(folder / ".localedge")) == ["d1", "kv", "lock", "token"]


async def test_a_sample_of_sudden_ends_leaves_nothing_and_loses_nothing(tmp_path: Path) -> None:
    await ended_again_and_again(tmp_path, 3)


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_twenty_sudden_ends_leave_nothing_and_lose_nothing(tmp_path: Path) -> None:
    await ended_again_and_again(tmp_path, 20)


async def test_the_next_start_removes_the_socket_of_a_server_killed_with_its_fork_server(
    tmp_path: Path,
) -> None:
    write_project(tmp_path, STORING, config=BINDINGS)

    async with edge(tmp_path) as server:
        kill_both(server)
        await server.process.wait()
    async with edge(tmp_path) as again:
        is_left, is_there = has_folder(server), has_folder(again)

    assert not is_left
    assert is_there


@pytest.mark.parametrize("harm", SURVIVED)
async def test_ending_while_what_was_killed_comes_back_takes_no_longer(
    harm: Callable[[Edge], None], tmp_path: Path
) -> None:
    write_project(tmp_path, STORING, config=BINDINGS)

    async with edge(tmp_path) as server:
        harm(server)
        server.process.terminate()
        async with asyncio.timeout(10):
            status = await server.process.wait()

    await wait_until(lambda: not processes_of(tmp_path))
    assert status == 0
    assert not has_folder(server)
    assert "Traceback" not in server.logged()
