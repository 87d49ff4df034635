"""What the kernel tells of a server that does not answer."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from tests.waiting import wait_until

from localedge.kv.lifesigns import is_at_work
from localedge.supervisor import valkey

pytestmark = pytest.mark.anyio

BUSY = """
import socket, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
while True:
    pass
"""


async def test_a_server_that_computes_is_at_work_and_a_stopped_one_is_not() -> None:
    folder = valkey.socket_folder()
    path = folder.path / "s"
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", BUSY, str(path))

    at_work = await wait_until(lambda: is_at_work(str(path)))
    os.kill(server.pid, signal.SIGSTOP)
    stopped = await wait_until(lambda: is_at_work(str(path)) is False)
    server.kill()
    await server.wait()
    folder.remove()

    assert at_work is True
    assert stopped


async def test_a_server_that_sleeps_or_is_not_there_is_not_known(tmp_path: Path) -> None:
    async with valkey.running(tmp_path / "kv") as url:
        sleeping = await wait_until(lambda: is_at_work(url.removeprefix("unix://")) is None)

    assert sleeping
    assert is_at_work(str(tmp_path / "nobody")) is None
