"""Who has the local state, and where the running server is."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from localedge.errors import Exit, OperatorError
from localedge.isolate.steps import FOLDER as TRAILS
from localedge.supervisor.folders import remove_unheld

RUN_FILE: Final = "run.json"
_TOKEN: Final = "token"
_TOKEN_BYTES: Final = 24
_DRAFT: Final = "run.json.new"
_PATIENCE_S: Final = 1.0
_PAUSE_S: Final = 0.02


class Run(BaseModel):
    """A running server, as the file `run.json` (mode 0600) names it for the command line.

    Shape: `token` is what control endpoints that change something ask for; `temporary` the private
    folder of its sockets.
    """

    model_config = ConfigDict(frozen=True)

    pid: int
    host: str
    port: int
    token: str
    kv_url: str | None
    temporary: str | None = None

    @property
    def url(self) -> str:
        """The server's own address."""
        return f"http://{self.host}:{self.port}"

    @property
    def page(self) -> str:
        """The page, with what its buttons need behind `#`, which no browser sends."""
        return f"{self.url}/cdn-cgi/localedge/#token={self.token}"


@asynccontextmanager
async def locked(state: Path) -> AsyncIterator[int]:
    """The folder `state` is ours; yields the lock's descriptor, to be shared with children.

    The lock goes with the last process that has the descriptor, however it ends.
    Errors: OperatorError (exit 4) that names the process that has it.
    """
    descriptor = _lock_file(state)
    try:
        await _take(descriptor, state)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({"pid": os.getpid()}).encode(), 0)
        _tidy(state)
        yield descriptor
    finally:
        os.close(descriptor)


def _tidy(state: Path) -> None:
    """What a server left that was killed together with its fork server is gone."""
    left = _read(state)
    if left is not None and left.temporary is not None:
        remove_unheld(Path(left.temporary))
    remove_trails(state)
    for name in (RUN_FILE, _DRAFT):
        (state / name).unlink(missing_ok=True)


def _lock_file(state: Path) -> int:
    try:
        state.mkdir(parents=True, exist_ok=True)
        return os.open(state / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise OperatorError(
            "state/unusable",
            f"the folder of local state {state} cannot be used: {exc.strerror}.",
            "Make it writable, or choose another with --persist-to.",
            exit=Exit.UNREACHABLE,
        ) from exc


async def _take(descriptor: int, state: Path) -> None:
    # A server that was just killed needs a moment until all that it started is gone.
    deadline = time.monotonic() + _PATIENCE_S
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise
            else:
                return
            await asyncio.sleep(_PAUSE_S)
    except BlockingIOError as exc:
        try:
            holder = f"process {json.loads(os.pread(descriptor, 1000, 0))['pid']}"
        except (ValueError, KeyError, TypeError):
            holder = "another process"
        raise OperatorError(
            "state/in-use",
            f"{holder} has the local state in {state}.",
            "Stop it, or give this one its own with --persist-to.",
            exit=Exit.UNREACHABLE,
        ) from exc


def kept_token(state: Path) -> str:
    """The token of the servers on `state`, made by the first: an open page outlives a restart."""
    file = state / _TOKEN
    with contextlib.suppress(FileNotFoundError):
        found = file.read_text("ascii", "replace").strip()
        if len(found) >= _TOKEN_BYTES and not file.stat().st_mode & 0o077:
            return found
        file.unlink()
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(token)
    return token


def write_run(state: Path, run: Run) -> None:
    """`run.json` says where the server is; nobody but its owner can read it."""
    draft = state / _DRAFT
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(run.model_dump_json())
    draft.replace(state / RUN_FILE)


def remove_trails(state: Path) -> None:
    """What isolates have left of their last calls is gone."""
    shutil.rmtree(state / TRAILS, ignore_errors=True)


def remove_run(state: Path) -> None:
    """`run.json` is gone."""
    with contextlib.suppress(FileNotFoundError):
        (state / RUN_FILE).unlink()


def read_run(state: Path) -> Run | None:
    """The server that has `state`, or None when none runs.

    A file that a killed server left is not believed: its lock is free.
    """
    run = _read(state)
    return run if run is not None and _is_locked(state) else None


def _read(state: Path) -> Run | None:
    try:
        return Run.model_validate_json((state / RUN_FILE).read_text("utf-8"))
    except (FileNotFoundError, ValidationError):
        return None


def _is_locked(state: Path) -> bool:
    try:
        descriptor = os.open(state / "lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
